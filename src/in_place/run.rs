//! Runs a program that judges in place, and reads its report.

use super::place::LARGEST_FILE;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Exit, Interrupt, Job, Limits, Output};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a program may take beyond the time of its functions.
const BEYOND: Duration = Duration::from_secs(30);
/// How long a program may take that does not judge, which ends by itself after a minute.
const LIMIT: Duration = Duration::from_secs(90);

/// Numbers of functions are their positions in the library.
pub type Number = usize;

/// Which functions an input reaches, with the number of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    pub input: PathBuf,
    pub calls: BTreeMap<Number, u64>,
}

/// How a candidate was told from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::FromRepr)]
#[strum(serialize_all = "kebab-case")]
#[repr(u8)]
pub enum Difference {
    Result = 1,
    Memory,
    Variable,
    Stack,
    Errno,
    Allocation,
    Crash,
    Hang,
    Exit,
    Outside,
    /// The port did not free what it took from Rust's heap.
    RustHeap,
    /// The driver ends with another result, other variables or other blocks in use.
    Whole,
}

/// Where a candidate was told from C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub difference: Difference,
    pub input: PathBuf,
    /// Number of the function's call in the run on that input, from 1.
    pub call: u64,
    /// C and the candidate allocated or freed in another way.
    pub moved: bool,
    /// Where memory differs, as far as that is told.
    pub places: Vec<Place>,
    /// What a panic printed.
    pub said: String,
}

/// Where memory differs: an argument that points to or before it, and the bytes from there; `None` where no argument
/// does.
pub type Place = Option<(usize, u64)>;

/// What judging a function gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    pub calls: u64,
    /// Calls on which candidates ran.
    pub judged: u64,
    /// Candidates that differ from C, by number.
    pub killed: BTreeMap<usize, Told>,
    /// What left the process during a call, so that the call was not judged.
    pub outside: Option<String>,
    /// How the program ended before its time, if it did.
    pub broke: Option<String>,
}

/// Runs each input once. Inputs on which the program breaks reach nothing.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn reach(
    program: &Path,
    inputs: &[PathBuf],
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<Reach>> {
    let mut all = Vec::new();
    let mut next = 0;
    while next < inputs.len() {
        let some = &inputs[next..];
        let mut script = "count\n".to_owned();
        for input in some {
            line(&mut script, format_args!("input {}", input.display()));
        }
        let output = job(program, script, limit + BEYOND).run(interrupt)?;
        let mut ran = 0;
        let mut calls = BTreeMap::new();
        for words in report(&output) {
            match words[..] {
                ["reached", number, count] => drop(calls.insert(parse(number), parse(count) as u64)),
                ["ran", number] => {
                    ran = parse(number);
                    let input = some.get(ran.wrapping_sub(1)).cloned().unwrap_or_default();
                    all.push(Reach { input, calls: std::mem::take(&mut calls) });
                }
                _ => {}
            }
        }
        started(program, &output)?;
        // The input after the last one broke the program.
        next += ran + 1;
    }
    Ok(all)
}

/// Judges the candidates of one function on inputs, at most this long.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn judge(
    program: &Path,
    function: Number,
    inputs: &[&Path],
    time: Duration,
    interrupt: &Interrupt,
) -> Result<Judged> {
    let script = script(&format!("function {function} {}", time.as_millis()), inputs);
    let output = job(program, script, time + BEYOND).run(interrupt)?;
    let mut judged = Judged::default();
    for words in report(&output) {
        match words[..] {
            ["killed", _, candidate, how, input, call, moved, places, ref said @ ..] => {
                let how = how.parse().ok().and_then(Difference::from_repr);
                let told = Told {
                    difference: how.unwrap_or(Difference::Memory),
                    input: nth(inputs, input),
                    call: parse(call) as u64,
                    moved: moved == "1",
                    places: places.split(',').filter(|place| *place != "-").map(place).collect(),
                    said: said.join(" "),
                };
                judged.killed.insert(parse(candidate), told);
            }
            ["judged", _, calls, count, _, outside] => {
                (judged.calls, judged.judged) = (parse(calls) as u64, parse(count) as u64);
                judged.outside = (outside != "-").then(|| outside.to_owned());
            }
            _ => {}
        }
    }
    started(program, &output)?;
    judged.broke = broke(output.exit);
    Ok(judged)
}

