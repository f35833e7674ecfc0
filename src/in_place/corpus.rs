//! The inputs of a driver: libFuzzer runs it with the sanitised library, and keeps few inputs that reach much. Inputs
//! on which C breaks are found here, once, and kept apart.

use super::around_driver;
use super::build::{Parts, flags, other_main};
use super::corpus_folders::{
    EARLIER, FOCUSED, FOCUSED_EARLIER, NEW_MORE, SMALLER, files, is_empty, mend, renamed,
};
use super::dictionary;
use super::driver::{Driver, Language};
use super::run::Number;
use super::weak_definitions;
use crate::c::flags::old_c_flags;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::build_site::BuildSite;
use crate::in_place::sandboxed_run;
use crate::platform::process::{Exit, Job, Output, time_limits};
use crate::platform::toolchain::CompilerKind;
use crate::symbol::Unit;
use fs_err as fs;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Without inlining, the edges of a function are its own.
const SANITISED: [&str; 7] = [
    "-O1",
    "-g1",
    "-w",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,fuzzer-no-link",
    "-fno-lto",
    "-fno-inline",
];
/// Bytes, seconds and megabytes of one input. Long inputs from the start: libFuzzer would use a minute for short ones, and
/// few of those reach anything in a parser.
pub(super) const LIMITS: [&str; 4] = ["-max_len=4096", "-len_control=0", "-timeout=2", "-rss_limit_mb=1024"];

/// libFuzzer in processes of its own, which go on after a crash.
pub(super) const FORK: [&str; 3] = ["-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"];
/// Nobody reads a stack trace here, and a symbolizer takes longer than the run that broke. Blocks that are too large are
/// refused, as the judge refuses them: that is no fault of C.
pub(super) const ASAN_OPTIONS: &str =
    "detect_leaks=0:symbolize=0:allocator_may_return_null=1:max_allocation_size_mb=512";
/// The most seconds in which further inputs are made, and how many are kept.
const MORE_SECONDS: u64 = 10;
const MOST_MORE: usize = 3000;
/// The input that stands for all where the driver does the same with each.
const ANY: &[u8] = b"implfuzz";
/// The file of the words that libFuzzer puts into inputs.
const WORDS: &str = "words.dict";

/// The inputs of a driver.
#[derive(Debug)]
pub struct Corpus {
    /// Smallest first.
    pub inputs: Vec<PathBuf>,
    /// Further inputs on which C does not break. They reach nothing new, but in other states.
    pub more: Vec<PathBuf>,
    /// Inputs on which C breaks: a sanitizer stops it, or it does not return.
    pub breaking: Vec<PathBuf>,
    dir: PathBuf,
}

impl Corpus {
    /// What an earlier call kept in `dir`.
    ///
    /// # Errors
    /// `Io` where there is none.
    pub fn kept(dir: &Path) -> Result<Self> {
        let [inputs, more, breaking] = ["corpus", "more", "breaking"].map(|name| files(&dir.join(name)));
        Ok(Self { inputs: inputs?, more: more?, breaking: breaking?, dir: dir.to_owned() })
    }

    /// The folder of inputs that were made for one function, so that they take other edges of it.
    pub fn focused(&self, function: Number) -> PathBuf {
        self.dir.join(FOCUSED).join(function.to_string())
    }

    /// The folder of inputs that were made for many different calls of one function.
    pub fn focused_on_calls(&self, function: Number) -> PathBuf {
        self.dir.join(FOCUSED).join(format!("{function}-calls"))
    }

    /// The folders of both, of the campaign before.
    pub fn focused_earlier(&self, function: Number) -> [PathBuf; 2] {
        ["", "-calls"].map(|end| self.dir.join(FOCUSED_EARLIER).join(format!("{function}{end}")))
    }

    /// The folder of inputs that were last made to judge a port of the function.
    pub fn new_inputs(&self, function: Number) -> PathBuf {
        self.dir.join(FOCUSED).join(format!("{function}-new"))
    }

    /// Whether the input is one of those that ports are judged on.
    pub fn has(&self, input: &Path) -> bool {
        [FOCUSED, FOCUSED_EARLIER].iter().any(|folder| input.starts_with(self.dir.join(folder)))
            || self.inputs.iter().chain(&self.more).any(|one| one == input)
    }

    /// The folder of inputs on which C breaks.
    pub fn breaking_folder(&self) -> PathBuf {
        self.dir.join("breaking")
    }

    /// With the inputs in `committed`, which stay whatever they reach. They come first.
    ///
    /// # Errors
    /// `Io` where the folder cannot be read.
    pub fn with(mut self, committed: &Path) -> Result<Self> {
        if committed.is_dir() {
            self.inputs.splice(..0, files(committed)?);
        }
        Ok(self)
    }
}

/// The sanitised library, compiled once for all drivers.
#[derive(Debug)]
pub struct Sanitised {
    objects: Vec<PathBuf>,
    /// What libFuzzer puts into inputs.
    dictionary: Option<PathBuf>,
}

