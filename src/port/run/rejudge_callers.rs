//! Judges ports again whose callees came into the tree after them: members of cycles, which were judged while later
//! members still ran as C, and ports from before the run. Their evidence is about another program.

use crate::error::Result;
use crate::judge::Judging;
use crate::judge::verify::{self, Judgement};
use crate::port::function::result::{End, PortResult};
use crate::port::plan::resume::Standing;
use crate::project::FunctionPlan;
use crate::project::ported::Ported;
use crate::rust::signature::ident;
use crate::symbol::{SymbolKey, SymbolName};
use crate::verdict::Grade;
use std::collections::BTreeSet;

/// Judges the ports that call a port of this run and whose evidence no longer fits, and corrects the results. A
/// port outside the run's selection gets a result only if it no longer holds.
///
/// # Errors
/// Those of builds and of running the fuzz process, and Ctrl-C.
pub fn settle(judging: &mut Judging, results: &mut Vec<PortResult>) -> Result<()> {
    let project = judging.judge.project;
    let accepted = results.iter().filter(|r| r.end == End::Accepted);
    let new: Vec<&FunctionPlan> = accepted.map(|r| project.find(r.symbol.as_str())).collect::<Result<_>>()?;
    let asked = touched(judging, &new)?;
    let names: Vec<SymbolName> = asked.iter().map(|(planned, _)| planned.function.name.clone()).collect();
    let standing = Standing::examine(judging, asked)?;
    for name in names {
        let Some(judgement) = standing.of(project.find(name.as_str())?) else { continue };
        match results.iter_mut().find(|r| r.symbol == name) {
            // For a function without a port, the reason of its failure stays.
            Some(result) if result.end.is_standing() => correct(result, judgement),
            Some(_) => {}
            None if !judgement.grade.holds() => {
                let mut result = PortResult::untouched(name);
                correct(&mut result, judgement);
                results.push(result);
            }
            None => {}
        }
    }
    Ok(())
}

/// The ports that call one of `new`, and the members of their cycles, whose evidence does not fit, with their status.
/// A port with fitting evidence was already judged in this tree.
fn touched<'p>(
    judging: &Judging<'_, 'p>,
    new: &[&FunctionPlan],
) -> Result<Vec<(&'p FunctionPlan, Judgement)>> {
    let (judge, project) = (judging.judge, judging.judge.project);
    let names: BTreeSet<String> = new.iter().map(|new| ident(&new.function).to_string()).collect();
    let cycles = &project.library.cycles;
    let cycles = cycles.iter().filter(|cycle| new.iter().any(|new| cycle.contains(&new.function.key)));
    let in_cycle: BTreeSet<&SymbolKey> = cycles.flatten().collect();
    let is_ported = |planned: &&FunctionPlan| project.ported(&planned.function) == Ported::Yes;
    let mut callers = Vec::new();
    for planned in project.planned.iter().filter(is_ported) {
        // Their own harness changes if the contract of a step of it does.
        let is_new = names.contains(&ident(&planned.function).to_string());
        let is_in_cycle = in_cycle.contains(&planned.function.key);
        if is_new || is_in_cycle || !judge.ports_called(planned)?.is_disjoint(&names) {
            callers.push(planned);
        }
    }
    let known = verify::known(project, judging.store, &callers)?;
    let is_asked = |(planned, known): &(&FunctionPlan, Judgement)| {
        let is_touched = in_cycle.contains(&planned.function.key) || known.grade == Grade::Stale;
        let is_judged = planned.judgeable.contract().is_some() || known.in_place.is_some();
        is_judged && is_touched && !known.is_confirmed()
    };
    Ok(callers.into_iter().zip(known).filter(is_asked).collect())
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
    } else if !judgement.grade.holds() {
        result.end = End::NoLongerHolds;
        result.finding = judgement.finding.as_ref().map(|(_, finding)| finding.clone());
    }
}
