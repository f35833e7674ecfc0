//! Runs the input of a finding again.

use super::Kept;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Reporter;
use crate::fuzz::confirm::Once;
use crate::fuzz::isolated_replay::PRECONDITION;
use crate::judge::Judge;
use crate::store::Side;
use crate::verdict::CFault;

/// The result of replaying a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// For a finding about a port.
    Port(Once),
    /// For a finding about C: the C fault, if it still occurs.
    C(Option<CFault>),
}

/// Replays a finding's input: through the C original and the port in the tree, or, for a finding about C, through
/// the original alone.
///
/// # Errors
/// `Usage` if the function no longer has a port or harness.
pub fn replay(judge: &Judge, kept: &Kept, reporter: &mut dyn Reporter) -> Result<Again> {
    let planned = judge.project.find(kept.symbol.as_str())?;
    let (input, interrupt) = (&kept.row.finding.input, judge.interrupt);
    if let Some(place) = &kept.row.finding.place {
        let found = judge.again_in_place(planned, (place, input), reporter)?;
        return Ok(Again::Port(found.map_or(Once::Same, Once::Differs)));
    }
    if kept.row.side == Side::Port {
        let binary = judge.by_hand(planned, reporter)?;
        let campaign = judge.campaign(&binary, planned);
        let once = campaign.once(input, interrupt)?;
        if once != Once::Same {
            return Ok(Again::Port(once));
        }
        // Both sides in one process may hide what differs.
        let alone = campaign.differs_alone(input, interrupt)?;
        return Ok(Again::Port(match alone {
            None => Once::Same,
            // C may differ from itself in two processes.
            Some(_) if campaign.c_alone(input, interrupt)?.is_some() => {
                Once::Rejected("C differs from itself on it".to_owned())
            }
            Some(finding) => Once::Differs(finding),
        }));
    }
    if planned.judgeable.contract().is_none() {
        let text = format!("`{}` has no harness any more", kept.symbol);
        return Err(Error::new(ErrorKind::Usage, text)
            .help(format!("`cargo implfuzz contract {}` shows why", kept.symbol)));
    }
    let binary = judge.harnesses(&[planned], reporter)?;
    let campaign = judge.campaign(&binary, planned);
    if campaign.is_ruled_out(input, interrupt)? {
        return Ok(Again::Port(Once::Rejected(PRECONDITION.into())));
    }
    campaign.c_alone(input, interrupt).map(Again::C)
}
