//! Fuzzes on for one function: libFuzzer begins with the inputs that reach it, and only what takes new edges of this
//! function counts as new. What is kept are inputs for judging; they are no part of the corpus.

use super::around_driver;
use super::corpus::{ASAN_OPTIONS, Corpus, FORK, LIMITS, artifacts};
use super::corpus_folders::files;
use super::run::Number;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::sandboxed_run;
use crate::platform::process::{Interrupt, Job, time_limits};
use fs_err as fs;
use object::{Object as _, ObjectSymbol as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many inputs are kept for a function.
const MOST: usize = 2000;
/// The same, where libFuzzer runs for a moment.
const MOST_NEW: usize = 400;
/// Its runs then, without those of the inputs that it begins with, and their longest time.
const NEW_RUNS: usize = 1000;
pub const NEW_TIME: Duration = Duration::from_secs(1);
/// How many inputs it begins with at most, the smallest ones; and for a moment.
const MOST_SEEDS: usize = 500;
const FEW_SEEDS: usize = 50;

/// What inputs are made for.
#[derive(Debug, Clone, Copy)]
pub enum Wanted {
    /// Other edges of the function, which may kill more mutants.
    Edges,
    /// Many different calls.
    Calls,
    /// Few inputs that are in no corpus, quickly.
    New,
}

impl Wanted {
    /// The folder of the inputs that were last made for it.
    pub fn folder(self, corpus: &Corpus, function: Number) -> PathBuf {
        match self {
            Self::Edges => corpus.focused(function),
            Self::Calls => corpus.focused_on_calls(function),
            Self::New => corpus.new_inputs(function),
        }
    }

    /// How many are kept that take the same edges.
    fn alike(self) -> &'static str {
        match self {
            Self::Edges => "32",
            Self::Calls => "1000",
            Self::New => "200",
        }
    }

    /// How many are kept, and how many inputs it begins with.
    fn most(self) -> (usize, usize) {
        match self {
            Self::Edges | Self::Calls => (MOST, MOST_SEEDS),
            Self::New => (MOST_NEW, FEW_SEEDS),
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
    /// Fuzzes, beginning with `seeds`, and keeps inputs in the folder `to`. Where the program has no such function of its
    /// own, which may be always inlined, all edges guide it. Returns whether libFuzzer ran to its end.
    ///
    /// # Errors
    /// `Internal` if the program cannot be read, `Io` if the disk is full, and Ctrl-C.
    pub fn fuzz(
        self,
        function: &str,
        (seeds, to): (&[&Path], &Path),
        (wanted, time): (Wanted, Duration),
        interrupt: &Interrupt,
    ) -> Result<bool> {
        let ranges = ranges(self.program, function)?;
        let [new, begin] = ["making", "begin"].map(|name| to.with_extension(name));
        for folder in [&new, &begin] {
            drop(fs::remove_dir_all(folder));
            fs::create_dir_all(folder)?;
        }
        let (most, most_seeds) = wanted.most();
        for seed in seeds.iter().take(most_seeds) {
            let bytes = fs::read(seed)?;
            fs::write(begin.join(known_name(&bytes)), bytes)?;
        }
        let how = match wanted {
            Wanted::Edges | Wanted::Calls => [&["-fork=1"], &FORK[..]].concat().join(" "),
            Wanted::New => {
                let runs =
                    NEW_RUNS.saturating_mul(usize::try_from(time.as_secs().max(1)).unwrap_or(usize::MAX));
                format!("-runs={}", runs.saturating_add(seeds.len().min(most_seeds)))
            }
        };
        let with = |job: Job| {
            let words = self.words.map(|file| format!("-dict={}", file.display()));
            let focus = (!ranges.is_empty()).then_some(&ranges);
            let job = job.limits(sandboxed_run::sanitised()).env("ASAN_OPTIONS", ASAN_OPTIONS);
            let job = job.may_write([&new, &begin]).may_write([self.breaking]).may_read(self.words);
            let job = around_driver::goes_on(job, self.breaking);
            let job = job.env("IMPLFUZZ_KEEP", &new).env("IMPLFUZZ_KNOWN", &begin);
            let job =
                job.env("IMPLFUZZ_ALIKE", wanted.alike()).args(LIMITS).args(how.split(' ')).args(&words);
            let job = focus.into_iter().fold(job, |job, ranges| job.env("IMPLFUZZ_FOCUS", ranges));
            let seconds = format!("-max_total_time={}", time.as_secs().max(1));
            let job = job.args([artifacts(self.breaking), seconds]).arg(&begin);
            job.timeout(time + time_limits::BEYOND_CAMPAIGN)
        };
        let has_run = match sandboxed_run::run(self.program, with, interrupt) {
            Ok(output) => output.exit.success(),
            // The driver fills its folder, which the campaign has told or will tell.
            Err(error) if error.kind() == ErrorKind::C => false,
            Err(error) => return Err(error),
        };
        thin_out(&new, most)?;
        fs::remove_dir_all(&begin)?;
        drop(fs::remove_dir_all(to));
        fs::rename(&new, to)?;
        Ok(has_run)
    }
}

/// The name by which `keep.c` knows an input: the 64-bit FNV-1a hash of its bytes.
fn known_name(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
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
