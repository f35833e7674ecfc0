//! Runs a program that judges in place, and reads its report.

use super::watched::Call;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::difference::{Told, parse};
use crate::in_place::sandboxed_run;
use crate::platform::process::{Exit, Interrupt, Job, Output};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a program may take beyond the time of its functions.
const BEYOND: Duration = Duration::from_secs(30);
/// How many times its processor time a function may take by the clock, on a busy machine or in a driver that sleeps.
const SLOWEST: u32 = 6;
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

/// What judging a function gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    pub calls: u64,
    /// Calls on which candidates ran.
    pub judged: u64,
    /// Judged calls whose arguments differ from each other, with the bytes that they point to.
    pub distinct: u64,
    /// Calls in which a candidate differs from C, but C differs from itself, too, so that they say nothing.
    pub unsteady: u64,
    /// Calls in which C itself has undefined behaviour, so that they say nothing.
    pub undefined: u64,
    /// Candidates that differ from C, by number.
    pub killed: BTreeMap<usize, Told>,
    /// How candidate 0 was told from C with other drivers.
    pub also: Vec<Told>,
    /// What left the process during a call, so that the call was not judged.
    pub outside: Option<String>,
    /// How the program ended before its time, if it did.
    pub broke: Option<String>,
    /// Whether no new input reaches the function: it was judged on the kept ones alone.
    pub without_new: bool,
    /// Whether it does not end so with C alone: a candidate, or the judge, is at fault.
    pub is_by_candidate: bool,
}

impl Judged {
    /// With what judging with another driver gave.
    pub fn add(&mut self, one: Self) {
        self.calls += one.calls;
        self.judged += one.judged;
        self.distinct += one.distinct;
        self.unsteady += one.unsteady;
        self.undefined += one.undefined;
        one.killed.into_iter().for_each(|(candidate, told)| self.kill(candidate, told));
        self.also.extend(one.also);
        self.outside = self.outside.take().or(one.outside);
        self.take_end(one.broke, one.is_by_candidate);
    }

    /// With what speaks against candidates where they were judged with other inputs of the same drivers.
    pub fn add_differences(&mut self, one: Self) {
        self.without_new = one.judged == 0 && one.killed.is_empty();
        one.killed.into_iter().for_each(|(candidate, told)| self.kill(candidate, told));
        self.also.extend(one.also);
        self.unsteady += one.unsteady;
        // Where C alone ends like this, the inputs so far have to do.
        self.take_end(one.broke.filter(|_| one.is_by_candidate), one.is_by_candidate);
    }

    /// How candidates, and not C, ended the program.
    pub fn ended_by_candidate(&self) -> Option<&str> {
        self.broke.as_deref().filter(|_| self.is_by_candidate)
    }

    fn take_end(&mut self, broke: Option<String>, is_by_candidate: bool) {
        if self.broke.is_none() || is_by_candidate && !self.is_by_candidate {
            self.broke = broke.or(self.broke.take());
        }
        self.is_by_candidate |= is_by_candidate;
    }

    /// That there are unsteady calls.
    pub fn unsteady(&self) -> Option<String> {
        let calls = self.unsteady;
        (calls > 0).then(|| format!("it differs in {calls} calls in which C differs from itself"))
    }

    /// That there are calls in which C has undefined behaviour.
    pub fn undefined(&self) -> Option<String> {
        let calls = self.undefined;
        let what = "C's behaviour is undefined there (a float in an integer type that cannot hold it, `__builtin_clz(0)`)";
        (calls > 0).then(|| format!("not judged in {calls} calls: {what}"))
    }

    fn kill(&mut self, candidate: usize, told: Told) {
        match self.killed.entry(candidate) {
            Entry::Vacant(entry) => drop(entry.insert(told)),
            Entry::Occupied(_) if candidate == 0 => self.also.push(told),
            Entry::Occupied(_) => {}
        }
    }
}

/// What inputs reach.
#[derive(Debug, Default)]
pub struct Reached {
    pub all: Vec<Reach>,
    /// Inputs on which the program breaks; they reach nothing.
    pub breaking: Vec<PathBuf>,
    /// How it breaks on the first of them.
    pub how: Option<String>,
}

