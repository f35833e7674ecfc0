//! Runs one libFuzzer process with its limits, and interprets its exit.

use super::campaign::{Campaign, Known, Leg, sum};
use super::report::{Found, Told};
use super::sanitizer_report::function_at;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Exit, Interrupt, Job, Output, time_limits};
use crate::verdict::{Finding, FindingClass, RunStats};
use fs_err as fs;
use std::path::Path;

/// How a process ended, after another run if time or memory ran out.
pub(super) enum Ended {
    Regular,
    Found(Box<Found>),
    /// It ended early, also with another seed, but the last input stays within both limits when it runs
    /// alone.
    Nothing(Box<Finding>),
}

impl Campaign {
    /// Runs a process; if its end says nothing about the port, runs it again with another seed.
    pub(super) fn leg_looked_at(
        &self,
        leg: Leg,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<(RunStats, Ended)> {
        let mut total = RunStats { seed: self.seed, ..RunStats::default() };
        let mut ended = Ended::Regular;
        for seed in [self.seed, self.seed.wrapping_add(1)] {
            let before = total.clone();
            let mut watch = |stats: &RunStats| see(&sum(&before, stats));
            let (stats, found) = self.leg(leg, seed, interrupt, &mut watch)?;
            total = sum(&before, &stats);
            let Some(found) = found else { return Ok((total, Ended::Regular)) };
            if !self.is_inconclusive(&found.smallest, interrupt)? {
                return Ok((total, Ended::Found(Box::new(found))));
            }
            ended = Ended::Nothing(Box::new(found.smallest));
        }
        Ok((total, ended))
    }

    fn leg(
        &self,
        leg: Leg,
        seed: u32,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<(RunStats, Option<Found>)> {
        let (output, mut told) = self.run(leg, seed, interrupt, see)?;
        let regular = told.done
            && output.exit.success()
            && (leg.executions.is_some_and(|n| told.stats.executions >= n) || output.elapsed >= leg.time);
        let found = match told.found.take() {
            Some(found) => Some(found),
            None if regular => None,
            None => Some(self.irregular(&output, &told, interrupt)?.into()),
        };
        Ok((told.stats, found))
    }

    /// Runs libFuzzer to its end and reads its report.
    pub(super) fn run(
        &self,
        leg: Leg,
        seed: u32,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<(Output, Told)> {
        let artifact = self.artifact();
        drop(fs::remove_file(&artifact));
        let first = if leg.known == Known::All { self.known()? } else { 0 };
        let mut job = self
            .watched(&artifact)
            .args(leg.flags)
            .arg(format!("-seed={seed}"))
            .arg(format!("-max_len={}", self.max_len))
            .args(self.corpora())
            // libFuzzer's clock has a resolution of whole seconds, and runs one second too long.
            .env("IMPLFUZZ_RUN_MS", leg.time.as_millis().to_string())
            .env("IMPLFUZZ_FIRST", first.to_string())
            .timeout(leg.time + time_limits::BEYOND_CAMPAIGN);
        if let Some(executions) = leg.executions {
            job = job.arg(format!("-runs={executions}"));
        }
        let (output, mut told) = self.listen(job, interrupt, see)?;
        told.stats.millis = u64::try_from(output.elapsed.as_millis()).unwrap_or(u64::MAX);
        told.stats.edges = edges(&output.stderr_text());
        Ok((output, told))
    }

    /// libFuzzer with limits on memory and time. The input on which it ends the process is written to
    /// `artifact`.
    pub(super) fn watched(&self, artifact: &Path) -> Job {
        self.job()
            .arg(format!("-rss_limit_mb={}", self.rss_limit_mb))
            .arg(format!("-timeout={}", self.call_timeout_seconds()))
            .arg(format!("-exact_artifact_path={}", artifact.display()))
            .args(["-detect_leaks=0", "-print_funcs=0"])
    }

    /// Wall time limit for a call of the port: ten times the processor time that the guard allows the
    /// original. On a busy machine that may be too little, so `is_inconclusive` runs the input again.
    pub(super) fn call_timeout_seconds(&self) -> u64 {
        self.call_timeout_ms.div_ceil(100).max(10)
    }

    /// The finding for an end that the harness did not report: the port crashed, hung, used too much memory
    /// or exited.
    pub(super) fn irregular(&self, output: &Output, told: &Told, interrupt: &Interrupt) -> Result<Finding> {
        let artifact = self.artifact();
        if told.stats.executions == 0
            && output.report.is_empty()
            && !artifact.exists()
            && output.exit == Exit::Code(2)
        {
            let text = output.stderr_text();
            return Err(Error::new(
                ErrorKind::Internal,
                format!("the fuzz binary did not start: {}", text.trim()),
            ));
        }
        let class = match output.exit {
            Exit::Code(70) | Exit::TimedOut => FindingClass::Timeout,
            // SIGKILL comes from outside: the kernel when memory runs out, or a person.
            Exit::Code(71) | Exit::Signal(libc::SIGKILL) => FindingClass::OutOfMemory,
            Exit::Code(0) => FindingClass::SilentExit,
            _ if told.exit_in_port => FindingClass::SilentExit,
            _ => FindingClass::Abort,
        };
        let input = fs::read(&artifact).unwrap_or_default();
        let (args, oracle) = match artifact.exists() {
            true => self.show(&input, interrupt)?,
            false => Default::default(),
        };
        let what = match class {
            FindingClass::SilentExit => {
                "the process ended in the middle of the run, while the port was called".into()
            }
            FindingClass::Timeout => "the port does not return in time; the C original does".into(),
            FindingClass::OutOfMemory => "the port takes more memory than allowed".into(),
            _ => summary(&self.binary, &output.stderr_text(), interrupt),
        };
        Ok(Finding { class, what, input, args, oracle, subject: Vec::new(), place: None })
    }

    /// The number of inputs before the run; they run in any case, even beyond the time limit.
    fn known(&self) -> Result<u64> {
        let mut known = 0;
        for dir in self.corpora() {
            known += fs::read_dir(dir)?.count() as u64;
        }
        Ok(known)
    }
}

/// libFuzzer's last `cov:` value, for information only.
fn edges(stderr: &str) -> Option<u64> {
    stderr.lines().rev().find_map(|line| line.split("cov: ").nth(1)?.split_whitespace().next()?.parse().ok())
}

/// A one-line summary of a crash report, for people, with the function where it crashed.
pub(super) fn summary(program: &Path, stderr: &str, interrupt: &Interrupt) -> String {
    let said = reported(stderr).unwrap_or_else(|| "the port ended the process".to_owned());
    let line = stderr.lines().find(|line| line.contains("SUMMARY:")).filter(|_| !said.contains(" in "));
    match line.and_then(|line| function_at(program, line, interrupt)) {
        Some(function) => format!("{said} in {function}"),
        None => said,
    }
}

/// A crash report in one line; `None` without a report.
pub(super) fn reported(stderr: &str) -> Option<String> {
    let line = |mark: &str| stderr.lines().find(|line| line.contains(mark));
    let text = line("SUMMARY:").or_else(|| line("ERROR:"))?;
    let text = text.split("SUMMARY: ").last().unwrap_or(text).trim();
    // Remove parentheses, which contain paths of this machine and build ids.
    let mut depth = 0;
    let kept: String = text
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '(');
            let keep = depth == 0;
            depth -= i32::from(*c == ')');
            keep
        })
        .collect();
    Some(kept.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_coverage_figure_counts() {
        assert_eq!(edges("#1 NEW cov: 7 ft: 8\n#9 DONE   cov: 72 ft: 79 corp: 3/12b\nDone"), Some(72));
        assert_eq!(edges("nothing"), None);
    }

    #[test]
    fn a_crash_is_summed_up_without_paths() {
        let text = "x\nSUMMARY: AddressSanitizer: SEGV (/a/b+0x1) (BuildId: 2) in kit::f::h3\n";
        assert_eq!(
            summary(Path::new("/a/c"), text, &Interrupt::none()),
            "AddressSanitizer: SEGV in kit::f::h3"
        );
    }
}
