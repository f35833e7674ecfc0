//! The call graph for Graphviz: functions with their tiers, calls as solid lines, taken addresses as dashed lines,
//! cycles in boxes.

use super::Row;
use crate::symbol::SymbolName;
use std::collections::{BTreeMap, BTreeSet};

/// The graph of these functions, and of the calls among them.
pub fn dot(rows: &[Row]) -> String {
    let mut cycles: BTreeMap<usize, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        if let Some(cycle) = row.cycle {
            cycles.entry(cycle).or_default().push(row);
        }
    }
    let mut text = String::from("digraph functions {\n  rankdir=LR;\n  node [shape=box];\n");
    for (cycle, members) in cycles {
        text += &format!("  subgraph cluster_{cycle} {{\n    label=\"cycle {cycle}\";\n");
        members.into_iter().for_each(|row| text += &format!("    {}\n", node(row)));
        text += "  }\n";
    }
    rows.iter().filter(|row| row.cycle.is_none()).for_each(|row| text += &format!("  {}\n", node(row)));
    let shown: BTreeSet<&SymbolName> = rows.iter().map(|row| &row.symbol).collect();
    for row in rows {
        let from = quoted(row.symbol.as_str());
        for to in row.calls.iter().filter(|to| shown.contains(to)) {
            text += &format!("  {from} -> {};\n", quoted(to.as_str()));
        }
        for to in row.address_taken.iter().filter(|to| shown.contains(to)) {
            text += &format!("  {from} -> {} [style=dashed];\n", quoted(to.as_str()));
        }
    }
    text + "}\n"
}

fn node(row: &Row) -> String {
    let name = row.symbol.as_str();
    format!("{} [label={}];", quoted(name), quoted(&format!("{name}\n{}", row.tier)))
}

/// A string of the DOT language, in which `
///
/// ` is a line break in a label.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(quoted("a\"; evil \\\n"), r#""a\"; evil \\\n""#);
    }
}
