//! Tables of symbols, shared by the commands that end with one.

use crate::evidence::grade;
use crate::judge::verify::Judgement;
use crate::port::result::PortResult;
use crate::report::{Column, printable, table};
use crate::store::Totals;
use crate::verdict::Grade;
use serde_json::{Value, json};

/// Judgements as a table, with the basis of each.
pub fn judgements(all: &[Judgement]) -> String {
    let columns = [
        Column::left("symbol"),
        Column::left("grade"),
        Column::right("executions"),
        Column::right("accepted"),
        Column::left("remarks"),
    ];
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|j| {
            vec![
                j.symbol.to_string(),
                graded(j.grade, j.reason.as_deref()),
                j.executions.map_or_else(|| "-".into(), |n| n.to_string()),
                j.accept_rate.map_or_else(|| "-".into(), |rate| format!("{:.1} %", rate * 100.0)),
                remarks(j),
            ]
        })
        .collect();
    table(&columns, &rows, None)
}

fn remarks(judgement: &Judgement) -> String {
    let mut parts: Vec<String> = judgement.reason.iter().map(|r| printable(r)).collect();
    if let Some(space) = judgement.space {
        parts.push(format!("all {space} inputs tried"));
    }
    if judgement.contract_edited {
        parts.push("contract edited by hand".into());
    }
    // For a weak port, the reasons already say this.
    if !judgement.callees_in_c.is_empty() && judgement.grade != Grade::Weak {
        let names: Vec<String> = judgement.callees_in_c.iter().map(ToString::to_string).collect();
        parts.push(format!("still calls C: {}", names.join(", ")));
    }
    parts.extend(judgement.last_run.iter().map(|text| printable(text)));
    parts.join("; ")
}

/// Results of a port run as a table.
pub fn ports(all: &[PortResult]) -> String {
    let columns = [
        Column::left("symbol"),
        Column::left("verdict"),
        Column::right("executions"),
        Column::right("accepted"),
        Column::right("calls"),
        Column::right("tokens"),
        Column::left("remarks"),
    ];
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|r| {
            let mut remarks: Vec<String> =
                r.reason.iter().map(|text| printable(text.lines().next().unwrap_or_default())).collect();
            if !r.callees_in_c.is_empty() && r.grade.is_none() {
                let names: Vec<String> = r.callees_in_c.iter().map(ToString::to_string).collect();
                remarks.push(format!("still calls C: {}", names.join(", ")));
            }
            vec![
                r.symbol.to_string(),
                match r.grade {
                    Some(grade) => format!("{}, {}", r.end.text(), graded(grade, r.reason.as_deref())),
                    None => r.end.text().to_owned(),
                },
                r.executions.map_or_else(|| "-".into(), |n| n.to_string()),
                r.accept_rate.map_or_else(|| "-".into(), |rate| format!("{:.1} %", rate * 100.0)),
                r.calls.to_string(),
                r.tokens.to_string(),
                remarks.join("; "),
            ]
        })
        .collect();
    table(&columns, &rows, None)
}

/// The cost of a run in one line.
pub fn spent(totals: &Totals) -> String {
    let estimated = if totals.estimated { ", partly estimated" } else { "" };
    format!(
        "{} model calls, {} tokens in, {} out{estimated}; cost {}",
        totals.calls,
        totals.input_tokens,
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

/// A number of tokens; `~` marks an estimate.
pub fn tokens(count: u64, estimated: bool) -> String {
    if estimated { format!("~{count}") } else { count.to_string() }
}

/// A time, as in `17.2 s`.
pub fn seconds(millis: u64) -> String {
    format!("{:.1} s", millis as f64 / 1e3)
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
    fn callees_in_c_are_kept_apart_from_thin_evidence() {
        assert_eq!(graded(Grade::Weak, Some("calls C: f, g")), "weak (callees in C)");
        assert_eq!(graded(Grade::Weak, Some("710 executions of 10000; calls C: f")), "weak");
        assert_eq!(graded(Grade::Verified, None), "verified");
    }
}
