//! Contracts for functions whose parameters the C text alone does not explain. A model proposes one before anything
//! is ported, and C tests it. A contract that fails the test leaves nothing behind; one that passes is the
//! analyzer's until a person approves it. `contract::proposal` defines what a model may propose.

use super::prompt::Question;
use super::proposals::{Answer, Inquiry, Opened, Proposal, Tried, Turn, gist, never};
use super::sources::context_without_contract;
use crate::c::call_sites::call_sites;
use crate::contract::facts::FactTable;
use crate::contract::file;
use crate::contract::proposal::Frame;
use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::llm::model_session::rank_of;
use crate::llm::{Blocks, Reply};
use crate::platform::workspace::Trial;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::{SymbolKey, SymbolName};
use std::collections::BTreeSet;

/// The functions whose contracts a model can be asked for: only the parameters are missing, the configuration does
/// not skip the function, and no model has declared a contract impossible.
pub fn open(project: &Project, store: &Store, wanted: &[&FunctionPlan]) -> Result<BTreeSet<SymbolKey>> {
    let is_left_out = |planned: &FunctionPlan| {
        project.config.symbols.get(planned.function.name.as_str()).is_some_and(|own| own.skip)
    };
    // Where a fuzz target is missing, a contract does not help.
    let lacking = |planned: &&FunctionPlan| {
        planned.judgeable.contract().is_none() && planned.target.is_none() && !is_left_out(planned)
    };
    let lacking: Vec<&FunctionPlan> = wanted.iter().copied().filter(lacking).collect();
    if lacking.is_empty() || !project.config.asks_models() {
        return Ok(BTreeSet::new());
    }
    let facts = FactTable::build(&project.library);
    let known = store.memory()?;
    let is_open = |planned: &&&FunctionPlan| {
        let key = never::<Roles>(planned);
        !known.iter().any(|row| row.item.lesson.key == key)
            && Frame::of(&project.library, &facts, &planned.function).is_ok()
    };
    Ok(lacking.iter().filter(is_open).map(|planned| planned.function.key.clone()).collect())
}

/// The roles of a function's parameters; the prompt has all that the C text says.
pub(super) struct Roles;

impl Proposal for Roles {
    const ROLE: &'static str = "analyzer";
    const NOUN: &'static str = "contract";
    const PURPOSE: &'static str = "says how to call";

    fn ask(
        inquiry: &mut Inquiry,
        (project, store): &mut Opened,
        name: &SymbolName,
        turn: &Turn,
    ) -> Result<std::result::Result<Reply, String>> {
        let planned = project.find(name.as_str())?;
        let Judgeable::NotYet(why) = &planned.judgeable else {
            return Ok(Err("it has a contract now".into()));
        };
        let context = context_without_contract(project, planned)?;
        let sites = call_sites(&project.library, &planned.function);
        let question = Question::Analyze { why, sites: &sites };
        inquiry.ask(store, (planned, &context), &question, (turn.attempt, turn.problem))
    }

    fn read(reply: &Reply) -> Answer {
        match Blocks::parse(&reply.text, &[]) {
            Ok(Blocks { contract: Some(text), .. }) => Answer::Text(text),
            Ok(Blocks { notes: Some(notes), .. }) => Answer::Never(gist(&notes)),
            Ok(_) => Answer::Unusable("The reply has neither a contract nor notes.".into()),
            Err(problem) => Answer::Unusable(problem.to_string()),
        }
    }

    fn try_out(
        inquiry: &mut Inquiry,
        opened: Opened,
        name: &SymbolName,
        (attempt, text): (u32, &str),
    ) -> Result<Tried<String>> {
        let (project, model) = (&opened.0, inquiry.models.name(Self::ROLE, rank_of(attempt)));
        let facts = FactTable::build(&project.library);
        let function = &project.find(name.as_str())?.function;
        let frame = Frame::of(&project.library, &facts, function);
        let contract = match frame.and_then(|frame| frame.filled(function, text, &model)) {
            Ok(contract) => contract,
            Err(why) => return Ok((opened, Err(why))),
        };
        let trial = Trial { path: project.contract_path(name.as_str()), text: file::proposed(&contract) };
        let on_trial = (name, "try-contract", &trial);
        let (opened, tried) = inquiry.try_out(opened, on_trial, |inquiry, mut opened| {
            let short = match inquiry.measured(&mut opened, name)? {
                Ok(adequacy) => adequacy.shortcomings(&opened.0.config.grade).join("; "),
                Err(why) => why,
            };
            Ok(if short.is_empty() { Ok(opened) } else { Err(short) })
        })?;
        let tried = tried.map_err(|why| format!("C does not confirm it: {why}"));
        Ok((opened, tried.map(|()| format!("a contract that C confirms, by {model}"))))
    }
}