/// Compiles the library for fuzzing.
///
/// # Errors
/// `Environment` without clang, `C` if a unit does not compile, and Ctrl-C.
pub fn sanitised(parts: Parts, place: BuildSite) -> Result<Sanitised> {
    if place.toolchain.cc.kind != CompilerKind::Clang {
        let text =
            "the inputs of drivers are made by libFuzzer, which comes with clang; the C compiler is gcc";
        return Err(Error::new(ErrorKind::Environment, text)
            .help("install clang, and leave out `compiler` under [c] in implfuzz.toml"));
    }
    fs::create_dir_all(place.dir)?;
    sandboxed_run::clear(place.dir)?;
    let words = place.dir.join(WORDS);
    let dictionary = dictionary::write(parts.library, parts.root, &words)?.then_some(words);
    let compile = |(number, unit): (usize, &Unit)| {
        let object = place.dir.join(format!("sanitised{number}.o"));
        let job = Job::new(&place.toolchain.cc.path).dir(parts.root).timeout(time_limits::COMPILE_C);
        let job = job.args(&unit.flags).args(other_main(parts.library, unit));
        let job = job.args(SANITISED).args(old_c_flags());
        // Of a header alone, clang would make a precompiled one.
        let job = job.args(["-x", "c", "-c", "-o"]).arg(&object).arg(unit.file.0.as_std_path());
        place.done(job, &unit.file.0)?;
        Ok(object)
    };
    let numbered: Vec<(usize, &Unit)> = parts.library.units.iter().enumerate().collect();
    let objects = numbered.into_par_iter().map(compile).collect::<Result<_>>()?;
    Ok(Sanitised { objects, dictionary })
}

impl Sanitised {
    /// Fuzzes a driver for the time of the settings, beginning with what an earlier call kept in `dir` and with the
    /// inputs in `committed`. Where it fails or is killed, what was kept stays.
    ///
    /// # Errors
    /// `C` if the driver cannot be built or run, `Io` if the disk is full, and Ctrl-C.
    pub fn fuzz(
        &self,
        driver: &Driver,
        parts: Parts,
        place: BuildSite,
        (dir, committed): (&Path, &Path),
    ) -> Result<Corpus> {
        let program = self.program(driver, parts, place)?;
        let [kept, found, breaking, more] =
            ["corpus", "found", "breaking", "more"].map(|name| dir.join(name));
        mend(dir)?;
        renamed(&dir.join(FOCUSED), &dir.join(FOCUSED_EARLIER))?;
        let new = dir.join(NEW_MORE);
        drop(fs::remove_dir_all(&new));
        for folder in [&kept, &found, &breaking, &more, &new] {
            fs::create_dir_all(folder)?;
        }
        let seconds = parts.settings.seconds;
        let limit = Duration::from_secs(seconds) + time_limits::BEYOND_CAMPAIGN;
        let seeds = parts.settings.seeds.iter().map(|seed| parts.root.join(seed).into_std_path_buf());
        let committed = committed.is_dir().then(|| committed.to_owned());
        let first = first_inputs(dir)?;
        let folders = [found.clone(), kept.clone(), first.clone()].into_iter().chain(seeds).chain(committed);
        let folders: Vec<PathBuf> = folders.collect();
        let run = |with: &dyn Fn(Job) -> Job| {
            let with = |job: Job| {
                let job = job.may_write([dir]).may_read(&folders).may_read(&self.dictionary);
                with(job.limits(sandboxed_run::sanitised()).args(LIMITS).arg(artifacts(&breaking)))
            };
            let ran = sandboxed_run::run(
                &program,
                |job| with(job.env("ASAN_OPTIONS", ASAN_OPTIONS)),
                place.interrupt,
            );
            ran.map_err(|error| match error.kind() {
                ErrorKind::C => error.context(format!("the driver {}", driver.file)).help(NOTHING_LEFT),
                _ => error,
            })
        };
        let words = self.dictionary.as_ref().map(|file| format!("-dict={}", file.display()));
        let fork = format!("-fork={}", rayon::current_num_threads());
        let fuzz = |job: Job, seconds: u64| {
            let time = format!("-max_total_time={seconds}");
            around_driver::goes_on(job, &breaking).args(FORK).args(&words).args([&fork, &time]).timeout(limit)
        };
        let output = run(&|job| fuzz(job, seconds).args(&folders))?;
        if !output.exit.success() && is_empty(&found)? && is_empty(&breaking)? {
            return Err(does_not_run(driver, &output));
        }
        let small = dir.join(SMALLER);
        drop(fs::remove_dir_all(&small));
        fs::create_dir_all(&small)?;
        let merge =
            |job: Job| job.arg("-set_cover_merge=1").arg(&small).args(&folders).timeout(time_limits::CORPUS);
        let output = run(&merge)?;
        if !output.exit.success() {
            return Err(does_not_run(driver, &output));
        }
        if is_empty(&small)? {
            // All inputs reach the same, so one stands for all, unless C breaks on it.
            let any = small.join("any");
            fs::write(&any, ANY)?;
            if !run(&|job| job.arg(&any).timeout(time_limits::CORPUS))?.exit.success() {
                fs::remove_file(&any)?;
            }
        }
        fs::rename(&kept, dir.join(EARLIER))?;
        mend(dir)?;
        // What is found now is no part of the corpus.
        let time = (seconds / 6).clamp(1, MORE_SECONDS);
        run(&|job| fuzz(job, time).args([&found, &kept]).env("IMPLFUZZ_KEEP", &new))?;
        // A short campaign takes nothing away on which functions were judged.
        for file in files(&new)?.into_iter().chain(files(&more)?).skip(MOST_MORE) {
            fs::remove_file(file)?;
        }
        for file in files(&new)? {
            let name = file.file_name().expect("it is a file of the folder");
            fs::rename(&file, more.join(name))?;
        }
        fs::remove_dir_all(&new)?;
        fs::remove_dir_all(&found)?;
        fs::remove_dir_all(&first)?;
        Corpus::kept(dir)
    }

