//! How the ports of a run ended.

use crate::judge::Outcome;
use crate::judge::in_place::Evidence;
use crate::symbol::SymbolName;
use crate::verdict::{Finding, Grade, Measured, Share, Verdict};
use serde::Serialize;

/// A port that no run refuted.
#[derive(Debug)]
pub struct Accepted {
    /// The module's new text.
    pub module: String,
    /// The verdict of the acceptance run, and the share of the isolated replay.
    pub verdict: Verdict,
    pub apart: Measured<Share>,
    /// What drivers' executions say of it.
    pub in_place: Option<Evidence>,
    /// The functions of C that its compiled code reaches.
    pub reaches_c: Vec<SymbolName>,
    /// The author: a model's name, or c2rust.
    pub by: String,
}

/// An accepted port, and its grade.
#[derive(Debug)]
pub struct Graded {
    pub module: String,
    pub verdict: Verdict,
    pub outcome: Outcome,
    /// The grade of the port that it replaces.
    pub before: Grade,
    pub by: String,
}

/// The result of one function.
#[derive(Debug, Clone, Serialize)]
pub struct PortResult {
    pub symbol: SymbolName,
    pub end: End,
    /// Of an accepted port, or of an earlier port that was judged again.
    pub grade: Option<Grade>,
    /// Why the grade is not better.
    pub reason: Option<String>,
    pub executions: Option<u64>,
    /// Calls in drivers' executions in which it did what C does, where the grade rests on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place: Option<u64>,
    pub accept_rate: Option<f64>,
    pub callees_in_c: Vec<SymbolName>,
    /// All calls of the run about it, those outside of its port included: known when the run ends.
    pub calls: u64,
    pub tokens: u64,
    #[serde(skip)]
    pub finding: Option<Finding>,
}

/// The kind of end of a function's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Accepted in this run; the grade says how strong the evidence is.
    Accepted,
    /// It had a body before, which still holds.
    AlreadyPorted,
    /// It had a body before, which no longer holds. The body stays.
    NoLongerHolds,
    /// No harness can judge it yet.
    NotJudgeable,
    /// Given up; the tree is as it was.
    Failed,
    /// Given up because of a C fault: C crashes, hangs or disagrees with itself; the tree is as it was.
    #[serde(rename = "stopped-by-c")]
    CFault,
    /// Given up because the budget is exhausted; the tree is as it was.
    Budget,
    /// Not tried: the port of a function that it calls no longer holds, or was to be replaced and is not.
    Skipped,
}

impl PortResult {
    /// A result for a port outside the run's selection.
    pub fn untouched(symbol: SymbolName) -> Self {
        Self {
            symbol,
            end: End::AlreadyPorted,
            grade: None,
            reason: None,
            executions: None,
            in_place: None,
            accept_rate: None,
            callees_in_c: Vec::new(),
            calls: 0,
            tokens: 0,
            finding: None,
        }
    }
}

impl End {
    /// Whether nothing is left to do.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Accepted | Self::AlreadyPorted | Self::NotJudgeable)
    }

    /// Whether there is a port that this run made or judged.
    pub fn is_standing(self) -> bool {
        matches!(self, Self::Accepted | Self::AlreadyPorted | Self::NoLongerHolds)
    }

    /// The wording in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AlreadyPorted => "ported before",
            Self::NoLongerHolds => "no longer holds",
            Self::NotJudgeable => "not judged yet",
            Self::Failed => "failed",
            Self::CFault => "stopped by C",
            Self::Budget => "budget spent",
            Self::Skipped => "skipped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::supervisor::StopReason;
    use crate::verdict::CFaultKind;

    #[test]
    fn a_c_fault_has_the_words_that_programs_read() {
        assert_eq!(serde_json::to_value(End::CFault).unwrap(), "stopped-by-c");
        assert_eq!(serde_json::to_value(CFaultKind::Breaks).unwrap(), "c-breaks");
        assert_eq!(StopReason::CFault(CFaultKind::Hangs).word(), "c-hangs");
    }
}
