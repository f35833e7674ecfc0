//! The plan of a run before it starts: the order, and the size of the first prompts. It calls no model and writes
//! nothing.

use crate::error::Result;
use crate::llm::Tokens;
use crate::port::plan::first_prompt::first_prompt;
use crate::port::plan::redo::{self, Redo, old_port};
use crate::port::plan::resume::{self, Action, Plan};
use crate::port::plan::schedule::Schedule;
use crate::port::prompt::sources::{Facts, context};
use crate::port::prompt::{Question, Templates};
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolName;
use serde::Serialize;

/// The plan for one function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    pub symbol: SymbolName,
    pub action: Action,
    pub reason: Option<String>,
    /// Number of its cycle, from 1; the members of a cycle are ported in sequence and fail together.
    pub cycle: Option<usize>,
    /// Size of the first prompt, if a model would be asked.
    pub prompt: Option<Size>,
}

/// The size of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    pub characters: usize,
    /// An estimate from the length.
    pub tokens: u64,
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |sum, size| Self {
            characters: sum.characters + size.characters,
            tokens: sum.tokens + size.tokens,
        })
    }
}

/// The plan of a run over `wanted`, in the order in which functions would begin.
///
/// # Errors
/// Those of reading the tree, the store and the lock, and of templates.
pub fn preview<'p>(
    project: &'p Project,
    store: &Store,
    wanted: &[&'p FunctionPlan],
    redo: Redo,
) -> Result<Vec<Preview>> {
    let wanted = &redo::taken(project, store, wanted.to_vec(), redo)?[..];
    let plans = resume::plan(project, store, wanted, None, redo)?;
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let functions: Vec<_> = wanted.iter().map(|planned| &planned.function).collect();
    let mut schedule = Schedule::of(&functions);
    let cycles = cycles(&schedule, wanted.len());
    let mut all = Vec::new();
    while let Some(at) = schedule.begin() {
        schedule.end(at, true);
        let (planned, plan) = (wanted[at], &plans[at]);
        let prompt = (plan.action.asks() && project.config.asks_models())
            .then(|| size((project, store), &templates, planned, plan, redo))
            .transpose()?;
        all.push(Preview {
            symbol: planned.function.name.clone(),
            action: plan.action,
            reason: plan.reason.clone(),
            cycle: cycles[at],
            prompt,
        });
    }
    Ok(all)
}

/// The size of the first prompt for the current tree.
fn size(
    (project, store): (&Project, &Store),
    templates: &Templates,
    planned: &FunctionPlan,
    plan: &Plan,
    redo: Redo,
) -> Result<Size> {
    let Facts { sites, calls } = &Facts::of(project, planned);
    let why = plan.reason.as_deref().unwrap_or_default();
    let question = match plan.action {
        Action::Analyze => Question::Analyze { why, sites, candidate: None },
        Action::Target => Question::Target { calls, sites, candidate: None },
        _ => Question::Prototype,
    };
    let context = context(project, planned)?;
    let context = match old_port(project, planned, redo)? {
        Some((text, code)) => context.instead_of(text, code),
        None => context,
    };
    let prompt = first_prompt((project, store), templates, planned, &context, &question)?;
    let texts = prompt.system.iter().map(|block| &block.text).chain(prompt.messages.iter().map(|m| &m.text));
    let Tokens(tokens) = prompt.estimate();
    Ok(Size { characters: texts.map(|text| text.chars().count()).sum(), tokens })
}

/// The number of each function's cycle; `None` for functions outside cycles.
fn cycles(schedule: &Schedule, functions: usize) -> Vec<Option<usize>> {
    let mut numbers: Vec<Option<usize>> = vec![None; functions];
    let mut last = 0;
    for at in 0..functions {
        let others: Vec<usize> = schedule.companions(at).collect();
        if others.is_empty() || numbers[at].is_some() {
            continue;
        }
        last += 1;
        others.into_iter().chain([at]).for_each(|member| numbers[member] = Some(last));
    }
    numbers
}
