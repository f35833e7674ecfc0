//! A campaign: a target, its inputs and limits, and the budget of a run. `run_campaign` runs it.

use super::gate::HeldBack;
use crate::symbol::SymbolName;
use crate::verdict::RunStats;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// How long a run takes: whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub seconds: u64,
    pub executions: Option<u64>,
}

impl Budget {
    /// Whether a run of this budget is one of the other as well.
    pub fn covers(&self, other: &Self) -> bool {
        let is_enough = match (self.executions, other.executions) {
            (None, _) => true,
            (Some(own), Some(asked)) => own >= asked,
            (Some(_), None) => false,
        };
        self.seconds >= other.seconds && is_enough
    }

    /// So many quarters of it, for one process.
    pub(super) fn quarters(&self, n: u64) -> Leg {
        let millis = (self.seconds * 1000 * n / 4).max(1);
        let executions = self.executions.map(|all| (all * n / 4).max(1));
        Leg { time: Duration::from_millis(millis), executions, known: Known::All }
    }
}

/// How long one process runs: whichever comes first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    pub(super) time: Duration,
    pub(super) executions: Option<u64>,
    pub(super) known: Known,
}

/// Which of the inputs that are there before it a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// All, whatever time it takes.
    All,
    InTime,
}

impl From<Budget> for Leg {
    fn from(budget: Budget) -> Self {
        budget.quarters(4)
    }
}

/// Which boundary inputs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Usual,
    /// Beyond the contract's inferred `max`.
    Long,
}

/// A target and how it is run.
#[derive(Debug, Clone)]
pub struct Campaign {
    pub binary: PathBuf,
    pub target: SymbolName,
    /// A directory for this target alone: corpus, boundary seeds, artifact.
    pub work: PathBuf,
    /// Directories of inputs from earlier findings.
    pub regressions: Vec<PathBuf>,
    pub seed: u32,
    pub max_len: u64,
    /// Numbers that lengths of boundary inputs get, those that matter most first.
    pub literals: Vec<usize>,
    pub call_timeout_ms: u64,
    pub rss_limit_mb: u64,
    pub subject: Subject,
    /// Boundary inputs to leave out.
    pub held_back: Option<HeldBack>,
    /// Known ways in which C breaks: other ones are examined after the run. `None`: no examination.
    pub known_breaks: Option<BTreeSet<String>>,
}

/// The other side, compared with the C original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Port,
    /// Nothing: for replays on the original alone.
    Nobody,
    /// The original once more.
    Original,
    /// Mutants of the original, but for those with the `skipped` numbers; the file `current` says which one runs.
    Mutants {
        skipped: String,
        current: PathBuf,
    },
    /// Mutants of the port, likewise.
    PortMutants {
        skipped: String,
        current: PathBuf,
    },
}

/// A freed block is kept for a call or so, and where it was allocated is nobody's question: both cost more than all checks of
/// the C original together.
pub const ASAN_OPTIONS: &str = "detect_leaks=0:exitcode=86:allocator_may_return_null=1:detect_stack_use_after_return=0:detect_odr_violation=0:quarantine_size_mb=1:malloc_context_size=0";

/// Statistics of two runs of one campaign together.
pub(super) fn sum(a: &RunStats, b: &RunStats) -> RunStats {
    let mut rejected = a.rejected.clone();
    for (reason, n) in &b.rejected {
        match rejected.iter_mut().find(|(r, _)| r == reason) {
            Some((_, total)) => *total += n,
            None => rejected.push((reason.clone(), *n)),
        }
    }
    RunStats {
        executions: a.executions + b.executions,
        oracle_calls: a.oracle_calls + b.oracle_calls,
        subject_calls: a.subject_calls + b.subject_calls,
        rejected,
        millis: a.millis + b.millis,
        edges: a.edges.max(b.edges),
        seed: a.seed,
        space: None,
        broken: a.broken.iter().chain(&b.broken).map(|(why, input)| (why.clone(), input.clone())).collect(),
        c_faults: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_to_the_millisecond() {
        let budget = Budget { seconds: 1, executions: Some(10) };
        let legs = [budget.quarters(3), budget.quarters(1)];
        assert_eq!(legs.map(|leg| leg.time.as_millis()), [750, 250]);
        assert_eq!(legs.map(|leg| leg.executions), [Some(7), Some(2)]);
    }

    #[test]
    fn a_budget_covers_what_asks_for_no_more() {
        let budget = |seconds, executions| Budget { seconds, executions };
        assert!(budget(2, Some(9)).covers(&budget(2, Some(9))));
        assert!(budget(2, None).covers(&budget(1, Some(9))));
        assert!(!budget(1, None).covers(&budget(2, Some(9))));
        assert!(!budget(2, Some(9)).covers(&budget(2, Some(10))));
        assert!(!budget(9, Some(9)).covers(&budget(2, None)));
    }
}
