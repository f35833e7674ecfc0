//! The long part of a campaign: inputs with lengths beyond the contract's inferred `max`, such as 65,536. A
//! difference is the port's fault; inputs that are too long for C are ignored.

use super::campaign::{Budget, Campaign, Known, Leg, Written};
use super::libfuzzer_process::Ended;
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::verdict::{Finding, RunStats, Verdict};
use std::time::Duration;

/// Maximum time and number of executions; each input costs as much as a hundred others.
const MOST: Leg =
    Leg { time: Duration::from_secs(5), executions: Some(512), known: Known::InTime, flags: &[] };

impl Campaign {
    /// The verdict on a port, if it also passes long inputs.
    pub(super) fn also_on_long_inputs(
        &self,
        verdict: Verdict,
        budget: Budget,
        interrupt: &Interrupt,
    ) -> Result<Verdict> {
        let Verdict::Unrefuted(stats) = verdict else { return Ok(verdict) };
        Ok(match self.long_inputs(budget, interrupt)? {
            Some(finding) => Verdict::Refuted { finding, stats },
            None => Verdict::Unrefuted(stats),
        })
    }

    /// The finding from long inputs, if any, within at most a quarter of the budget.
    fn long_inputs(&self, budget: Budget, interrupt: &Interrupt) -> Result<Option<Box<Finding>>> {
        // Keep them out of the corpus, which coverage and isolated replay use.
        let own = Campaign { work: self.work.join("long"), regressions: Vec::new(), ..self.clone() };
        own.write_boundaries(Written::Long, interrupt)?;
        if !own.has_inputs() {
            return Ok(None);
        }
        let quarter = budget.quarters(1);
        let executions = quarter.executions.into_iter().chain(MOST.executions).min();
        let leg = Leg { time: quarter.time.min(MOST.time), executions, ..MOST };
        let (stats, ended) = own.leg_looked_at(leg, interrupt, &mut |_: &RunStats| ())?;
        let Ended::Found(found) = ended else { return Ok(None) };
        Ok(match own.refuted(*found, stats, interrupt)? {
            Verdict::Refuted { finding, .. } => Some(finding),
            Verdict::Unrefuted(_) | Verdict::CFault { .. } | Verdict::Vacuous { .. } => None,
        })
    }
}
