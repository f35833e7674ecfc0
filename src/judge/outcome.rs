//! The outcome of judging a port, as it is stored.

use crate::config::Grades;
use crate::evidence::grade;
use crate::project::FunctionPlan;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Proofs, RunStats, Verdict};

/// The outcome of judging a port.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub grade: Grade,
    /// The reasons why the grade is not better.
    pub shortcomings: Vec<String>,
    pub stats: RunStats,
    pub proofs: Proofs,
}

impl Outcome {
    /// An outcome that needs no run.
    pub fn without_run(grade: Grade, reason: String) -> Self {
        Self { grade, shortcomings: vec![reason], stats: RunStats::default(), proofs: Proofs::default() }
    }

    /// The outcome of a run with its proofs. `callees_in_c` are the functions that the port calls and that still run
    /// as C.
    pub fn of(
        verdict: &Verdict,
        proofs: Proofs,
        planned: &FunctionPlan,
        callees_in_c: &[SymbolName],
        asked: &Grades,
    ) -> Self {
        let proposed_by = planned.judgeable.contract().and_then(|contract| contract.proposed_by.as_deref());
        let stats = verdict.stats().clone();
        let (grade, shortcomings) = match verdict {
            Verdict::Unrefuted(stats) => grade::grade(stats, &proofs, callees_in_c, proposed_by, asked),
            Verdict::Refuted { finding, .. } => {
                (Grade::Refuted, vec![format!("{}: {}", finding.class, finding.what)])
            }
            Verdict::CFault { found, .. } => {
                (Grade::Unverifiable, vec![format!("{}: {}", found.kind.told(), found.finding.what)])
            }
            Verdict::Vacuous { reason, .. } => (Grade::Unverifiable, vec![reason.clone()]),
        };
        Self { grade, shortcomings, stats, proofs }
    }

    /// The shortcomings in one line; `None` if there are none.
    pub fn reason(&self) -> Option<String> {
        (!self.shortcomings.is_empty()).then(|| self.shortcomings.join("; "))
    }
}
