//! The outcome of judging a port, as it is stored.

use super::in_place::{DriversUsed, Joined};
use crate::config::Grades;
use crate::evidence::grade::{self, Beside};
use crate::in_place::outside::left;
use crate::project::FunctionPlan;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Proofs, RunStats, Verdict};

/// What became of the harness of a function in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Harness {
    Missing,
    Judged,
    /// It can judge no port, whatever that does.
    Unsound(String),
    /// A run of the port did not come to an end, or met a fault of C.
    Stopped(String),
}

impl Harness {
    /// After a run with this verdict.
    pub fn after(verdict: &Verdict, planned: &FunctionPlan, place: &Joined) -> Self {
        match verdict {
            _ if planned.judgeable.contract().is_none() => Self::Missing,
            Verdict::CFault { found, .. } => Self::Stopped(found.kind.told().to_owned()),
            Verdict::Vacuous { .. } if let Some(why) = &place.unsound => Self::Unsound(why.clone()),
            Verdict::Vacuous { reason, .. } => Self::Stopped(reason.clone()),
            Verdict::Unrefuted(_) | Verdict::Refuted { .. } => Self::Judged,
        }
    }
}

/// The outcome of judging a port.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub grade: Grade,
    /// The reasons why the grade is not better.
    pub shortcomings: Vec<String>,
    pub stats: RunStats,
    pub proofs: Proofs,
    /// The drivers that the grade rests on, too.
    pub drivers: DriversUsed,
}

/// What is known of a function without a run.
pub fn beside<'a>(planned: &'a FunctionPlan, callees_in_c: &'a [SymbolName]) -> Beside<'a> {
    let contract = planned.judgeable.contract();
    let proposed_by = contract.and_then(|contract| contract.proposed_by.as_deref());
    Beside { callees_in_c, proposed_by, volatile: planned.function.volatile }
}

impl Outcome {
    /// An outcome that needs no run.
    pub fn without_run(grade: Grade, reason: String) -> Self {
        let (stats, proofs) = (RunStats::default(), Proofs::default());
        Self { grade, shortcomings: vec![reason], stats, proofs, drivers: DriversUsed::default() }
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
        let stats = verdict.stats().clone();
        let (grade, shortcomings) = match verdict {
            Verdict::Unrefuted(stats) => grade::grade(stats, &proofs, beside(planned, callees_in_c), asked),
            Verdict::Refuted { finding, .. } => {
                (Grade::Refuted, vec![format!("{}: {}", finding.class, finding.what)])
            }
            Verdict::CFault { found, .. } => {
                (Grade::Unverifiable, vec![format!("{}: {}", found.kind.told(), found.finding.what)])
            }
            Verdict::Vacuous { reason, .. } => (Grade::Unverifiable, vec![reason.clone()]),
        };
        Self { grade, shortcomings, stats, proofs, drivers: DriversUsed::default() }
    }

    /// The same, but weak, for one more reason.
    #[must_use]
    pub fn weak(self, why: String) -> Self {
        let shortcomings = self.shortcomings.into_iter().chain([why]).collect();
        Self { grade: Grade::Weak, shortcomings, ..self }
    }

    /// With what drivers' executions say of the port. Evidence adds up; and where that of drivers is enough alone, no
    /// contract matters.
    #[must_use]
    pub fn with_place(self, place: &Joined, (known, harness): (Beside, &Harness), asked: &Grades) -> Self {
        let evidence = place.evidence;
        if let Some(finding) = evidence.finding.as_ref().filter(|_| self.grade != Grade::Refuted) {
            let shortcomings = vec![format!("{}: {}", finding.class, finding.what)];
            return Self { grade: Grade::Refuted, shortcomings, drivers: evidence.drivers.clone(), ..self };
        }
        if let Some(why) = &evidence.unclear {
            let shortcomings = self.shortcomings.into_iter().chain([why.clone()]).collect();
            let (grade, drivers) = (self.grade.min(Grade::Weak), evidence.drivers.clone());
            return Self { grade, shortcomings, drivers, ..self };
        }
        if let Some(how) = evidence.broke.as_ref().filter(|_| self.grade == Grade::Unverifiable) {
            let why = format!("a driver's run ended early: {how}");
            return Self { shortcomings: self.shortcomings.into_iter().chain([why]).collect(), ..self };
        }
        // Without a difference, only a grade that lacks something can become better.
        if evidence.calls == 0 || !matches!(self.grade, Grade::Weak | Grade::Unverifiable) {
            return self;
        }
        let graded = |stats: &RunStats, proofs: Proofs, known: Beside| {
            let stats = RunStats { in_place: evidence.calls, ..stats.clone() };
            let (mut grade, mut shortcomings) = grade::grade(&stats, &proofs, known, asked);
            // The author of a port may know the kept inputs.
            if evidence.without_new {
                grade = grade.min(Grade::Weak);
                shortcomings
                    .push("no new input of a driver reaches it: it was judged on the kept ones alone".into());
            }
            Self { grade, shortcomings, stats, proofs, drivers: evidence.drivers.clone() }
        };
        let mut alone =
            graded(&RunStats::default(), evidence.proofs(), Beside { proposed_by: None, ..known });
        // No harness judges what a port does in calls that leave the process.
        if let Some(outside) = &evidence.outside {
            alone.grade = alone.grade.min(Grade::Weak);
            alone.shortcomings.push(format!("some calls of C are not judged: {}", left(outside)));
        }
        if self.grade == Grade::Unverifiable {
            match harness {
                Harness::Missing | Harness::Judged => {}
                Harness::Unsound(why) => alone.shortcomings.push(format!("drivers judge it alone: {why}")),
                // A port may bring this about, so that the harness does not get to what would refute it.
                Harness::Stopped(why) => {
                    alone.grade = alone.grade.min(Grade::Weak);
                    alone
                        .shortcomings
                        .push(format!("drivers judge it alone, because its harness was stopped: {why}"));
                }
            }
            return alone;
        }
        let joined = graded(&self.stats, place.proofs.clone(), known);
        if alone.grade > joined.grade { alone } else { joined }
    }

    /// The shortcomings in one line; `None` if there are none.
    pub fn reason(&self) -> Option<String> {
        (!self.shortcomings.is_empty()).then(|| self.shortcomings.join("; "))
    }
}
