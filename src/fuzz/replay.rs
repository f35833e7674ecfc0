//! Replays the inputs of earlier runs in the coverage build.

use super::campaign::{ASAN_OPTIONS, Campaign, Subject};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, time_limits};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Counts of replayed inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// Also those that are changed copies of others.
    pub replayed: u64,
    /// Those from which the C original returned.
    pub accepted: u64,
    /// Those from which the port returned.
    pub returned: u64,
    /// Those of them on which the port did something else than C.
    pub differed: u64,
    /// Those that the process did not survive.
    pub crashed: u64,
}

/// Which inputs are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Those that there are, and copies of them with small changes.
    WithCopies,
    /// Those that there are.
    Exact,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// The raw profile.
    Counted(Inputs, PathBuf),
    /// No run has left an input.
    NoInputs,
    /// The C original ends the process again and again.
    GivenUp(Inputs),
}

/// How often the port may end the process before the rest is for the C original alone; and how often that may.
pub const ENDS: u64 = 4;

impl Campaign {
    /// Whether a run has left inputs, or a counterexample is kept.
    pub fn has_inputs(&self) -> bool {
        let is_filled = |dir: &PathBuf| fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        self.corpora().iter().any(is_filled)
    }

    /// Runs all inputs: of the last run, boundaries, counterexamples. `binary` must be the one that counts sources.
    ///
    /// # Errors
    /// Those of starting the process, and Ctrl-C.
    pub fn replay(&self, extent: Extent, interrupt: &Interrupt) -> Result<Replay> {
        if !self.has_inputs() {
            return Ok(Replay::NoInputs);
        }
        fs::create_dir_all(&self.work)?;
        let (kept, profile) = (self.work.join("replay.kept"), self.work.join("replay.profraw"));
        for file in [&kept, &profile] {
            if file.exists() {
                fs::remove_file(file)?;
            }
        }
        let mut crashed = 0;
        loop {
            let alone = Campaign { subject: Subject::Nobody, ..self.clone() };
            let campaign = if crashed < ENDS { self } else { &alone };
            let before = numbers(&kept)[0];
            let (done, said) = campaign.replay_on((&kept, &profile), extent, interrupt)?;
            let [next, accepted, returned, differed] = numbers(&kept);
            let replayed = done.unwrap_or(next);
            crashed += u64::from(done.is_none());
            let inputs = Inputs { replayed, accepted, returned, differed, crashed };
            match done {
                Some(_) => return Ok(Replay::Counted(inputs, profile)),
                None if crashed >= 2 * ENDS => return Ok(Replay::GivenUp(inputs)),
                None if next == before => return Err(not_started(&said)),
                None => {}
            }
        }
    }

    /// From where the last process was ended, to the end of the inputs or of this process: how many there are, if it got
    /// there, and what it said.
    fn replay_on(
        &self,
        (kept, profile): (&Path, &Path),
        extent: Extent,
        interrupt: &Interrupt,
    ) -> Result<(Option<u64>, String)> {
        let dirs = std::env::join_paths(self.corpora()).map_err(|error| {
            Error::new(ErrorKind::Config, format!("a directory has an unusual name: {error}"))
        })?;
        // A port that takes all memory ends its process, not the machine.
        let asan = format!("{ASAN_OPTIONS}:hard_rss_limit_mb={}", self.rss_limit_mb);
        let mut job = self
            .job()
            .env("IMPLFUZZ_MODE", "replay")
            .env("IMPLFUZZ_PATH", dirs)
            .env("IMPLFUZZ_KEPT", kept)
            // Wall time, as when fuzzing.
            .env("IMPLFUZZ_INPUT_SECONDS", self.call_timeout_seconds().to_string())
            .env("LLVM_PROFILE_FILE", profile)
            .env("ASAN_OPTIONS", asan)
            .timeout(time_limits::CORPUS);
        if extent == Extent::Exact {
            job = job.env("IMPLFUZZ_EXACT", "1");
        }
        let (output, told) = self.listen(job, interrupt, &mut |_| ())?;
        let replayed = told.replayed.filter(|_| output.exit.success());
        Ok((replayed.map(|n| n as u64), output.stderr_text()))
    }
}

/// What stands at the beginning of the file that the processes go on with: the next input, and three counts.
fn numbers(kept: &Path) -> [u64; 4] {
    let bytes = fs::read(kept).unwrap_or_default();
    let at = |n: usize| bytes.get(n * 8..n * 8 + 8).and_then(|part| part.try_into().ok());
    [0, 1, 2, 3].map(|n| at(n).map_or(0, u64::from_ne_bytes))
}

fn not_started(said: &str) -> Error {
    let text = format!("the binary that counts coverage ends before it has run an input: {}", said.trim());
    Error::new(ErrorKind::Internal, text)
        .help("cargo implfuzz doctor; removing .implfuzz/cache builds it anew")
}