/// Runs each input once, within the time limit.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn reach(program: &Path, inputs: &[PathBuf], limit: Duration, interrupt: &Interrupt) -> Result<Reached> {
    let (mut found, mut next) = (Reached::default(), 0);
    let started_at = Instant::now();
    while next < inputs.len() && started_at.elapsed() < limit {
        let some: Vec<&Path> = inputs[next..].iter().map(PathBuf::as_path).collect();
        let mut script = "count\n".to_owned();
        for input in &some {
            line(&mut script, format_args!("input {}", input.display()));
        }
        let output = scripted(program, (script, &some), limit + BEYOND, interrupt)?;
        let mut ran = 0;
        let mut calls = BTreeMap::new();
        for words in report(&String::from_utf8_lossy(&output.report)) {
            match words[..] {
                ["reached", number, count] => drop(calls.insert(parse(number), parse(count) as u64)),
                ["ran", number] => {
                    ran = parse(number);
                    let input =
                        some.get(ran.wrapping_sub(1)).map(|input| (*input).to_owned()).unwrap_or_default();
                    found.all.push(Reach { input, calls: std::mem::take(&mut calls) });
                }
                _ => {}
            }
        }
        started(program, &output)?;
        // The input after the last one broke the program.
        if let Some(input) = some.get(ran) {
            found.breaking.push((*input).to_owned());
            found.how = found.how.or_else(|| broke(&output, &some));
        }
        next += ran + 1;
    }
    Ok(found)
}

/// How much judging is enough.
#[derive(Debug, Clone, Copy)]
pub struct Enough {
    /// Processor time.
    pub time: Duration,
    /// Judged calls that differ from each other.
    pub calls: u64,
    /// Whether each call is also judged with allocations that fail, on both sides.
    pub fails_allocations: bool,
}

/// Judges the candidates of one function on inputs.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn judge(
    program: &Path,
    function: Number,
    inputs: &[&Path],
    enough: Enough,
    interrupt: &Interrupt,
) -> Result<Judged> {
    let Enough { time, calls, fails_allocations } = enough;
    let fails = if fails_allocations { "fail-allocations\n" } else { "" };
    let (millis, longest) = (time.as_millis(), time * SLOWEST);
    let first = format!("{fails}function {function} {millis} {} {calls}", longest.as_millis());
    let output = scripted(program, (script(&first, inputs), inputs), longest + BEYOND, interrupt)?;
    let mut judged = Judged::default();
    for words in report(&String::from_utf8_lossy(&output.report)) {
        match words[..] {
            ["killed", _, candidate, ref words @ ..] => {
                judged.kill(parse(candidate), Told::read(words, |input| nth(inputs, input)));
            }
            ["judged", _, calls, count, distinct, unsteady, undefined, outside] => {
                (judged.calls, judged.judged) = (parse(calls) as u64, parse(count) as u64);
                (judged.distinct, judged.unsteady) = (parse(distinct) as u64, parse(unsteady) as u64);
                judged.undefined = parse(undefined) as u64;
                judged.outside = (outside != "-").then(|| outside.to_owned());
            }
            _ => {}
        }
    }
    started(program, &output)?;
    judged.broke = broke(&output, inputs);
    if judged.broke.is_some() {
        let on: Vec<PathBuf> = match begun(&output, inputs) {
            Some(input) => vec![input],
            None => inputs.iter().map(|input| (*input).to_owned()).collect(),
        };
        // The machine may have been short of time or memory. So the same inputs run once more before anything is blamed.
        let again: Vec<&Path> = on.iter().map(PathBuf::as_path).collect();
        let ran = scripted(program, (script(&first, &again), &again), longest + BEYOND, interrupt)?;
        judged.is_by_candidate =
            broke(&ran, &again).is_some() && reach(program, &on, LIMIT, interrupt)?.breaking.is_empty();
    }
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
    drop(std::fs::remove_file(file));
    let text = script(&first, inputs);
    let output =
        scripted_with(program, (text, inputs), LIMIT, interrupt, |job| job.may_write(file.parent()))?;
    // Counts of a run that broke are lost: fewer branches are reached.
    started(program, &output)
}

