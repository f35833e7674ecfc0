//! One pass over the functions of a run, in one reading of the library. `scheduler` decides when each function
//! begins.

use crate::error::Result;
use crate::judge::proofs::Grounds;
use crate::judge::verify::{self, Judgement};
use crate::llm::model_session::ModelSession;
use crate::port::function::result::{End, PortResult};
use crate::port::function::session::{Beginning, Session};
use crate::port::plan::resume::{self, Action, Plan, Standing};
use crate::port::run::scheduler;
use crate::project::{FunctionPlan, Project};
use crate::store::{RunOutcome, Store, Totals};
use crate::symbol::SymbolKey;
use crate::verdict::Grade;
use std::collections::BTreeMap;

impl<'p> Session<'p> {
    /// Ports functions, which are in porting order, as planned, and `jobs` at a time. The results have the outcome of
    /// each; `Err` when the tool, the model or the user stopped the run.
    pub fn port(
        mut self,
        wanted: &[&'p FunctionPlan],
        plans: Vec<Plan>,
        jobs: usize,
    ) -> Result<Vec<PortResult>> {
        let is_asked = |plan: &Plan| matches!(plan.action, Action::Port | Action::PortAgain);
        let asked = wanted.iter().zip(&plans).filter(|(_, plan)| is_asked(plan));
        let asked: Vec<&FunctionPlan> = asked.map(|(planned, _)| *planned).collect();
        for planned in &asked {
            let beginning = Beginning::of(&self.judge, planned)?;
            self.beginnings.insert(planned.function.key.clone(), beginning);
        }
        let below = unfit(self.project, self.store, wanted, &asked)?;
        let mut ports = Vec::new();
        for (planned, mut plan) in wanted.iter().zip(plans) {
            ports.extend(plan.known.take().map(|known| (*planned, known)));
            self.plans.insert(planned.function.key.clone(), plan);
        }
        ports.extend(below);
        self.standing = Standing::examine(&mut self.judging(), ports)?;
        let harnessed: Vec<&FunctionPlan> =
            asked.into_iter().filter(|planned| planned.judgeable.contract().is_some()).collect();
        self.grounds = Grounds::lay(&mut self.judging(), &harnessed)?;
        scheduler::port_all(&mut self, wanted, jobs)
    }
}

/// Ports outside the selection that `asked` build on and whose evidence does not fit, with their status.
fn unfit<'p>(
    project: &'p Project,
    store: &Store,
    wanted: &[&FunctionPlan],
    asked: &[&FunctionPlan],
) -> Result<Vec<(&'p FunctionPlan, Judgement)>> {
    let is_wanted = |port: &FunctionPlan| wanted.iter().any(|one| one.function.key == port.function.key);
    let below = asked.iter().flat_map(|one| resume::below(project, one));
    let below = below.filter(|port| !is_wanted(port));
    let below: BTreeMap<&SymbolKey, &FunctionPlan> = below.map(|port| (&port.function.key, port)).collect();
    let below: Vec<&FunctionPlan> = below.into_values().collect();
    let known = verify::known(project, store, &below)?;
    // Where neither a harness nor a driver has judged a port, judging it now would say nothing.
    let is_judged = |port: &FunctionPlan, known: &Judgement| {
        port.judgeable.contract().is_some() || known.in_place.is_some()
    };
    let unfit = |(port, known): &(&FunctionPlan, Judgement)| is_judged(port, known) && !known.is_confirmed();
    Ok(below.into_iter().zip(known).filter(unfit).collect())
}

/// Ends a run with the results of all functions, adds the cost of each, and returns the cost of all. `is_budget` says that
/// the budget ended before any was begun.
///
/// # Errors
/// Those of the store.
pub fn finish(
    (project, store): (&Project, &mut Store),
    models: &ModelSession,
    results: &mut [PortResult],
    is_budget: bool,
) -> Result<Totals> {
    store.finish_run(models.id, if is_budget { RunOutcome::Budget } else { outcome_of(results) })?;
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
