//! The hidden gate: after the acceptance run, a candidate runs on inputs that no prompt can show. `fuzz::held_back` selects
//! them.

use crate::error::Result;
use crate::fuzz::campaign::{Budget, Campaign};
use crate::judge::proofs::Ran;
use crate::platform::process::Interrupt;
use crate::verdict::{Measured, RunStats, Verdict};
use std::path::PathBuf;

/// Runs the held-back inputs, after a run with this verdict; counterexamples stay in the folder `hidden`.
pub(super) fn run(
    campaign: &Campaign,
    hidden: PathBuf,
    budget: Budget,
    before: &Verdict,
    stop: &Interrupt,
    see: &mut dyn FnMut(&RunStats),
) -> Result<Verdict> {
    let part = |n: u64| (n / 4).max(1);
    let budget = Budget { seconds: part(budget.seconds), executions: budget.executions.map(part) };
    // C faults that the earlier run found are not new.
    let known = campaign.known_breaks.iter().flatten().chain(before.stats().broken.keys());
    let campaign = Campaign { known_breaks: Some(known.cloned().collect()), ..campaign.clone() };
    campaign.gate(budget, hidden, stop, see)
}

/// What stands of an acceptance run after the hidden gate. Drivers may go on with a candidate, but not with the verdict of
/// a run whose gate did not come to its end.
pub(super) fn with_gate(ran: Ran, gate: Option<Verdict>) -> Ran {
    match gate {
        Some(gate @ (Verdict::CFault { .. } | Verdict::Vacuous { .. })) => (gate, Measured::default()),
        Some(Verdict::Unrefuted(_) | Verdict::Refuted { .. }) | None => ran,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Share;

    #[test]
    fn a_gate_that_did_not_end_leaves_no_verdict_of_the_run_before_it() {
        let passed = || Verdict::Unrefuted(RunStats::default());
        let ran = || (passed(), Measured::Yes(Share { reached: 3, total: 3 }));
        let busy = Verdict::Vacuous { reason: "the machine is too busy".into(), stats: RunStats::default() };
        assert_eq!(with_gate(ran(), Some(busy.clone())), (busy, Measured::default()));
        assert_eq!((with_gate(ran(), Some(passed())), with_gate(ran(), None)), (ran(), ran()));
    }
}
