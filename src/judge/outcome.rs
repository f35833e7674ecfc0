//! What a port turned out to be worth, as it is stored.

use crate::config::Grades;
use crate::evidence::grade;
use crate::project::FunctionPlan;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Proofs, RunStats, Verdict};

/// What a port turned out to be worth.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub grade: Grade,
    /// What keeps the grade from being better.
    pub shortcomings: Vec<String>,
    pub stats: RunStats,
    pub proofs: Proofs,
}

impl Outcome {
    /// A grade that needs no run.
    pub fn without_run(grade: Grade, reason: String) -> Self {
        Self { grade, shortcomings: vec![reason], stats: RunStats::default(), proofs: Proofs::default() }
    }

    /// What follows from a run and from what else is known.
    pub fn of(
        verdict: &Verdict,
        proofs: Proofs,
        (callees_in_c, planned): (&[SymbolName], &FunctionPlan),
        asked: &Grades,
    ) -> Self {
        let proposed_by = planned.judgeable.contract().and_then(|contract| contract.proposed_by.as_deref());
        let stats = verdict.stats().clone();
        let (grade, shortcomings) = match verdict {
            Verdict::Unrefuted(stats) => grade::grade(stats, &proofs, (callees_in_c, proposed_by), asked),
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

    /// The shortcomings in one line; nothing where there are none.
    pub fn reason(&self) -> Option<String> {
        (!self.shortcomings.is_empty()).then(|| self.shortcomings.join("; "))
    }
}