/// Counts the branches that C takes in the first `calls` judged calls, into a profile at `file`.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn count_branches(
    program: &Path,
    function: Number,
    inputs: &[&Path],
    (calls, file): (u64, &Path),
    interrupt: &Interrupt,
) -> Result<()> {
    let first = format!("branches {function} {calls} {}", file.display());
    let output = job(program, script(&first, inputs), LIMIT).run(interrupt)?;
    started(program, &output)
}

/// What whole runs with a port in C's place gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Inputs on which the driver leaves the same as with C.
    pub agreed: u64,
    /// The first one on which it does not.
    pub differs: Option<Told>,
    pub broke: Option<String>,
}

/// Runs a driver on inputs with the port in C's place.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn replace(
    program: &Path,
    function: Number,
    inputs: &[&Path],
    interrupt: &Interrupt,
) -> Result<Replaced> {
    let output = job(program, script(&format!("replace {function}"), inputs), LIMIT).run(interrupt)?;
    let mut replaced = Replaced::default();
    for words in report(&output) {
        match words[..] {
            ["agrees", _] => replaced.agreed += 1,
            ["replaced", input, how, ref said @ ..] if replaced.differs.is_none() => {
                let how = how.parse().ok().and_then(Difference::from_repr);
                replaced.differs = Some(Told {
                    difference: how.unwrap_or(Difference::Whole),
                    input: nth(inputs, input),
                    call: 0,
                    moved: false,
                    places: Vec::new(),
                    said: said.join(" "),
                });
            }
            _ => {}
        }
    }
    started(program, &output)?;
    replaced.broke = broke(output.exit);
    Ok(replaced)
}

/// How a program ended before its time.
fn broke(exit: Exit) -> Option<String> {
    match exit {
        exit if exit.success() => None,
        Exit::Signal(signal) => Some(format!("signal {signal}")),
        Exit::TimedOut => Some("it does not end".to_owned()),
        Exit::Code(code) => Some(format!("exit code {code}")),
    }
}

fn script(first: &str, inputs: &[&Path]) -> String {
    let mut script = format!("{first}\n");
    for input in inputs {
        line(&mut script, format_args!("input {}", input.display()));
    }
    script
}

fn nth(inputs: &[&Path], number: &str) -> PathBuf {
    inputs.get(parse(number).wrapping_sub(1)).copied().unwrap_or(Path::new("")).to_owned()
}

/// The functions that any of the inputs reaches.
pub fn reached(all: &[Reach]) -> BTreeSet<Number> {
    all.iter().flat_map(|one| one.calls.keys().copied()).collect()
}

fn line(script: &mut String, arguments: std::fmt::Arguments) {
    script.write_fmt(arguments).expect("a String takes all text");
    script.push('\n');
}

/// Drivers and ports run without the environment, in the folder of the program, and cannot fill the disk.
fn job(program: &Path, script: String, timeout: Duration) -> Job {
    let limits = Limits { file_size: Some(LARGEST_FILE), no_core: true, ..Limits::default() };
    let job = Job::new(program).dir(program.parent().unwrap_or(program)).clean_env().limits(limits);
    let job = job.env("LLVM_PROFILE_FILE", "/dev/null");
    job.stdin(script).with_report().timeout(timeout)
}

fn report(output: &Output) -> Vec<Vec<&str>> {
    let text = std::str::from_utf8(&output.report).unwrap_or_default();
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

fn place(word: &str) -> Place {
    let (argument, offset) = word.split_once(':')?;
    Some((argument.parse().ok()?, offset.parse().ok()?))
}

fn parse(word: &str) -> usize {
    word.parse().unwrap_or(0)
}

fn started(program: &Path, output: &Output) -> Result<()> {
    if !output.report.is_empty() {
        return Ok(());
    }
    let text =
        format!("{} does not start ({:?}): {}", program.display(), output.exit, output.stderr_text().trim());
    Err(Error::new(ErrorKind::Internal, text))
}
