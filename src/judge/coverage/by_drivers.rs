//! The coverage of functions without a harness, by the calls that drivers make.

use super::{Reach, Side, of_c, unreachable};
use crate::contract::types::Judgeable;
use crate::drivers::{self, branches, has_drivers, number_of};
use crate::error::Result;
use crate::event::Reporter;
use crate::fuzz::coverage_replay::Inputs;
use crate::judge::Judge;
use crate::project::FunctionPlan;

/// Every call of a function is counted.
const ALL: u64 = u64::MAX;

/// Completes `all`, the coverage of these functions, where a driver reaches one that has no harness.
///
/// # Errors
/// `C` if no driver can be used, `Environment` if the coverage data is not understood, and Ctrl-C.
pub fn complete(
    judge: &Judge,
    (wanted, all): (&[&FunctionPlan], &mut [Reach]),
    reporter: &mut dyn Reporter,
) -> Result<()> {
    let has_none = |planned: &FunctionPlan| matches!(planned.judgeable, Judgeable::NotYet(_));
    if !wanted.iter().any(|planned| has_none(planned)) || !has_drivers(judge.project)? {
        return Ok(());
    }
    let report = drivers::run(judge.project, drivers::Inputs::Kept, judge.interrupt, reporter)?;
    let reached = report.reached();
    let number = |at: &usize| number_of(judge.project, wanted[*at]).filter(|number| reached.contains(number));
    let open: Vec<(usize, usize)> = (0..wanted.len())
        .filter(|at| has_none(wanted[*at]))
        .filter_map(|at| Some((at, number(&at)?)))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let calls = vec![ALL; report.drivers.len()];
    let judged: Vec<_> = open.iter().map(|(_, number)| (*number, calls.clone())).collect();
    let counted = branches(judge.project, &report, &judged, judge.interrupt, reporter)?;
    let proved = unreachable::Proved::default();
    for ((at, number), counters) in open.iter().zip(&counted.counters) {
        let replayed: usize = report.drivers.iter().map(|driven| driven.count_of_inputs(*number)).sum();
        let inputs = Inputs { replayed: replayed as u64, ..Inputs::default() };
        all[*at].inputs = inputs;
        all[*at].c = of_c(judge, wanted[*at], (&counted.tables, counters, &proved), inputs)?;
        all[*at].rust = Side::Unmeasured { why: "drivers' calls are counted in C alone".to_owned() };
    }
    Ok(())
}
