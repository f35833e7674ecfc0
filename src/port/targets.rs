//! Fuzz targets that a model writes before the port is asked for: for every function in the workflow `three-step`,
//! otherwise for functions that a person names (`harness = "model"`). A target is a tentative file like a contract:
//! it stays only if C never differs from itself and enough mutants are killed.

use super::context::PortContext;
use super::prompt::Question;
use super::proposals::{Answer, Inquiry, Opened, Proposal, Tried, Turn, gist, never};
use super::sources::{context, context_without_contract};
use crate::c::call_sites::call_sites;
use crate::config::Workflow;
use crate::contract::facts::FactTable;
use crate::contract::target::contract;
use crate::contract::types::{Harness, Judgeable};
use crate::error::Result;
use crate::fuzz::gate::HeldBack;
use crate::harness::emit::target::helper_name;
use crate::judge::Judge;
use crate::judge::mutation_score::{Adequacy, Fate};
use crate::llm::model_session::rank_of;
use crate::llm::{Blocks, Label, Reply};
use crate::platform::workspace::Trial;
use crate::project::fuzz_target;
use crate::project::{FunctionPlan, Project};
use crate::rust::pretty::pretty;
use crate::rust::signature::CSignature;
use crate::store::Store;
use crate::symbol::{SymbolKey, SymbolName};
use proc_macro2::Ident;
use quote::{format_ident, quote};
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
    let is_left_out = |planned: &FunctionPlan| {
        project.config.symbols.get(planned.function.name.as_str()).is_some_and(|own| own.skip)
    };
    let lacks = |planned: &&&FunctionPlan| {
        planned.target.is_none() && (planned.wants_target || by_workflow) && !is_left_out(planned)
    };
    let lacking: Vec<&FunctionPlan> = wanted.iter().filter(lacks).copied().collect();
    let mut all = BTreeMap::new();
    if lacking.is_empty() {
        return Ok(all);
    }
    let facts = FactTable::build(&project.library);
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

/// The context for the prompt about a target.
///
/// # Errors
/// Those of reading what is generated.
pub fn context_of(project: &Project, planned: &FunctionPlan) -> Result<PortContext> {
    match planned.judgeable {
        Judgeable::Yes(_) => context(project, planned),
        Judgeable::NotYet(_) => context_without_contract(project, planned),
    }
}

/// The function's call in a target, for its prompt, and then the other functions that the target may call.
pub fn calls_of(project: &Project, planned: &FunctionPlan) -> Vec<String> {
    let one = |name: Ident, c: &CSignature| {
        let params = c.params.iter().map(|(name, ty)| quote!(#name: #ty));
        let ret = c.ret.iter();
        let text = pretty(quote!(fn #name(#(#params),*) #(-> #ret)* {}));
        text.replacen("fn ", "side.", 1).replacen(" {}", "", 1).trim().to_owned()
    };
    let own = one(format_ident!("call"), &planned.c);
    let others = project.helpers(planned).map(|other| one(helper_name(&other.function), &other.c));
    std::iter::once(own).chain(others).collect()
}

/// The fuzz target of a function.
pub(super) struct Target;

impl Proposal for Target {
    const ROLE: &'static str = "target-writer";
    const NOUN: &'static str = "fuzz target";
    const PURPOSE: &'static str = "calls";

    fn ask(
        inquiry: &mut Inquiry,
        (project, store): &mut Opened,
        name: &SymbolName,
        turn: &Turn,
    ) -> Result<std::result::Result<Reply, String>> {
        let planned = project.find(name.as_str())?;
        let context = context_of(project, planned)?;
        let sites = call_sites(&project.library, &planned.function);
        let calls = calls_of(project, planned);
        let question = Question::Target { calls: &calls, sites: &sites, candidate: turn.last };
        inquiry.ask(store, (planned, &context), &question, (turn.attempt, turn.problem))
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
    fn try_out(
        inquiry: &mut Inquiry,
        opened: Opened,
        name: &SymbolName,
        (attempt, text): (u32, &str),
    ) -> Result<Tried<String>> {
        let model = inquiry.models.name(Self::ROLE, rank_of(attempt));
        let text = fuzz_target::proposed(name.as_str(), &model, text);
        let refused = fuzz_target::problems(&text, &opened.0.ffi_names()?);
        if !refused.is_empty() {
            let lines = refused.iter().map(|(line, why)| {
                let excerpt = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
                format!("`{excerpt}`: {why}")
            });
            let lines: Vec<String> = lines.collect();
            return Ok((opened, Err(format!("the audit rejects it: {}", lines.join("\n")))));
        }
        let trial = Trial { path: opened.0.target_path(name.as_str()), text };
        let on_trial = (name, "try-fuzz-target", &trial);
        let (opened, tried) = inquiry.try_out(opened, on_trial, |inquiry, mut opened| {
            let adequacy = match inquiry.measured(&mut opened, name)? {
                Ok(adequacy) => adequacy,
                Err(why) => return Ok(Err(why)),
            };
            let short = adequacy.shortcomings(&opened.0.config.grade);
            if short.is_empty() {
                return Ok(Ok(opened));
            }
            let planned = opened.0.find(name.as_str())?;
            let hidden = Judge::new(&opened.0, inquiry.interrupt).held_back(planned)?;
            Ok(Err(format!("{}{}", short.join("; "), survivors(&adequacy, &hidden))))
        })?;
        Ok((opened, tried.map(|()| format!("a fuzz target by {model}"))))
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
