//! Makes inputs for functions without kept inputs: a short fuzzing run, with the port where it may run.

use super::{no_inputs, why_not_run};
use crate::contract::types::Judgeable;
use crate::count::count;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::fuzz::campaign::Budget;
use crate::judge::Judge;
use crate::project::FunctionPlan;
use crate::verdict::{RunStats, Verdict};
use std::path::Path;

/// Fuzzes those of `wanted` that have a harness but no inputs; with `fresh`, all that have a harness. Each gets
/// this number of seconds.
pub fn provide(
    judge: &Judge,
    wanted: &[&FunctionPlan],
    seconds: u64,
    fresh: bool,
    reporter: &mut dyn Reporter,
) -> Result<()> {
    let is_due = |planned: &&&FunctionPlan| {
        matches!(planned.judgeable, Judgeable::Yes(_)) && (fresh || no_inputs(judge, planned).is_some())
    };
    let due: Vec<&FunctionPlan> = wanted.iter().filter(is_due).copied().collect();
    if due.is_empty() {
        return Ok(());
    }
    let text = format!("fuzzing {} for {seconds} s each: inputs to replay", count(due.len(), "function"));
    reporter.event(Event::Note { text });
    let binary = judge.harnesses(&due, reporter)?;
    for (index, planned) in due.iter().enumerate() {
        let symbol = planned.function.name.clone();
        let total = due.len();
        let (work, index) = ("inputs", index + 1);
        reporter.event(Event::SymbolStarted { symbol: symbol.clone(), work, index, total });
        let summary = one(judge, planned, &binary, seconds, reporter)?;
        reporter.event(Event::SymbolFinished { symbol, ok: true, grade: None, summary });
    }
    Ok(())
}

fn one(
    judge: &Judge,
    planned: &FunctionPlan,
    binary: &Path,
    seconds: u64,
    reporter: &mut dyn Reporter,
) -> Result<String> {
    let (campaign, budget) = (judge.campaign(binary, planned), Budget { seconds, executions: None });
    let name = &planned.function.name;
    let mut see = |stats: &RunStats| {
        reporter.event(Event::Fuzzing { symbol: name.clone(), stats: stats.clone() });
    };
    if why_not_run(judge, planned)?.is_none() {
        let verdict = campaign.judge(budget, judge.interrupt, &mut see)?;
        if !matches!(verdict, Verdict::Refuted { .. } | Verdict::CFault { .. }) {
            return Ok("inputs found".to_owned());
        }
    }
    // A difference ends a run with the port early, so this run uses C alone.
    let difference = campaign.against_itself(budget, judge.interrupt, &mut see)?.difference;
    Ok(match difference {
        Some(found) => format!("C differs from itself: {}", found.what),
        None => "inputs found with C alone".to_owned(),
    })
}
