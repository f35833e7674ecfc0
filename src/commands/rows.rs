//! Tables of symbols, shared by the commands that end with one.

use crate::report::{Column, printable, table};
use crate::verify::Judgement;

/// Judgements as a table, with what each rests on.
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
                j.grade.to_string(),
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
    if !judgement.callees_in_c.is_empty() {
        let names: Vec<String> = judgement.callees_in_c.iter().map(ToString::to_string).collect();
        parts.push(format!("still calls C: {}", names.join(", ")));
    }
    parts.join("; ")
}

/// Counts per grade, in one line.
pub fn counts(all: &[Judgement]) -> String {
    let mut grades: Vec<_> = all.iter().map(|j| j.grade).collect();
    grades.sort();
    let mut parts: Vec<String> = Vec::new();
    for chunk in grades.chunk_by(|a, b| a == b) {
        parts.push(format!("{} {}", chunk.len(), chunk[0]));
    }
    parts.join(", ")
}
