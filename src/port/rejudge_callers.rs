//! Judges ports again whose callees came into the tree after them: members of cycles, which were judged while later
//! members still ran as C, and ports from before the run. Their evidence is about another program.

use super::result::{End, PortResult};
use super::resume::{self, Action, Standing, holds};
use crate::error::Result;
use crate::event::Reporter;
use crate::judge::Judge;
use crate::judge::verify::{self, Judgement};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::signature::ident;
use crate::store::{RunId, Store};
use crate::symbol::SymbolKey;
use crate::verdict::Grade;
use std::collections::BTreeSet;

/// Judges the ports that call a port of this run and whose evidence no longer fits, and corrects the results. A
/// port outside the run's selection gets a result only if it no longer holds.
///
/// # Errors
/// Those of builds and of running the fuzz process, and Ctrl-C.
pub fn settle(
    project: &Project,
    store: &mut Store,
    (judge, run): (&Judge, RunId),
    results: &mut Vec<PortResult>,
    reporter: &mut dyn Reporter,
) -> Result<()> {
    let accepted = |r: &&PortResult| r.end == End::Accepted;
    let new = results.iter().filter(accepted).map(|r| project.find(r.symbol.as_str()));
    let new: Vec<&FunctionPlan> = new.collect::<Result<_>>()?;
    let asked = touched(project, (store, judge), &new)?;
    if asked.is_empty() {
        return Ok(());
    }
    let mut plans = resume::plan(project, store, &asked, false)?;
    // A port with fitting evidence was already judged in this tree.
    plans
        .iter_mut()
        .filter(|plan| plan.action == Action::Confirm)
        .for_each(|plan| plan.action = Action::Leave);
    let standing = Standing::examine(project, store, (&asked, &plans), (judge, run), reporter)?;
    for planned in asked {
        let Some(judgement) = standing.of(planned) else { continue };
        match results.iter_mut().find(|r| r.symbol == planned.function.name) {
            // For a function without a port, the reason of its failure stays.
            Some(result) if result.end.is_standing() => correct(result, judgement),
            Some(_) => {}
            None if !holds(judgement.grade) => {
                let mut result = PortResult::untouched(planned.function.name.clone());
                correct(&mut result, judgement);
                results.push(result);
            }
            None => {}
        }
    }
    Ok(())
}

/// The ports that call one of `new` and whose evidence no longer fits, and the members of their cycles.
fn touched<'p>(
    project: &'p Project,
    (store, judge): (&Store, &Judge),
    new: &[&FunctionPlan],
) -> Result<Vec<&'p FunctionPlan>> {
    let names: BTreeSet<String> = new.iter().map(|new| ident(&new.function).to_string()).collect();
    let cycles = &project.library.cycles;
    let cycles = cycles.iter().filter(|cycle| new.iter().any(|new| cycle.contains(&new.function.key)));
    let in_cycle: BTreeSet<&SymbolKey> = cycles.flatten().collect();
    let is_ported = |planned: &&FunctionPlan| project.ported(&planned.function) == Ported::Yes;
    let mut callers = Vec::new();
    for planned in project.planned.iter().filter(is_ported) {
        if in_cycle.contains(&planned.function.key) || !judge.ports_called(planned)?.is_disjoint(&names) {
            callers.push(planned);
        }
    }
    let known = verify::known(project, store, &callers)?;
    let is_asked = |(planned, known): &(&FunctionPlan, Judgement)| {
        in_cycle.contains(&planned.function.key) || known.grade == Grade::Stale
    };
    Ok(callers.into_iter().zip(known).filter(is_asked).map(|(planned, _)| planned).collect())
}

/// Updates the result with the new judgement.
fn correct(result: &mut PortResult, judgement: &Judgement) {
    result.grade = Some(judgement.grade);
    result.reason = judgement.reason.clone();
    result.executions = judgement.executions;
    result.accept_rate = judgement.accept_rate;
    result.callees_in_c = judgement.callees_in_c.clone();
    if judgement.c_fault {
        result.end = End::CFault;
    } else if !holds(judgement.grade) {
        result.end = End::NoLongerHolds;
        result.finding = judgement.finding.as_ref().map(|(_, finding)| finding.clone());
    }
}
