//! Runs a campaign: libFuzzer in a child process with limits, which reports its verdict over a pipe.
//! `libfuzzer_process` runs one process.

use super::campaign::{ASAN_OPTIONS, Budget, Campaign, Mutated, Subject, Written, sum};
use super::libfuzzer_process::Ended;
use super::report::{Parts, Told};
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::port_variables;
use crate::fuzz::values::json::hex;
use crate::platform::process::{Exit, Interrupt, Job, Kind, Limits, Output, Sandbox, Stream, time_limits};
use crate::verdict::{RunStats, Verdict};
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

impl Campaign {
    /// Runs with all boundary inputs, with counterexamples in `hidden` from earlier gates, and with another
    /// seed.
    pub fn gate(
        &self,
        budget: Budget,
        hidden: PathBuf,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Verdict> {
        let mut own = Campaign { held_back: None, seed: self.seed.wrapping_add(7), ..self.clone() };
        own.regressions.push(hidden);
        own.judge_with(None, budget, interrupt, see)
    }

    /// Fuzzes within the budget: boundary inputs and old counterexamples first, then mutation. A port that
    /// passes is then run on long inputs.
    pub fn judge(
        &self,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Verdict> {
        self.write_boundaries(Written::Usual, interrupt)?;
        let mut total = RunStats { seed: self.seed, ..RunStats::default() };
        for leg in budget.legs() {
            let before = total.clone();
            let mut watch = |stats: &RunStats| see(&sum(&before, stats));
            let (stats, ended) = self.leg_looked_at(leg, interrupt, &mut watch)?;
            total = sum(&before, &stats);
            match ended {
                Ended::Regular => {}
                Ended::Found(found) => return self.refuted(*found, total, interrupt),
                Ended::Nothing(finding) => {
                    if let Some(c_fault) = self.c_fault(&finding, interrupt)? {
                        return Ok(Verdict::CFault { found: Box::new(c_fault), stats: total });
                    }
                    let reason = "the C original itself breaks or hangs where the run ended, or the machine is too busy: narrow the contract, or allow more time";
                    return Ok(Verdict::Vacuous { reason: reason.into(), stats: total });
                }
            }
        }
        self.also_on_long_inputs(conclude(total), budget, interrupt)
    }

    /// Decodes an input and returns the C original's result.
    pub fn show(&self, input: &[u8], interrupt: &Interrupt) -> Result<(Parts, Parts)> {
        let job = self.job_on("show", "shown-input", input)?.timeout(time_limits::ONE_INPUT);
        let (_, told) = self.told(job, interrupt)?;
        Ok(told.shown.unwrap_or_default())
    }

    /// Runs libFuzzer on the user's terminal with the user's flags. Findings go to `artifacts`, unless the
    /// flags name another place.
    pub fn run_by_hand(&self, flags: &[String], artifacts: &Path, interrupt: &Interrupt) -> Result<Exit> {
        self.write_boundaries(Written::Usual, interrupt)?;
        fs::create_dir_all(artifacts)?;
        let own_corpus = flags.iter().any(|flag| !flag.starts_with('-'));
        let mut job = self.job().arg(format!("-max_len={}", self.max_len));
        job = job.arg(format!("-artifact_prefix={}/", artifacts.display())).args(flags).inherit();
        if !own_corpus {
            job = job.args(self.corpora());
        }
        Ok(job.run(interrupt)?.exit)
    }

    pub(super) fn write_boundaries(&self, written: Written, interrupt: &Interrupt) -> Result<()> {
        let corpus = self.corpus();
        if corpus.exists() {
            fs::remove_dir_all(&corpus)?;
        }
        fs::create_dir_all(&corpus)?;
        let all = self.all_boundaries();
        fs::create_dir_all(&all)?;
        let mode = match written {
            Written::Usual => "seeds",
            Written::Long => "long",
        };
        let literals: Vec<String> = self.literals.iter().map(usize::to_string).collect();
        let job = self.job().env("IMPLFUZZ_MODE", mode).env("IMPLFUZZ_PATH", &all);
        let output = job
            .env("IMPLFUZZ_LITERALS", literals.join(","))
            .timeout(time_limits::BOUNDARY_INPUTS)
            .run(interrupt)?;
        if output.exit == Exit::TimedOut {
            let text = format!(
                "the fuzz binary wrote no boundary inputs within {} s",
                time_limits::BOUNDARY_INPUTS.as_secs()
            );
            return Err(Error::new(ErrorKind::Internal, text));
        }
        if output.exit.success() {
            return self.held_back.as_ref().map_or(Ok(()), |held| held.link_others(&all, &self.boundaries()));
        }
        let text = output.stderr_text();
        Err(Error::new(ErrorKind::Internal, format!("the fuzz binary wrote no seeds: {}", text.trim())))
    }

    /// The input directories. libFuzzer writes to the first one.
    pub(super) fn corpora(&self) -> Vec<PathBuf> {
        let read = [self.boundaries()].into_iter().chain(self.regressions.iter().cloned());
        [self.corpus()].into_iter().chain(read.filter(|dir| dir.is_dir())).collect()
    }

    pub(super) fn artifact(&self) -> PathBuf {
        self.work.join("artifact")
    }

    pub(super) fn corpus(&self) -> PathBuf {
        self.work.join("corpus")
    }

    /// Boundary inputs of this run: all except held-back ones.
    pub(super) fn boundaries(&self) -> PathBuf {
        match self.held_back {
            Some(_) => self.work.join("boundaries-shown"),
            None => self.all_boundaries(),
        }
    }

    fn all_boundaries(&self) -> PathBuf {
        self.work.join("boundaries")
    }

    pub(super) fn job(&self) -> Job {
        drop(fs::create_dir_all(&self.work));
        let (side, mutants) = match &self.subject {
            Subject::Port => (None, None),
            Subject::Nobody => (Some("nobody"), None),
            Subject::Original => (Some("original"), None),
            Subject::Mutants { of, skipped, current } => {
                let side = if *of == Mutated::Port { "port-mutants" } else { "mutants" };
                (Some(side), Some((skipped, current)))
            }
        };
        let mut job = Job::new(&self.binary)
            .dir(&self.work)
            .clean_env()
            .env("IMPLFUZZ_TARGET", self.target.as_str())
            .env("IMPLFUZZ_CALL_MS", self.call_timeout_ms.to_string())
            .env("ASAN_OPTIONS", ASAN_OPTIONS)
            .env("IMPLFUZZ_VARIABLES", port_variables::file_of(&self.binary))
            .env("IMPLFUZZ_COMPARED", self.compared.join(" "))
            .limits(Limits { file_size: Some(64 << 20), no_core: true, ..Limits::default() })
            .sandbox(self.sandbox(Kind::Computation));
        if let Some(side) = side {
            job = job.env("IMPLFUZZ_SUBJECT", side);
        }
        if self.asks_system {
            job = job.env("IMPLFUZZ_SYSTEM_CALLS", "1");
        }
        if let Some((skipped, current)) = mutants {
            job = job.env("IMPLFUZZ_SKIP", skipped).env("IMPLFUZZ_CURRENT", current);
        }
        job
    }

    /// What the fuzz process may do.
    pub(super) fn sandbox(&self, kind: Kind) -> Sandbox {
        let read = self.regressions.iter().cloned().chain([port_variables::file_of(&self.binary)]);
        Sandbox::new(kind).read(read).write([&self.work])
    }

    /// The fuzz process in a mode in which it reads these bytes, from a file with this name.
    pub(super) fn job_on(&self, mode: &str, name: &str, bytes: impl AsRef<[u8]>) -> Result<Job> {
        Ok(self.job().env("IMPLFUZZ_MODE", mode).env("IMPLFUZZ_PATH", self.written(name, bytes)?))
    }

    /// Writes a file into the work directory.
    pub(super) fn written(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf> {
        fs::create_dir_all(&self.work)?;
        let path = self.work.join(name);
        fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Runs a fuzz process to its end and reads its report.
    pub(super) fn told(&self, job: Job, interrupt: &Interrupt) -> Result<(Output, Told)> {
        self.listen(job, interrupt, &mut |_| ())
    }

    /// The same; `see` gets the statistics on the way.
    pub(super) fn listen(
        &self,
        job: Job,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<(Output, Told)> {
        let nonce = nonce()?;
        let (mut told, mut line) = (Told::default(), Vec::new());
        let start = Instant::now();
        let output =
            job.env("IMPLFUZZ_NONCE", &nonce).with_report().run_with(interrupt, &mut |stream, bytes| {
                if stream != Stream::Report {
                    return;
                }
                for byte in bytes {
                    if *byte == b'\n' {
                        told.take(&line, &nonce);
                        line.clear();
                    } else {
                        line.push(*byte);
                    }
                }
                let millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
                see(&RunStats { millis, ..told.stats.clone() });
            })?;
        Ok((output, told))
    }
}

/// The verdict on a run without a finding. A run without executions is inconclusive.
pub(super) fn conclude(stats: RunStats) -> Verdict {
    let reason = if stats.executions == 0 {
        "nothing was executed".to_owned()
    } else if stats.oracle_calls == 0 {
        let why = stats.rejected.first().map_or("unknown", |(reason, _)| reason.as_str());
        format!(
            "the C original accepted none of {} inputs ({why}): the contract is wrong or too wide",
            stats.executions
        )
    } else if stats.subject_calls == 0 {
        "the port was never called".to_owned()
    } else {
        return Verdict::Unrefuted(stats);
    };
    Verdict::Vacuous { reason, stats }
}

fn nonce() -> Result<String> {
    use std::io::Read;
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_of_zero_is_never_a_pass() {
        let stats = |executions, oracle_calls, subject_calls| RunStats {
            executions,
            oracle_calls,
            subject_calls,
            ..RunStats::default()
        };
        assert!(matches!(conclude(stats(0, 0, 0)), Verdict::Vacuous { .. }));
        assert!(matches!(conclude(stats(9, 0, 0)), Verdict::Vacuous { .. }));
        assert!(matches!(conclude(stats(9, 9, 0)), Verdict::Vacuous { .. }));
        assert!(matches!(conclude(stats(9, 9, 9)), Verdict::Unrefuted(_)));
    }
}
