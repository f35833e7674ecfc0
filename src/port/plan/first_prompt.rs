//! The first prompt about a function, as `port` would send it. Nothing is built, measured or asked for it.

use crate::contract::types::Judgeable;
use crate::drivers::{Reachability, known_reach};
use crate::error::Result;
use crate::llm::Prompt;
use crate::port::lessons::select::recalled;
use crate::port::plan::redo::Redo;
use crate::port::plan::resume::{self, Action, Plan};
use crate::port::prompt::c_variables::out_of_reach;
use crate::port::prompt::context::PortContext;
use crate::port::prompt::sources::context;
use crate::port::prompt::{Question, Templates};
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolName;

/// What a model would be asked about a function first.
#[derive(Debug)]
pub struct Asked {
    pub symbol: SymbolName,
    /// The first prompt to the prototyper, or why there is none.
    pub prompt: std::result::Result<Prompt, Refusal>,
}

/// Why `port` asks for no port of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: String,
    /// What to do about it.
    pub help: String,
}

/// The first prompts to the prototyper for these functions. For a function that has a port, it is that of `port --redo`.
///
/// # Errors
/// Those of reading the tree, the store and the lock, and of templates.
pub fn to_prototyper(project: &Project, store: &Store, wanted: &[&FunctionPlan]) -> Result<Vec<Asked>> {
    let plans = resume::plan(project, store, wanted, None, Redo::All)?;
    let reach = known_reach(project)?;
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let mut all = Vec::new();
    for (planned, plan) in wanted.iter().copied().zip(&plans) {
        let symbol = planned.function.name.clone();
        let reach = reach.as_ref().map(|reach| reach.of(&planned.function));
        if let Some(refusal) = refusal(project, planned, plan, reach)? {
            all.push(Asked { symbol, prompt: Err(refusal) });
            continue;
        }
        let context = context(project, planned)?;
        let context = match planned.judgeable {
            Judgeable::Yes(_) => context,
            Judgeable::NotYet(_) => context.judged_in_place(),
        };
        let prompt = first_prompt((project, store), &templates, planned, &context, &Question::Prototype)?;
        all.push(Asked { symbol, prompt: Ok(prompt) });
    }
    Ok(all)
}

/// Why no port of the function is asked for, as far as that is known without a run.
fn refusal(
    project: &Project,
    planned: &FunctionPlan,
    plan: &Plan,
    reach: Option<Reachability>,
) -> Result<Option<Refusal>> {
    let function = &planned.function;
    // `port` runs the drivers first.
    let in_place =
        matches!(reach, Some(Reachability::Reached | Reachability::NotRun)) && !planned.wants_target;
    if matches!(plan.action, Action::Port | Action::PortAgain) || in_place && !project.is_skipped(planned) {
        let why = out_of_reach(project, function)?;
        let help = format!("cargo implfuzz list -v {}", function.name);
        return Ok(why.map(|reason| Refusal { reason, help }));
    }
    let reason = match (&planned.judgeable, &plan.reason) {
        (_, Some(why)) | (Judgeable::NotYet(why), None) => why.as_str(),
        (Judgeable::Yes(_), None) => "it needs a fuzz target",
    };
    let target = format!("cargo implfuzz contract --new {}", function.name);
    let (reason, help) = match (plan.action, reach) {
        _ if project.is_skipped(planned) => {
            (reason.to_owned(), format!("remove symbols.{}.skip from implfuzz.toml", function.name))
        }
        (Action::Target, _) => (format!("{reason}; `port` asks a model for a fuzz target first"), target),
        (Action::Analyze, _) => (
            format!("{reason}; `port` asks a model for a contract first"),
            format!("cargo implfuzz port {}; or {target}, which lets you write a fuzz target", function.name),
        ),
        (_, Some(reach)) => (format!("{reason}; {}", reach.remark()), target),
        (_, None) => (
            format!("{reason}; the repository has no driver"),
            format!("cargo implfuzz drivers --new calls, which writes a driver; or {target}"),
        ),
    };
    Ok(Some(Refusal { reason, help }))
}

/// The first prompt with this question, with what earlier ports taught.
pub fn first_prompt(
    (project, store): (&Project, &Store),
    templates: &Templates,
    planned: &FunctionPlan,
    context: &PortContext,
    question: &Question,
) -> Result<Prompt> {
    let max_tokens = project.config.llm.for_role(question.role())?.max_tokens;
    let memory = match question {
        Question::Prototype => recalled(project, store, planned)?.0,
        _ => String::new(),
    };
    templates.prompt(context, question, None, &memory, 1, max_tokens)
}
