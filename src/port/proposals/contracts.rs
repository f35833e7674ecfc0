//! Contracts for functions whose parameters the C text alone does not explain. A model proposes one before anything
//! is ported, and C tests it. A contract that fails the test leaves nothing behind; one that passes is the
//! analyzer's until a person approves it. `contract::proposal` defines what a model may propose.

use crate::contract::file;
use crate::contract::proposal::Frame;
use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::judge::Judge;
use crate::judge::mutation_score::Adequacy;
use crate::llm::{Blocks, Reply};
use crate::platform::workspace::Trial;
use crate::port::prompt::Question;
use crate::port::prompt::sources::Facts;
use crate::port::proposals::{Answer, Proposal, gist, never};
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolKey;
use std::collections::BTreeSet;

/// The functions whose contracts a model can be asked for: only the parameters are missing, the configuration does
/// not skip the function, and no model has declared a contract impossible.
pub fn open(project: &Project, store: &Store, wanted: &[&FunctionPlan]) -> Result<BTreeSet<SymbolKey>> {
    // Where a fuzz target is missing, a contract does not help.
    let lacking = |planned: &&FunctionPlan| {
        planned.judgeable.contract().is_none() && planned.target.is_none() && !project.is_skipped(planned)
    };
    let lacking: Vec<&FunctionPlan> = wanted.iter().copied().filter(lacking).collect();
    if lacking.is_empty() || !project.config.asks_models() {
        return Ok(BTreeSet::new());
    }
    let facts = project.facts();
    let known = store.memory()?;
    let is_open = |planned: &&&FunctionPlan| {
        let key = never::<Roles>(planned);
        !known.iter().any(|row| row.item.lesson.key == key)
            && Frame::of(&project.library, &facts, &planned.function).is_ok()
    };
    Ok(lacking.iter().filter(is_open).map(|planned| planned.function.key.clone()).collect())
}

/// The roles of a function's parameters; the prompt has all that the C text says.
pub struct Roles;

impl Proposal for Roles {
    const ROLE: &'static str = "analyzer";
    const NOUN: &'static str = "contract";
    const PURPOSE: &'static str = "says how to call";
    const TRIAL: &'static str = "try-contract";
    const REFUSED: &'static str = "C does not confirm it: ";
    const KEPT: &'static str = "a contract that C confirms,";

    fn question<'q>(
        planned: &'q FunctionPlan,
        facts: &'q Facts,
        candidate: Option<&'q str>,
    ) -> std::result::Result<Question<'q>, String> {
        match &planned.judgeable {
            Judgeable::NotYet(why) => Ok(Question::Analyze { why, sites: &facts.sites, candidate }),
            Judgeable::Yes(_) => Err("it has a contract now".into()),
        }
    }

    fn read(reply: &Reply) -> Answer {
        match Blocks::parse(&reply.text, &[]) {
            Ok(Blocks { contract: Some(text), .. }) => Answer::Text(text),
            Ok(Blocks { notes: Some(notes), .. }) => Answer::Never(gist(&notes)),
            Ok(_) => Answer::Unusable("The reply has neither a contract nor notes.".into()),
            Err(problem) => Answer::Unusable(problem.to_string()),
        }
    }

    fn file(
        project: &Project,
        planned: &FunctionPlan,
        model: &str,
        text: &str,
    ) -> Result<std::result::Result<Trial, String>> {
        let function = &planned.function;
        let frame = Frame::of(&project.library, &project.facts(), function);
        let contract = frame.and_then(|frame| frame.filled(function, text, model));
        let path = project.contract_path(function.name.as_str());
        Ok(contract.map(|contract| Trial { path, text: file::proposed(&contract) }))
    }

    fn shortcomings(judge: &Judge, _: &FunctionPlan, adequacy: &Adequacy) -> Result<String> {
        Ok(adequacy.shortcomings(&judge.project.config.grade).join("; "))
    }
}
