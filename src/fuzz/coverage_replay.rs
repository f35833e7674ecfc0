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
    /// Includes changed copies of inputs.
    pub replayed: u64,
    /// Inputs from which the C original returned.
    pub accepted: u64,
    /// Inputs from which the port returned.
    pub returned: u64,
    /// Among those, the inputs on which the port differed from C.
    pub differed: u64,
    /// Inputs that ended the process.
    pub crashed: u64,
}

/// Which inputs are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The kept inputs, and copies of them with small changes.
    WithCopies,
    /// The kept inputs only.
    Exact,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// The raw profile of the replay.
    Counted(Inputs, PathBuf),
    /// There are no kept inputs.
    NoInputs,
    /// The C original ended the process too often.
    GivenUp(Inputs),
}

/// Maximum number of process ends before the C original runs alone; and then the maximum number of ends
/// without the port.
pub const ENDS: u64 = 4;

impl Campaign {
    /// Whether a run kept inputs, or there is a counterexample.
    pub fn has_inputs(&self) -> bool {
        let is_filled = |dir: &PathBuf| fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        self.corpora().iter().any(is_filled)
    }

    /// Runs all inputs: those of the last run, boundary inputs, counterexamples. `binary` must be the
    /// coverage build.
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

    /// Continues after the input that ended the last process. Returns the number of inputs, if it reached the
    /// end, and the output.
    fn replay_on(
        &self,
        (kept, profile): (&Path, &Path),
        extent: Extent,
        interrupt: &Interrupt,
    ) -> Result<(Option<u64>, String)> {
        let dirs = std::env::join_paths(self.corpora()).map_err(|error| {
            Error::new(ErrorKind::Config, format!("a folder with inputs cannot be passed to the fuzz process, because its path has a `:`: {error}"))
        })?;
        // Limit the memory, so that the port ends its process before the machine runs out.
        let asan = format!("{ASAN_OPTIONS}:hard_rss_limit_mb={}", self.rss_limit_mb);
        let mut job = self
            .job()
            .env("IMPLFUZZ_MODE", "replay")
            .env("IMPLFUZZ_PATH", dirs)
            .env("IMPLFUZZ_KEPT", kept)
            // Wall time, as in a campaign.
            .env("IMPLFUZZ_INPUT_SECONDS", self.call_timeout_seconds().to_string())
            .env("LLVM_PROFILE_FILE", profile)
            .env("ASAN_OPTIONS", asan)
            .timeout(time_limits::CORPUS);
        if extent == Extent::Exact {
            job = job.env("IMPLFUZZ_EXACT", "1");
        }
        let (output, told) = self.told(job, interrupt)?;
        let replayed = told.replayed.filter(|_| output.exit.success());
        Ok((replayed.map(|n| n as u64), output.stderr_text()))
    }
}

/// The numbers at the start of the file that the processes share: the next input, and three counts.
fn numbers(kept: &Path) -> [u64; 4] {
    let bytes = fs::read(kept).unwrap_or_default();
    let at = |n: usize| bytes.get(n * 8..n * 8 + 8).and_then(|part| part.try_into().ok());
    [0, 1, 2, 3].map(|n| at(n).map_or(0, u64::from_ne_bytes))
}

fn not_started(said: &str) -> Error {
    let text = format!("the binary that counts coverage ends before it has run an input: {}", said.trim());
    Error::new(ErrorKind::Internal, text)
        .help("cargo implfuzz doctor; if you remove .implfuzz/cache, the tool builds it again")
}
