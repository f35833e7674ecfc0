//! Runs one input on both sides to check whether they still differ.

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
    /// The C original or the contract rejects the input, so it shows nothing.
    Rejected(String),
    Differs(Finding),
}

impl Campaign {
    /// Whether a timeout or out-of-memory finding says nothing about the port. That is so if the C original
    /// rejects the input when run again, or if both sides together stay within the processor time of one call
    /// and the memory limit: then the machine was slow, or memory that C leaked on earlier inputs was the
    /// cause. It is also so if C alone exceeds a limit.
    pub(super) fn is_inconclusive(&self, finding: &Finding, interrupt: &Interrupt) -> Result<bool> {
        let is_limit =
            |found: &Finding| matches!(found.class, FindingClass::Timeout | FindingClass::OutOfMemory);
        if !is_limit(finding) {
            return Ok(false);
        }
        if !self.artifact().exists() {
            // No single call exceeded a limit. The whole process did: it got no processor time, or was ended
            // from outside.
            return Ok(true);
        }
        if finding.oracle.iter().any(|(name, _)| name == "rejected") {
            return Ok(true);
        }
        let path = self.written("slow-input", &finding.input)?;
        let seconds = self.call_timeout_seconds();
        let limits = Limits {
            cpu_seconds: Some(seconds),
            file_size: Some(64 << 20),
            no_core: true,
            ..Limits::default()
        };
        let wall = seconds * 12;
        let job = self.watched(&self.artifact()).arg(format!("-timeout={wall}")).arg(&path).limits(limits);
        let job = job.timeout(Duration::from_secs(wall) + time_limits::BEYOND_CALL);
        let (output, told) = self.told(job, interrupt)?;
        if told.done && output.exit.success() && told.found.is_none() {
            return Ok(true);
        }
        // C alone may exceed the limit.
        let alone = Campaign { subject: Subject::Original, ..self.clone() };
        Ok(matches!(alone.once(&finding.input, interrupt)?, Once::Differs(found) if is_limit(&found)))
    }

    /// Runs one input unchanged on both sides.
    pub fn once(&self, input: &[u8], interrupt: &Interrupt) -> Result<Once> {
        let path = self.written(&format!("replayed-{}", &crate::digest::sha256(input)[..16]), input)?;
        let artifact = self.artifact();
        drop(fs::remove_file(&artifact));
        let job = self.watched(&artifact).env("IMPLFUZZ_SHRINK_MS", "0").arg(&path);
        let time = Duration::from_secs(self.call_timeout_seconds()) + time_limits::BEYOND_CALL;
        let (output, mut told) = self.told(job.timeout(time), interrupt)?;
        drop(fs::remove_file(&path));
        if let Some(Found { smallest: finding, .. }) = told.found.take() {
            return Ok(Once::Differs(finding));
        }
        if !(told.done && output.exit.success() && told.stats.executions > 0) {
            // libFuzzer does not copy an input that is given as a file.
            fs::write(&artifact, input)?;
            return Ok(Once::Differs(self.irregular(&output, &told, interrupt)?));
        }
        Ok(match told.stats.rejected.into_iter().next() {
            Some((reason, _)) => Once::Rejected(reason),
            None => Once::Same,
        })
    }
}
