//! The proofs that a port needs besides the campaign, the same for `verify` and `port`.

mod linked;
mod shipped;

pub use linked::{Linked, refused, still_c};
pub use shipped::AsShipped;

use crate::error::{ErrorKind, Result};
use crate::fuzz::campaign::Campaign;
use crate::fuzz::isolated_replay::Shipped;
use crate::judge::coverage::{Counting, Sides};
use crate::judge::mutation_score::Adequacy;
use crate::judge::{Judge, Judging};
use crate::platform::process::Interrupt;
use crate::project::FunctionPlan;
use crate::symbol::SymbolKey;
use crate::verdict::{Measured, Proofs, Share, Verdict};
use std::collections::BTreeMap;

/// The measurements that the proofs of some functions rest on.
#[derive(Debug, Default)]
pub struct Grounds {
    worth: BTreeMap<SymbolKey, Adequacy>,
    /// The build that counts the coverage of C and has the ports as they ship, or why there is none. `None` where grades
    /// are not measured.
    counting: Option<Measured<Counting>>,
}

impl Grounds {
    /// Measures the harnesses of `judged` that have no stored measurement, and builds for coverage.
    pub fn lay(judging: &mut Judging, judged: &[&FunctionPlan]) -> Result<Self> {
        let worth = judging.adequacy(judged)?;
        let is_measured = judging.judge.project.config.grade.measure && !judged.is_empty();
        if !is_measured {
            return Ok(Self { worth, counting: None });
        }
        // A Rust compiler with an unknown coverage format keeps ports from being verified, not from being judged.
        let counting = match Counting::build(judging.judge, judged, Sides::C, judging.reporter) {
            Ok(counting) => Measured::Yes(counting),
            Err(error) if error.kind() == ErrorKind::Environment => Measured::No(error.to_string()),
            Err(error) => return Err(error),
        };
        Ok(Self { worth, counting: Some(counting) })
    }

    /// Why the harness of a function can judge no port.
    pub fn unsound(&self, planned: &FunctionPlan) -> Option<String> {
        let why = self.worth.get(&planned.function.key)?.unsound(planned.edited)?;
        Some(format!("its harness can judge no port: {why}"))
    }

    /// The measurement of a function's harness.
    pub fn adequacy(&self, planned: &FunctionPlan) -> Option<&Adequacy> {
        self.worth.get(&planned.function.key)
    }

    /// The proofs of a port after the run with this verdict.
    pub fn proofs(&self, judge: &Judge, planned: &FunctionPlan, verdict: &Verdict) -> Result<Proofs> {
        let mut proofs = Proofs::default();
        if let Some(adequacy) = self.worth.get(&planned.function.key) {
            proofs.kills = adequacy.kills();
        }
        proofs.branches = match (&self.counting, verdict) {
            (_, Verdict::Unrefuted(stats)) if stats.space.is_some() => {
                Measured::No("every input was run".into())
            }
            (Some(Measured::Yes(counting)), Verdict::Unrefuted(_)) => counting.of_c(judge, planned)?,
            (Some(Measured::No(why)), Verdict::Unrefuted(_)) => Measured::No(why.clone()),
            (None, _) | (_, Verdict::Refuted { .. } | Verdict::CFault { .. } | Verdict::Vacuous { .. }) => {
                Measured::default()
            }
        };
        Ok(proofs)
    }
}

/// The verdict of a run with its isolated replay, and the share of agreeing inputs.
pub type Ran = (Verdict, Measured<Share>);

/// Replays the inputs of an unrefuted run in isolation, with the port as it ships if grades are measured. Other verdicts
/// stay as they are.
pub(super) fn apart(
    (campaign, shipped): (&Campaign, Option<&Measured<Shipped>>),
    verdict: Verdict,
    interrupt: &Interrupt,
) -> Result<Ran> {
    let Verdict::Unrefuted(mut stats) = verdict else { return Ok((verdict, Measured::default())) };
    let mut apart = campaign.apart(shipped.and_then(Measured::value), interrupt)?;
    (stats.replay_millis, stats.shipped_millis) = (apart.millis, apart.shipped_millis);
    if let Some(Measured::No(why)) = shipped {
        apart.unfinished.get_or_insert_with(|| format!("the port as it ships: {why}"));
    }
    let verdict = match (&apart.finding, &apart.unfinished) {
        (Some(finding), _) => campaign.refuted(finding.clone().into(), stats, interrupt)?,
        (None, Some(reason)) if apart.agreed == 0 => {
            Verdict::Vacuous { reason: format!("in separate processes: {reason}"), stats }
        }
        (None, _) => Verdict::Unrefuted(stats),
    };
    Ok((verdict, apart.measured()))
}
