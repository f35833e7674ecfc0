//! The proofs that a port needs besides the campaign, the same for `verify` and `port`.

mod linked;

pub use linked::{Linked, refused, still_c};

use crate::error::{ErrorKind, Result};
use crate::event::Reporter;
use crate::fuzz::campaign::Campaign;
use crate::judge::Judge;
use crate::judge::coverage::Counting;
use crate::judge::mutation_score::{self, Adequacy};
use crate::platform::process::Interrupt;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolKey;
use crate::verdict::{Measured, Proofs, Share, Verdict};
use std::collections::BTreeMap;

/// The measurements that the proofs of some functions rest on.
#[derive(Debug)]
pub struct Grounds {
    worth: BTreeMap<SymbolKey, Adequacy>,
    /// The coverage build, or why coverage is not measured.
    counting: Measured<Counting>,
}

impl Grounds {
    /// Measures the harnesses of `judged` that have no stored measurement, and builds for coverage.
    pub fn lay(
        project: &Project,
        (judge, store): (&Judge, &mut Store),
        judged: &[&FunctionPlan],
        reporter: &mut dyn Reporter,
    ) -> Result<Self> {
        let worth = mutation_score::known(project, (judge, store), judged, reporter)?;
        let counting = match project.config.grade.measure && !judged.is_empty() {
            true => counting(judge, judged, reporter)?,
            false => Measured::default(),
        };
        Ok(Self { worth, counting })
    }

    /// The reason where C differs from itself, so that no port can be judged.
    pub fn differs(&self, planned: &FunctionPlan) -> Option<String> {
        let difference = self.worth.get(&planned.function.key)?.difference.as_ref()?;
        Some(format!("C differs from itself, so no port can be judged: {difference}"))
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
            (Measured::Yes(counting), Verdict::Unrefuted(_)) => counting.of_c(judge, planned)?,
            (Measured::No(why), Verdict::Unrefuted(_)) => Measured::No(why.clone()),
            (_, Verdict::Refuted { .. } | Verdict::CFault { .. } | Verdict::Vacuous { .. }) => {
                Measured::default()
            }
        };
        Ok(proofs)
    }
}

/// Builds for coverage. A Rust compiler with an unknown coverage format keeps ports from being verified, not from
/// being judged.
fn counting(
    judge: &Judge,
    judged: &[&FunctionPlan],
    reporter: &mut dyn Reporter,
) -> Result<Measured<Counting>> {
    match Counting::build(judge, judged, reporter) {
        Ok(counting) => Ok(Measured::Yes(counting)),
        Err(error) if error.kind() == ErrorKind::Environment => Ok(Measured::No(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Replays the inputs of an unrefuted run in isolation; returns the resulting verdict and the share of agreeing
/// inputs. Other verdicts stay as they are.
pub fn apart(
    campaign: &Campaign,
    verdict: Verdict,
    interrupt: &Interrupt,
) -> Result<(Verdict, Measured<Share>)> {
    let Verdict::Unrefuted(stats) = verdict else { return Ok((verdict, Measured::default())) };
    let apart = campaign.apart(interrupt)?;
    let verdict = match (&apart.finding, &apart.unfinished) {
        (Some(finding), _) => campaign.refuted(finding.clone().into(), stats, interrupt)?,
        (None, Some(reason)) if apart.agreed == 0 => {
            Verdict::Vacuous { reason: format!("in separate processes: {reason}"), stats }
        }
        (None, _) => Verdict::Unrefuted(stats),
    };
    Ok((verdict, apart.measured()))
}
