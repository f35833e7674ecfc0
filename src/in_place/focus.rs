//! Fuzzes on for one function: libFuzzer begins with the inputs that reach it, and only what takes new edges of this
//! function counts as new. What is kept are inputs for judging; they are no part of the corpus.

use super::aside;
use super::corpus::{FORK, LIMITS, artifacts, files};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, time_limits};
use fs_err as fs;
use object::{Object as _, ObjectSymbol as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many inputs are kept for a function, of those that are made until a time, and of those that a number of runs makes.
const MOST: usize = 2000;
const MOST_NEW: usize = 400;
/// Runs that make new inputs, and their longest time.
const NEW_RUNS: &str = "-runs=1000";
const NEW_TIME: Duration = Duration::from_secs(1);
/// How many inputs it begins with at most, the smallest ones.
const MOST_SEEDS: usize = 500;

/// How long libFuzzer runs.
#[derive(Debug, Clone, Copy)]
pub enum Length {
    For(Duration),
    /// A moment: long enough for inputs that nobody knows.
    Short,
}

impl Length {
    fn time(self) -> Duration {
        match self {
            Self::For(time) => time,
            Self::Short => NEW_TIME,
        }
    }
}

/// What it works with.
#[derive(Debug, Clone, Copy)]
pub struct Focus<'a> {
    /// The driver with the sanitised library and libFuzzer.
    pub program: &'a Path,
    /// The file of words for inputs, if there is one.
    pub words: Option<&'a Path>,
    /// Folder for inputs on which C breaks.
    pub breaking: &'a Path,
}

impl Focus<'_> {
    /// Fuzzes, beginning with `seeds`, and keeps inputs in the folder `to`. It is empty if the program has no
    /// such function of its own, which may be always inlined, or if nothing ran. Returns whether libFuzzer could run.
    ///
    /// # Errors
    /// `Internal` if the program cannot be read, `Io` if the disk is full, and Ctrl-C.
    pub fn fuzz(
        self,
        function: &str,
        (seeds, to): (&[&Path], &Path),
        length: Length,
        interrupt: &Interrupt,
    ) -> Result<bool> {
        let ranges = ranges(self.program, function)?;
        let [new, begin] = ["new", "begin"].map(|name| to.with_extension(name));
        for folder in [&new, &begin] {
            drop(fs::remove_dir_all(folder));
            fs::create_dir_all(folder)?;
        }
        for seed in seeds.iter().take(MOST_SEEDS) {
            let name = seed.file_name().unwrap_or_default();
            fs::copy(seed, begin.join(name))?;
        }
        let mut has_run = true;
        if !ranges.is_empty() {
            let seconds = format!("-max_total_time={}", length.time().as_secs().max(1));
            let how: &[&str] = match length {
                Length::For(_) => &["-fork=1", FORK[0], FORK[1], FORK[2]],
                Length::Short => &[NEW_RUNS],
            };
            let with = |job: crate::platform::process::Job| {
                let words = self.words.map(|file| format!("-dict={}", file.display()));
                job.limits(aside::sanitised())
                    .env("ASAN_OPTIONS", "detect_leaks=0")
                    .env("IMPLFUZZ_FOCUS", &ranges)
                    .env("IMPLFUZZ_KEEP", &new)
                    .args(LIMITS)
                    .args(how)
                    .args(&words)
                    .args([artifacts(self.breaking), seconds])
                    .arg(&begin)
                    .timeout(length.time() + time_limits::BEYOND_CAMPAIGN)
            };
            has_run = aside::run(self.program, with, interrupt)?.exit.success();
        }
        thin_out(&new, if matches!(length, Length::Short) { MOST_NEW } else { MOST })?;
        fs::remove_dir_all(&begin)?;
        drop(fs::remove_dir_all(to));
        fs::rename(&new, to)?;
        Ok(has_run)
    }
}

/// Removes inputs evenly over all sizes, so that not only the small ones stay.
fn thin_out(dir: &Path, most: usize) -> Result<()> {
    let all = files(dir)?;
    let stays = |at: usize| all.len() <= most || (at * most) / all.len() != ((at + 1) * most) / all.len();
    for (_, file) in all.iter().enumerate().filter(|(at, _)| !stays(*at)) {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// Where the functions of this name lie in a program, as `focus.c` reads it.
fn ranges(program: &Path, function: &str) -> Result<String> {
    let bytes = fs::read(program)?;
    let file = object::File::parse(bytes.as_slice())
        .map_err(|error| Error::new(ErrorKind::Internal, format!("{}: {error}", program.display())))?;
    let named = file.symbols().filter(|symbol| symbol.is_definition() && symbol.name() == Ok(function));
    let ranges = named.filter(|symbol| symbol.size() > 0).map(|symbol| {
        let (from, size) = (symbol.address(), symbol.size());
        format!("{from:x}-{:x}", from + size)
    });
    Ok(ranges.collect::<Vec<_>>().join(" "))
}

/// The inputs that were kept for a function, smallest first; `None` if nothing has fuzzed for it.
///
/// # Errors
/// `Io` where they cannot be listed.
pub fn kept(dir: &Path) -> Result<Option<Vec<PathBuf>>> {
    dir.is_dir().then(|| files(dir)).transpose()
}
