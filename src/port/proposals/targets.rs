//! Fuzz targets that a model writes before the port is asked for: for every function in the workflow `three-step`,
//! otherwise for functions that a person names (`harness = "model"`). A target is a tentative file like a contract:
//! it stays only if C never differs from itself and enough mutants are killed.

use crate::config::Workflow;
use crate::contract::target::contract;
use crate::contract::types::Harness;
use crate::error::Result;
use crate::fuzz::held_back::HeldBack;
use crate::judge::Judge;
use crate::judge::mutation_score::{Adequacy, Fate};
use crate::llm::{Blocks, Label, Reply};
use crate::platform::workspace::Trial;
use crate::port::prompt::Question;
use crate::port::prompt::sources::Facts;
use crate::port::proposals::{Answer, Proposal, gist, never};
use crate::project::fuzz_target;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolKey;
use std::collections::BTreeMap;

/// Largest number of surviving mutants in a prompt.
const TOLD: usize = 8;

/// Functions that should have a fuzz target but have none, with a reason where no model is asked any more.
///
/// # Errors
/// Those of reading the store.
pub fn wanted(
    project: &Project,
    store: &Store,
    wanted: &[&FunctionPlan],
) -> Result<BTreeMap<SymbolKey, Option<String>>> {
    let by_workflow = project.config.port.workflow == Workflow::ThreeStep;
    let lacks = |planned: &&&FunctionPlan| {
        planned.target.is_none() && (planned.wants_target || by_workflow) && !project.is_skipped(planned)
    };
    let lacking: Vec<&FunctionPlan> = wanted.iter().filter(lacks).copied().collect();
    let mut all = BTreeMap::new();
    if lacking.is_empty() {
        return Ok(all);
    }
    let facts = project.facts();
    let known = store.memory()?;
    for planned in lacking {
        let function = &planned.function;
        let given_up = known.iter().find(|row| row.item.lesson.key == never::<Target>(planned));
        let why = match contract(&project.library, &facts, (function, &planned.judgeable), Harness::Model) {
            Err(why) if planned.wants_target => Some(format!("no fuzz target can judge it: {why}")),
            // If only the workflow wants a target, the existing harness stays.
            Err(_) => continue,
            Ok(_) if !project.config.asks_models() && planned.wants_target => Some(
                "no fuzz target can judge it: `candidates` names no model that could write one".to_owned(),
            ),
            Ok(_) if !project.config.asks_models() => continue,
            Ok(_) => given_up.map(|row| row.item.lesson.text.clone()),
        };
        all.insert(function.key.clone(), why);
    }
    Ok(all)
}

/// The fuzz target of a function.
pub struct Target;

impl Proposal for Target {
    const ROLE: &'static str = "target-writer";
    const NOUN: &'static str = "fuzz target";
    const PURPOSE: &'static str = "calls";
    const TRIAL: &'static str = "try-fuzz-target";
    const REFUSED: &'static str = "";
    const KEPT: &'static str = "a fuzz target";

    fn question<'q>(
        _: &'q FunctionPlan,
        facts: &'q Facts,
        last: Option<&'q str>,
    ) -> std::result::Result<Question<'q>, String> {
        Ok(Question::Target { calls: &facts.calls, sites: &facts.sites, candidate: last })
    }

    fn read(reply: &Reply) -> Answer {
        match Blocks::parse(&reply.text, &[Label::FuzzTarget]) {
            Ok(Blocks { fuzz_target: Some(text), .. }) => Answer::Text(text),
            Ok(_) => Answer::Unusable("The reply has no fuzz target.".into()),
            Err(problem) => match Blocks::parse(&reply.text, &[]) {
                Ok(Blocks { notes: Some(notes), .. }) => Answer::Never(gist(&notes)),
                _ => Answer::Unusable(problem.to_string()),
            },
        }
    }

    /// A target that the audit rejects is not built.
    fn file(
        project: &Project,
        planned: &FunctionPlan,
        model: &str,
        text: &str,
    ) -> Result<std::result::Result<Trial, String>> {
        let name = planned.function.name.as_str();
        let text = fuzz_target::proposed(name, model, text);
        let refused = fuzz_target::problems(&text, &project.ffi_names()?);
        let lines = refused.iter().map(|(line, why)| {
            let excerpt = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
            format!("`{excerpt}`: {why}")
        });
        let lines: Vec<String> = lines.collect();
        Ok(match lines.is_empty() {
            true => Ok(Trial { path: project.target_path(name), text }),
            false => Err(format!("the audit rejects it: {}", lines.join("\n"))),
        })
    }

    fn shortcomings(judge: &Judge, planned: &FunctionPlan, adequacy: &Adequacy) -> Result<String> {
        let short = adequacy.shortcomings(&judge.project.config.grade);
        if short.is_empty() {
            return Ok(String::new());
        }
        Ok(format!("{}{}", short.join("; "), survivors(adequacy, &judge.held_back(planned)?)))
    }
}

/// Surviving mutants of C for the next prompt, without held-back ones, so that no target is fitted to the measure.
fn survivors(adequacy: &Adequacy, hidden: &HeldBack) -> String {
    let survived = |fate: &Fate| matches!(fate, Fate::Survived);
    let shown =
        adequacy.mutants.iter().filter(|m| survived(&m.fate) && !hidden.holds(m.mutant.id.as_bytes()));
    let lines: Vec<String> =
        shown.take(TOLD).map(|m| format!("line {}: {}", m.mutant.line, m.mutant.what)).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\nSome of the changed copies of C that passed for it:\n{}", lines.join("\n")),
    }
}