/// What the first `calls` calls of a function look like, few of each input.
///
/// # Errors
/// `Internal` if the program does not start, and Ctrl-C.
pub fn watch(
    program: &Path,
    function: Number,
    inputs: &[&Path],
    calls: u64,
    interrupt: &Interrupt,
) -> Result<Vec<Call>> {
    let first = format!("watch {function} {calls}");
    let output = scripted(program, (script(&first, inputs), inputs), LIMIT, interrupt)?;
    // If it broke, the calls before are known.
    started(program, &output)?;
    let text = String::from_utf8_lossy(&output.report);
    let calls = report(&text).into_iter().filter_map(|words| match words[..] {
        ["watched", ref words @ ..] => Call::read(words),
        _ => None,
    });
    Ok(calls.collect())
}

/// How a program ended before its time, and on which input.
pub(super) fn broke(output: &Output, inputs: &[&Path]) -> Option<String> {
    let text = String::from_utf8_lossy(&output.report);
    let words = report(&text);
    if output.exit.success() && words.iter().any(|words| words[..] == ["done"]) {
        return None;
    }
    let has_exited = words.iter().any(|words| matches!(words[..], ["exit", _]));
    let on = begun(output, inputs);
    let how = match output.exit {
        Exit::Signal(signal) => format!("signal {signal}{}", meaning(signal)),
        Exit::TimedOut => "it does not end".to_owned(),
        Exit::Code(REPORT_CLOSED) if !has_exited => "it closes the judge's descriptors".to_owned(),
        Exit::Code(code) => format!("exit code {code}"),
    };
    // The driver's name, the folder of its inputs, and the input's.
    let short = |input: PathBuf| input.iter().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect();
    let on = on.map(short).map(|input: PathBuf| format!(" on input {}", input.display()));
    Some(how + &on.unwrap_or_default())
}

/// The input that a program began and did not end.
fn begun(output: &Output, inputs: &[&Path]) -> Option<PathBuf> {
    let mut on = None;
    for words in report(&String::from_utf8_lossy(&output.report)) {
        match words[..] {
            ["input", number] => on = Some(nth(inputs, number)),
            ["ran", _] => on = None,
            _ => {}
        }
    }
    on
}

/// The code with which a program ends that cannot report.
const REPORT_CLOSED: i32 = 3;

/// What a signal means that a driver may cause.
fn meaning(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV | libc::SIGBUS => " (an access to memory that is not there)",
        libc::SIGABRT => " (abort)",
        libc::SIGALRM => " (an alarm)",
        libc::SIGKILL => " (killed, perhaps because memory ran out)",
        libc::SIGXFSZ => " (it writes too large a file)",
        _ => "",
    }
}

pub(super) fn script(first: &str, inputs: &[&Path]) -> String {
    let mut script = format!("{first}\n");
    for input in inputs {
        line(&mut script, format_args!("input {}", input.display()));
    }
    script
}

pub(super) fn nth(inputs: &[&Path], number: &str) -> PathBuf {
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

/// Runs a script, which names these inputs.
pub(super) fn scripted(
    program: &Path,
    script: (String, &[&Path]),
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<Output> {
    scripted_with(program, script, timeout, interrupt, |job| job)
}

fn scripted_with(
    program: &Path,
    (script, inputs): (String, &[&Path]),
    timeout: Duration,
    interrupt: &Interrupt,
    more: impl FnOnce(Job) -> Job,
) -> Result<Output> {
    let folders: BTreeSet<&Path> = inputs.iter().filter_map(|input| input.parent()).collect();
    let with = |job: Job| {
        more(job.limits(sandboxed_run::in_place()).may_read(folders))
            .env("LLVM_PROFILE_FILE", "/dev/null")
            .stdin(script)
            .with_report()
            .timeout(timeout)
    };
    sandboxed_run::run(program, with, interrupt)
}

/// The lines of a report; a panic's text may be cut inside of a character.
pub(super) fn report(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

pub(super) fn started(program: &Path, output: &Output) -> Result<()> {
    if !output.report.is_empty() {
        return Ok(());
    }
    let text =
        format!("{} does not start ({:?}): {}", program.display(), output.exit, output.stderr_text().trim());
    Err(Error::new(ErrorKind::Internal, text))
}
