//! A campaign: a target, its inputs and limits, and a budget. `run_campaign` runs it.

use super::c_code::CCode;
use crate::fuzz::held_back::HeldBack;
use crate::symbol::SymbolName;
use crate::verdict::RunStats;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The limits of a run; the first one that is reached ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub seconds: u64,
    pub executions: Option<u64>,
}

impl Budget {
    /// Whether a run with this budget is at least as long as one with the other.
    pub fn covers(&self, other: &Self) -> bool {
        let is_enough = match (self.executions, other.executions) {
            (None, _) => true,
            (Some(own), Some(asked)) => own >= asked,
            (Some(_), None) => false,
        };
        self.seconds >= other.seconds && is_enough
    }

    /// The two processes of a campaign: three quarters of the budget plain, one with value profiles, which solve
    /// chains of comparisons.
    pub(super) fn legs(&self) -> [Leg; 2] {
        [self.quarters(3), Leg { flags: &["-use_value_profile=1"], ..self.quarters(1) }]
    }

    /// `n` quarters of the budget, for one process.
    pub(super) fn quarters(&self, n: u64) -> Leg {
        let millis = (self.seconds * 1000 * n / 4).max(1);
        let executions = self.executions.map(|all| (all * n / 4).max(1));
        Leg { time: Duration::from_millis(millis), executions, known: Known::All, flags: &[] }
    }
}

/// The limits of one process; the first one that is reached ends it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    pub(super) time: Duration,
    pub(super) executions: Option<u64>,
    pub(super) known: Known,
    /// Further flags of libFuzzer.
    pub(super) flags: &'static [&'static str],
}

/// Which of the existing inputs a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// All, even beyond the time limit.
    All,
    InTime,
}

impl From<Budget> for Leg {
    fn from(budget: Budget) -> Self {
        budget.quarters(4)
    }
}

/// The set of boundary inputs that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Usual,
    /// Lengths beyond the contract's inferred `max`.
    Long,
}

/// A target and how it is run.
#[derive(Debug, Clone)]
pub struct Campaign {
    pub binary: PathBuf,
    pub target: SymbolName,
    /// A directory for this target only: corpus, boundary inputs, artifact.
    pub work: PathBuf,
    /// Directories of inputs from earlier findings.
    pub regressions: Vec<PathBuf>,
    pub seed: u32,
    pub max_len: u64,
    /// Lengths to use in boundary inputs, the most important first.
    pub literals: Vec<usize>,
    pub call_timeout_ms: u64,
    pub rss_limit_mb: u64,
    pub subject: Subject,
    /// The variables of the library that the harness compares and puts back, by their names in `globals`. A port may change
    /// no others.
    pub compared: Vec<String>,
    /// Whether C asks the operating system for more than memory, so that the port may, too.
    pub asks_system: bool,
    /// Boundary inputs to leave out.
    pub held_back: Option<HeldBack>,
    /// Known C faults; new ones are examined after the run. `None`: no examination.
    pub known_breaks: Option<BTreeSet<String>>,
    /// The binary has the port as it ships; the port runs there without this code.
    pub shipped: Option<CCode>,
}

/// What the C original is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Port,
    /// Nothing, for replays of the original alone.
    Nobody,
    /// The original again.
    Original,
    /// Mutants, without those whose numbers are in `skipped`; the process writes the running one's number to the
    /// file `current`.
    Mutants {
        of: Mutated,
        skipped: String,
        current: PathBuf,
    },
}

/// What the mutants are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutated {
    Original,
    Port,
}

/// The quarantine is small, so accesses to a freed block are detected only for about one more call, and
/// allocation stacks are not recorded: a large quarantine and stacks would cost more than all other checks of
/// the C original together. The redzones are large, so that C does not write across them into another argument and
/// go on: a right port would differ from that. A process that computes may not start the program that finds names.
pub const ASAN_OPTIONS: &str = "detect_leaks=0:symbolize=0:exitcode=86:redzone=1024:allocator_may_return_null=1:detect_stack_use_after_return=0:detect_odr_violation=0:quarantine_size_mb=1:malloc_context_size=0";

/// The combined statistics of two runs of one campaign.
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
        in_place: a.in_place + b.in_place,
        space: None,
        broken: a.broken.iter().chain(&b.broken).map(|(why, input)| (why.clone(), input.clone())).collect(),
        c_faults: Vec::new(),
        replay_millis: 0,
        shipped_millis: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_to_the_millisecond() {
        let budget = Budget { seconds: 1, executions: Some(10) };
        let legs = budget.legs();
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
