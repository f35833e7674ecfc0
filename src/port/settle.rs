//! Functions that call each other. Each is ported and judged while those that follow still run as C; when others of its cycle have
//! come into the tree, its evidence is about another program, so it is judged once more as it stands.

use super::resume::{self, Deed, Standing, holds};
use super::run::{End, PortResult};
use crate::error::Result;
use crate::event::Reporter;
use crate::judge::Judge;
use crate::ported::Ported;
use crate::project::{Planned, Project};
use crate::store::{RunId, Store};
use crate::symbol::SymbolKey;
use crate::verify::Judgement;

/// Judges the ports of every cycle that this run has changed, where their evidence does not fit any more, and corrects the results.
/// Ports of a cycle that the run was not about get a result only where they do not hold.
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
    let is_new = |key: &SymbolKey| {
        let name = project.library.function(key).map(|function| &function.name);
        results.iter().any(|r| Some(&r.symbol) == name && r.end == End::Accepted)
    };
    let touched: Vec<&Vec<SymbolKey>> =
        project.library.cycles.iter().filter(|cycle| cycle.iter().any(is_new)).collect();
    let is_touched = |planned: &&Planned| {
        touched.iter().any(|cycle| cycle.contains(&planned.function.key))
            && project.ported(&planned.function) == Ported::Yes
    };
    let asked: Vec<&Planned> = project.planned.iter().filter(is_touched).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let mut plans = resume::plan(project, (store, judge), &asked, false)?;
    // What fits was judged as it stands.
    plans.iter_mut().filter(|plan| plan.deed == Deed::Confirm).for_each(|plan| plan.deed = Deed::Leave);
    let standing = Standing::examine(project, store, (&asked, &plans), (judge, run), reporter)?;
    for planned in asked {
        let Some(judgement) = standing.of(planned) else { continue };
        match results.iter_mut().find(|r| r.symbol == planned.function.name) {
            // Of what was not ported in the end, why not is what counts.
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

/// The result says what is known now.
fn correct(result: &mut PortResult, judgement: &Judgement) {
    result.grade = Some(judgement.grade);
    result.reason = judgement.reason.clone();
    result.executions = judgement.executions;
    result.accept_rate = judgement.accept_rate;
    result.callees_in_c = judgement.callees_in_c.clone();
    if judgement.stopped_by_c {
        result.end = End::StoppedByC;
    } else if !holds(judgement.grade) {
        result.end = End::NoLongerHolds;
        result.finding = judgement.finding.as_ref().map(|(_, finding)| finding.clone());
    }
}
