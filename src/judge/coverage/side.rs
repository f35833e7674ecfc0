//! The coverage of one side of a function: the parts that ran, and those that did not, with their source text.

use crate::error::Result;
use crate::fuzz::coverage::Reached;
use crate::fuzz::coverage::mapping::Span;
use crate::fuzz::coverage_replay::Inputs;
use crate::project::FunctionPlan;
use crate::rust::signature::ident;
use crate::rust::splice::take_apart;
use crate::verdict::{self, Share};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::Path;

/// The coverage of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Side {
    Measured(Covered),
    /// The coverage is unknown, with the reason.
    Unmeasured {
        why: String,
    },
}

/// The coverage of a side that was entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The number of calls of the function.
    pub entered: u64,
    pub lines: Share,
    /// Of C: the outcomes of its conditions, true and false.
    pub branches: Option<Share>,
    /// Of Rust, because stable Rust reports no branches: blocks that run entirely or not at all.
    pub blocks: Option<Share>,
    pub missed: Vec<Missed>,
}

/// A place that no input reached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missed {
    pub line: u32,
    pub column: u32,
    /// The source text.
    pub code: String,
    /// The condition belongs to a macro used here.
    pub in_macro: bool,
    /// The outcome that never occurred.
    pub way: Way,
    /// The compiler proves that it cannot occur, so no share counts it.
    #[serde(default)]
    pub impossible: bool,
}

/// A possible outcome of a piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The condition holds; a `case` is taken.
    True,
    False,
    Run,
}

impl Side {
    /// The share that counts as proof: branches, else blocks; for a C function without branches, its lines. A share
    /// of zero items proves nothing.
    pub fn share(&self) -> verdict::Measured<Share> {
        match self {
            Self::Unmeasured { why } => verdict::Measured::No(why.clone()),
            Self::Measured(c) => {
                let share = c.branches.or(c.blocks).filter(|share| share.total > 0);
                verdict::Measured::Yes(share.unwrap_or(c.lines))
            }
        }
    }
}

/// The coverage of the C side.
pub fn of_c(reached: Option<Reached>, inputs: Inputs, file: &Path) -> Result<Side> {
    let Some(reached) = reached else { return Ok(not_entered(inputs)) };
    // C files need not be UTF-8.
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let (branches, lines) = (reached.branch_share(), reached.line_share());
    let mut missed = Vec::new();
    for branch in &reached.branches {
        let (held, failed) = branch.removed;
        for (way, count, impossible) in [(Way::True, branch.held, held), (Way::False, branch.failed, failed)]
        {
            if count == Some(0) || impossible {
                let place = Missed::at(branch.span, &text, way);
                missed.push(Missed { in_macro: branch.in_macro, impossible, ..place });
            }
        }
    }
    if branches.total == 0 {
        let lines = reached.lines.iter().filter(|(_, count)| **count == 0);
        let whole = |line: u32| Span { start: (line, 1), end: (line + 1, 1) };
        missed.extend(lines.map(|(line, _)| Missed::at(whole(*line), &text, Way::Run)));
    }
    missed.sort();
    Ok(Side::Measured(Covered {
        entered: reached.entered,
        lines,
        branches: Some(branches),
        blocks: None,
        missed,
    }))
}

/// The coverage of the port.
pub fn of_rust(reached: Option<Reached>, inputs: Inputs, file: &Path) -> Result<Side> {
    let Some(reached) = reached else { return Ok(not_entered(inputs)) };
    let text = fs::read_to_string(file)?;
    let never = reached.blocks.iter().filter(|block| block.count == 0);
    let mut missed: Vec<Missed> = never.map(|block| Missed::at(block.span, &text, Way::Run)).collect();
    missed.sort();
    Ok(Side::Measured(Covered {
        entered: reached.entered,
        lines: reached.line_share(),
        branches: None,
        blocks: Some(reached.block_share()),
        missed,
    }))
}

fn not_entered(inputs: Inputs) -> Side {
    let Inputs { replayed, accepted, returned, .. } = inputs;
    let why = format!(
        "it was never run to its end: of {replayed} inputs C returned from {accepted}, the port from {returned}"
    );
    Side::Unmeasured { why }
}

impl Missed {
    fn at(span: Span, text: &str, way: Way) -> Self {
        let (line, column) = span.start;
        Self { line, column, code: written(span, text), in_macro: false, way, impossible: false }
    }
}

/// The source text of a span, on its first line.
fn written(span: Span, text: &str) -> String {
    let line = text.lines().nth((span.start.0 as usize).saturating_sub(1)).unwrap_or_default();
    let from = (span.start.1 as usize).saturating_sub(1);
    let is_one_line = span.end.0 == span.start.0;
    let to = if is_one_line { (span.end.1 as usize).saturating_sub(1) } else { line.len() };
    // A column inside a character was counted in other units; then the whole line is shown.
    let code = line.get(from..to).unwrap_or(line).trim().to_owned();
    let goes_on = !is_one_line && text.lines().nth(span.start.0 as usize).is_some() && span.end.1 > 1;
    if goes_on { format!("{code} …") } else { code }
}

/// The lines of a port and of the private items that it reaches.
pub fn lines_of(planned: &FunctionPlan, module: &str) -> Vec<RangeInclusive<u32>> {
    let (own, _) = take_apart(module, &ident(&planned.function).to_string());
    let lines = (1..).zip(own.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, _)| number..=number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_shown_as_it_is_written() {
        let text = "if (a > 3\n    && b)\n\"é\" x\n";
        let span = |start, end| Span { start, end };
        assert_eq!(written(span((1, 5), (1, 10)), text), "a > 3");
        assert_eq!(written(span((1, 5), (2, 9)), text), "a > 3 …");
        assert_eq!(written(span((1, 1), (2, 1)), text), "if (a > 3");
        // Inside a character.
        assert_eq!(written(span((3, 3), (3, 4)), text), "\"é\" x");
        assert_eq!(written(span((9, 1), (9, 4)), text), "");
    }

    #[test]
    fn without_branches_the_lines_count() {
        let side = |branches, lines| {
            let lines = Share { reached: lines, total: 2 };
            let branches = Some(Share { reached: 1, total: branches });
            Side::Measured(Covered { entered: 1, lines, branches, blocks: None, missed: vec![] })
        };
        assert_eq!(side(4, 2).share().value(), Some(&Share { reached: 1, total: 4 }));
        assert_eq!(side(0, 2).share().value(), Some(&Share { reached: 2, total: 2 }));
        let none = Side::Unmeasured { why: "it is a stub".into() };
        assert_eq!(none.share(), verdict::Measured::No("it is a stub".into()));
    }

    #[test]
    fn both_states_come_back_from_json() {
        let lines = Share { reached: 1, total: 2 };
        let code = "x".to_owned();
        let missed =
            vec![Missed { line: 1, column: 2, code, in_macro: true, way: Way::True, impossible: false }];
        let measured = Covered { entered: 1, lines, branches: None, blocks: Some(lines), missed };
        for side in [Side::Measured(measured), Side::Unmeasured { why: "w".into() }] {
            let text = serde_json::to_string(&side).unwrap();
            assert_eq!(serde_json::from_str::<Side>(&text).unwrap(), side, "{text}");
        }
    }
}