    /// Links a driver with the library and libFuzzer.
    ///
    /// # Errors
    /// `C` if the driver does not compile or link, and Ctrl-C.
    pub fn program(&self, driver: &Driver, parts: Parts, place: BuildSite) -> Result<PathBuf> {
        self.linked(driver, &[], parts, place)
    }

    /// The same with other objects, which call `implfuzz_keep` to run the driver.
    pub(super) fn linked(
        &self,
        driver: &Driver,
        others: &[PathBuf],
        parts: Parts,
        place: BuildSite,
    ) -> Result<PathBuf> {
        let object = place.dir.join(format!("sanitised-{}.o", driver.name));
        let job = place.compiler(driver.language).dir(parts.root).timeout(time_limits::COMPILE_C);
        let job = job
            .args(SANITISED)
            .args(flags(parts.library, parts.settings))
            .args(weak_definitions::flags(parts.library, place)?)
            .arg("-DLLVMFuzzerTestOneInput=implfuzz_driver");
        place.done(job.args(["-c", "-o"]).arg(&object).arg(driver.file.as_std_path()), &driver.file)?;
        let around = around_driver::compiled(!others.is_empty(), place)?;
        let program = program(place.dir, driver);
        let job = place.compiler(Language::Cxx).dir(parts.root).timeout(time_limits::COMPILE_C);
        let job = job
            .arg("-fsanitize=address,fuzzer")
            .args(around_driver::link_flags())
            .args(&self.objects)
            .arg(&object)
            .args(&around)
            .args(others);
        let job =
            job.args(parts.link.iter().map(|name| format!("-l{name}"))).args(["-lm", "-lpthread", "-ldl"]);
        place.done(job.args(&parts.settings.link).arg("-o").arg(&program), &driver.file)?;
        Ok(program)
    }

    /// The file of the words that libFuzzer puts into inputs, if there are some.
    pub fn dictionary(&self) -> Option<&Path> {
        self.dictionary.as_deref()
    }
}

/// A folder of inputs to begin with. Without any, each process of libFuzzer begins with a line feed, and none comes
/// further if C breaks on that.
fn first_inputs(dir: &Path) -> Result<PathBuf> {
    let folder = dir.join("first");
    fs::create_dir_all(&folder)?;
    for number in 0..FIRST {
        // Drivers often choose a call by the first byte. Those of the inputs differ by 11, the bytes of one input by 101.
        let bytes: Vec<u8> = (0..FIRST_BYTES).map(|at| (number * 11 + at * 101) as u8).collect();
        fs::write(folder.join(number.to_string()), bytes)?;
    }
    Ok(folder)
}

/// The number of inputs to begin with, and the bytes of each.
const FIRST: usize = 24;
const FIRST_BYTES: usize = 64;

/// The driver with the sanitised library and libFuzzer, in the folder of its build.
pub fn program(dir: &Path, driver: &Driver) -> PathBuf {
    dir.join(format!("fuzz-{}", driver.name))
}

/// The words for inputs, in the folder of the build. libFuzzer refuses a file without any.
pub fn words(dir: &Path) -> Option<PathBuf> {
    Some(dir.join(WORDS)).filter(|words| words.metadata().is_ok_and(|about| about.len() > 0))
}

/// What mends a driver that fills its folder.
const NOTHING_LEFT: &str = "let the driver remove the files that it makes: it runs thousands of times";

pub(super) fn artifacts(breaking: &Path) -> String {
    format!("-artifact_prefix={}/", breaking.display())
}

/// libFuzzer itself has ended early.
fn does_not_run(driver: &Driver, output: &Output) -> Error {
    let how = match output.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "it does not end".to_owned(),
    };
    let said = output.stderr_text();
    let end: Vec<&str> = said.lines().rev().take(5).collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    let text = format!("libFuzzer cannot run the driver {} ({how}):\n  {}", driver.file, end.join("\n  "));
    Error::new(ErrorKind::C, text).help(
        "something that the driver does may stop libFuzzer: it may send signals, set limits, or close or write to \
         descriptors that it did not open; it should only call the library",
    )
}
