//! Runs one input on both sides: does it still show a difference?

use super::campaign::{Campaign, Subject};
use super::report::Found;
use crate::error::Result;
use crate::platform::process::{Interrupt, Limits, time_limits};
use crate::verdict::{Finding, FindingClass};
use fs_err as fs;
use std::time::Duration;

/// The result of running one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once {
    Same,
    /// The C original, or the contract, rejects it: it says nothing.
    Rejected(String),
    Differs(Finding),
}

impl Campaign {
    /// Whether a port that was too slow, or took too much memory, is none to blame: the C original rejects the input when it is
    /// asked again, or both sides together stay within the processor time of one call and the memory, and it was the machine
    /// that was slow, or what C left behind on many inputs before.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub(super) fn is_inconclusive(&self, finding: &Finding, interrupt: &Interrupt) -> Result<bool> {
        let is_limit =
            |found: &Finding| matches!(found.class, FindingClass::Timeout | FindingClass::OutOfMemory);
        if !is_limit(finding) {
            return Ok(false);
        }
        if !self.artifact().exists() {
            // No call took too long or too much: the whole process did, which had no processor, or was ended by somebody else.
            return Ok(true);
        }
        if finding.oracle.iter().any(|(name, _)| name == "rejected") {
            return Ok(true);
        }
        let path = self.work.join("slow-input");
        fs::write(&path, &finding.input)?;
        let seconds = self.call_timeout_seconds();
        let limits = Limits { cpu_seconds: Some(seconds), file_size: Some(64 << 20), no_core: true };
        let wall = seconds * 12;
        let job = self.watched(&self.artifact()).arg(format!("-timeout={wall}")).arg(&path).limits(limits);
        let (output, told) = self.listen(
            job.timeout(Duration::from_secs(wall) + time_limits::BEYOND_CALL),
            interrupt,
            &mut |_| (),
        )?;
        if told.done && output.exit.success() && told.found.is_none() {
            return Ok(true);
        }
        // C alone may be what takes so much.
        let alone = Campaign { subject: Subject::Original, ..self.clone() };
        Ok(matches!(alone.once(&finding.input, interrupt)?, Once::Differs(found) if is_limit(&found)))
    }

    /// Runs one input, as it is, through both sides.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn once(&self, input: &[u8], interrupt: &Interrupt) -> Result<Once> {
        fs::create_dir_all(&self.work)?;
        let path = self.work.join(format!("replayed-{}", &crate::digest::sha256(input)[..16]));
        fs::write(&path, input)?;
        let artifact = self.artifact();
        drop(fs::remove_file(&artifact));
        let job = self.watched(&artifact).env("IMPLFUZZ_SHRINK_MS", "0").arg(&path);
        let seconds = self.call_timeout_seconds();
        let (output, mut told) = self.listen(
            job.timeout(Duration::from_secs(seconds) + time_limits::BEYOND_CALL),
            interrupt,
            &mut |_| (),
        )?;
        drop(fs::remove_file(&path));
        if let Some(Found { smallest: finding, .. }) = told.found.take() {
            return Ok(Once::Differs(finding));
        }
        if !(told.done && output.exit.success() && told.stats.executions > 0) {
            // libFuzzer keeps no copy of an input that it was given as a file.
            fs::write(&artifact, input)?;
            return Ok(Once::Differs(self.irregular(&output, &told, interrupt)?));
        }
        Ok(match told.stats.rejected.into_iter().next() {
            Some((reason, _)) => Once::Rejected(reason),
            None => Once::Same,
        })
    }
}
