//! One pass over the functions of a run, in one reading of the library. `scheduler` decides when each function
//! begins.

use super::prompt::Templates;
use super::result::{End, PortResult};
use super::resume::{self, Action, Plan, Standing};
use super::scheduler;
use super::session::Session;
use crate::error::Result;
use crate::event::Reporter;
use crate::judge::Judge;
use crate::judge::proofs::Grounds;
use crate::llm::model_session::ModelSession;
use crate::port::c2rust::Transpiler;
use crate::project::{FunctionPlan, Project};
use crate::store::{RunOutcome, Store, Totals};
use crate::symbol::SymbolKey;
use crate::verdict::Grade;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parameters of a pass.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a, 'p> {
    /// In porting order.
    pub wanted: &'a [&'p FunctionPlan],
    /// Port existing ports again.
    pub redo: bool,
    /// Number of concurrent ports.
    pub jobs: usize,
}

/// Ports functions. The results have the outcome of each; `Err` when the tool, the model or the user stopped the
/// run.
pub fn port<'p>(
    project: &'p Project,
    store: &'p mut Store,
    Order { wanted, redo, jobs }: Order<'_, 'p>,
    (judge, templates): (Judge<'p>, &'p Templates),
    (models, transpiler): (&'p mut ModelSession, Option<&Arc<Transpiler>>),
    reporter: &'p mut dyn Reporter,
) -> Result<Vec<PortResult>> {
    let id = models.id;
    let plans = resume::plan(project, store, wanted, redo);
    let plans = models.or_finish(store, plans)?;
    let mut begin = || {
        let is_asked = |action| matches!(action, Action::Port | Action::PortAgain);
        let asked = wanted.iter().zip(&plans).filter(|(_, plan)| is_asked(plan.action));
        let asked: Vec<&FunctionPlan> = asked.map(|(planned, _)| *planned).collect();
        let (below, plans_below) = unfit(project, store, (wanted, &asked))?;
        let (all, plans) = ([wanted, &below].concat(), [&plans[..], &plans_below].concat());
        let standing = Standing::examine(project, store, (&all, &plans), (&judge, id), reporter)?;
        Ok((standing, Grounds::lay(project, (&judge, store), &asked, reporter)?))
    };
    let begun = begin();
    let (standing, grounds) = models.or_finish(store, begun)?;
    let stop = judge.interrupt.child();
    let mut run = Session {
        project,
        judge,
        store,
        reporter,
        models,
        templates,
        grounds,
        plans: wanted.iter().map(|planned| planned.function.key.clone()).zip(plans).collect(),
        standing,
        transpiler: transpiler.cloned(),
        translated: BTreeMap::new(),
        exhausted: false,
        stop,
        tree: 0,
    };
    let result = scheduler::port_all(&mut run, wanted, jobs);
    run.models.or_finish(run.store, result)
}

/// Ports outside the selection that `asked` build on and whose evidence does not fit, with the action for each.
fn unfit<'p>(
    project: &'p Project,
    store: &Store,
    (wanted, asked): (&[&FunctionPlan], &[&FunctionPlan]),
) -> Result<(Vec<&'p FunctionPlan>, Vec<Plan>)> {
    let is_wanted = |port: &FunctionPlan| wanted.iter().any(|one| one.function.key == port.function.key);
    let below = asked.iter().flat_map(|one| resume::below(project, one)).filter(|port| !is_wanted(port));
    let below: BTreeMap<&SymbolKey, &FunctionPlan> = below.map(|port| (&port.function.key, port)).collect();
    let below: Vec<&FunctionPlan> = below.into_values().collect();
    let plans = resume::plan(project, store, &below, false)?;
    let all = below.into_iter().zip(plans);
    Ok(all.filter(|(_, plan)| matches!(plan.action, Action::Verify | Action::Refuted)).unzip())
}

/// Ends a run with the results of all functions, adds the cost of each, and returns the cost of all.
///
/// # Errors
/// Those of the store.
pub fn finish(
    (project, store): (&Project, &mut Store),
    models: &ModelSession,
    results: &mut [PortResult],
) -> Result<Totals> {
    store.finish_run(models.id, outcome_of(results))?;
    for result in results {
        let key = &project.find(result.symbol.as_str())?.function.key;
        let spent = store.totals_of(Some(models.id), key)?;
        (result.calls, result.tokens) = (spent.calls, spent.tokens());
    }
    store.totals(Some(models.id))
}

fn outcome_of(all: &[PortResult]) -> RunOutcome {
    match all {
        _ if all.iter().any(|r| r.end == End::Budget) => RunOutcome::Budget,
        _ if all.iter().any(|r| r.end == End::NoLongerHolds && r.grade == Some(Grade::Refuted)) => {
            RunOutcome::Refuted
        }
        _ if all.iter().all(|r| r.end.is_done()) => RunOutcome::Done,
        _ => RunOutcome::Incomplete,
    }
}
