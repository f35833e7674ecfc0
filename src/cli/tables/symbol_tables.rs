//! Tables of symbols, shared by the commands that end with one.

use crate::cli::tables::cells;
use crate::count::count;
use crate::evidence::grade;
use crate::judge::verify::Judgement;
use crate::port::function::result::PortResult;
use crate::project::listing::Cause;
use crate::report::{Table, printable};
use crate::store::Totals;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Measured};
use serde_json::{Value, json};

/// Judgements as a table, with the basis of each.
pub fn judgements(all: &[Judgement]) -> String {
    Table::of(all)
        .left("symbol", |j| j.symbol.to_string())
        .left("grade", |j| graded(j.grade, j.reason.as_deref()))
        .right("executions", |j| executions(j.executions, j.in_place))
        .right_if(all.iter().any(|j| j.in_place.is_some()), "in place", |j| cells::number(j.in_place))
        .right("C accepts", |j| cells::percent(j.accept_rate))
        .left("remarks", |j| remarks(j))
        .text()
}

fn remarks(judgement: &Judgement) -> String {
    let mut parts: Vec<String> = judgement.reason.iter().map(|r| printable(r)).collect();
    if let Some(space) = judgement.space {
        parts.push(format!("all {space} inputs tried"));
    }
    if judgement.contract_edited {
        parts.push("contract edited by hand".into());
    }
    if judgement.contract_learned {
        parts.push("contract from calls of drivers".into());
    }
    // For a weak port, the reasons already say this, and the next.
    if let (Grade::Verified, Measured::Yes(kills)) = (judgement.grade, &judgement.proofs.kills)
        && kills.reached < kills.total
    {
        parts.push(format!("{} of C survived", count(kills.total - kills.reached, "mutant")));
    }
    if judgement.grade != Grade::Weak {
        parts.extend(calls_c(&judgement.callees_in_c));
    }
    parts.extend(judgement.last_run.iter().map(|text| printable(text)));
    parts.join("; ")
}

/// Results of a port run as a table.
pub fn ports(all: &[PortResult]) -> String {
    let verdict = |r: &PortResult| match r.grade {
        Some(grade) => format!("{}, {}", r.end.text(), graded(grade, r.reason.as_deref())),
        None => r.end.text().to_owned(),
    };
    let remarks = |r: &PortResult| {
        let first = r.reason.iter().map(|text| printable(text.lines().next().unwrap_or_default()));
        let callees = calls_c(&r.callees_in_c).filter(|_| r.grade.is_none());
        first.chain(callees).collect::<Vec<_>>().join("; ")
    };
    Table::of(all)
        .left("symbol", |r| r.symbol.to_string())
        .left("result", |r| verdict(r))
        .right("executions", |r| executions(r.executions, r.in_place))
        .right_if(all.iter().any(|r| r.in_place.is_some()), "in place", |r| cells::number(r.in_place))
        .right("C accepts", |r| cells::percent(r.accept_rate))
        .right("calls", |r| r.calls.to_string())
        .right("tokens", |r| r.tokens.to_string())
        .left("remarks", |r| remarks(r))
        .text()
}

/// Executions of the harness; nothing where drivers alone have judged.
fn executions(count: Option<u64>, in_place: Option<u64>) -> String {
    cells::number(count.filter(|count| *count > 0 || in_place.is_none()))
}

fn calls_c(callees: &[SymbolName]) -> Option<String> {
    let names: Vec<&str> = callees.iter().map(SymbolName::as_str).collect();
    (!names.is_empty()).then(|| format!("still calls C: {}", names.join(", ")))
}

/// The cost of a run in one line.
pub fn spent(totals: &Totals) -> String {
    let estimated = if totals.estimated { ", partly estimated" } else { "" };
    format!(
        "{}, {} in, {} out{estimated}; cost {}",
        count(totals.calls, "model call"),
        count(totals.input_tokens, "token"),
        totals.output_tokens,
        cost(totals)
    )
}

/// A cost; an unknown cost is never shown as 0.
pub fn cost(totals: &Totals) -> String {
    match totals.cost {
        None => "unknown".into(),
        Some(cost) if totals.unpriced == 0 => format!("{cost:.4}"),
        Some(cost) => format!("at least {cost:.4}"),
    }
}

/// The cost for programs.
pub fn spent_json(totals: &Totals) -> Value {
    json!({
        "calls": totals.calls, "failed": totals.failed, "retries": totals.retries,
        "input_tokens": totals.input_tokens, "output_tokens": totals.output_tokens,
        "cached_tokens": totals.cached_tokens, "cache_write_tokens": totals.cache_write_tokens,
        "estimated": totals.estimated, "cost": totals.cost, "unpriced": totals.unpriced,
        "latency_ms": totals.latency_ms, "latency_median_ms": totals.median_ms, "stops": totals.stops,
    })
}

/// Largest number of causes in text; JSON has all.
const CAUSES: usize = 5;

/// What keeps several functions from having a harness, a line for each of the most frequent causes. What holds for one
/// function is in its row alone.
pub fn causes(all: &[Cause]) -> String {
    let shared: Vec<&Cause> = all.iter().filter(|cause| cause.functions.len() > 1).collect();
    if shared.is_empty() {
        return String::new();
    }
    let mut text = "causes for which functions have no harness:\n".to_owned();
    for cause in shared.iter().take(CAUSES) {
        text += &format!("{:>5}  {}\n", cause.functions.len(), printable(&cause.cause));
    }
    let functions =
        |causes: &mut dyn Iterator<Item = &Cause>| causes.map(|one| one.functions.len()).sum::<usize>();
    let others = functions(&mut all.iter()) - functions(&mut shared.iter().take(CAUSES).copied());
    if others > 0 {
        text += &format!("{others:>5}  others, each in its row\n");
    }
    text
}

/// Counts per grade, in one line.
pub fn counts(all: &[Judgement]) -> String {
    let mut grades: Vec<_> = all.iter().map(|j| (j.grade, graded(j.grade, j.reason.as_deref()))).collect();
    grades.sort();
    let parts: Vec<String> =
        grades.chunk_by(|a, b| a == b).map(|same| format!("{} {}", same.len(), same[0].1)).collect();
    parts.join(", ")
}

/// A grade; a weak one says if only callees in C, and not thin evidence, are the reason.
fn graded(grade: Grade, reason: Option<&str>) -> String {
    match grade == Grade::Weak && reason.is_some_and(grade::only_calls_c) {
        true => "weak (callees in C)".to_owned(),
        false => grade.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_causes_are_shown() {
        let cause =
            |n: usize| Cause { cause: format!("cause {n}"), functions: vec![SymbolName::new("f"); 9 - n] };
        let all: Vec<Cause> = (0..7).map(cause).collect();
        let text = causes(&all);
        assert!(
            text.contains(":\n    9  cause 0\n")
                && text.ends_with("    5  cause 4\n    7  others, each in its row\n"),
            "{text}"
        );
        assert_eq!((causes(&[]), causes(&[cause(8)])), (String::new(), String::new()));
    }

    #[test]
    fn callees_in_c_are_kept_apart_from_thin_evidence() {
        assert_eq!(graded(Grade::Weak, Some("calls C: f, g")), "weak (callees in C)");
        assert_eq!(graded(Grade::Weak, Some("710 executions of 10000; calls C: f")), "weak");
        assert_eq!(graded(Grade::Verified, None), "verified");
    }
}
