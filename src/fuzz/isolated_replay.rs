//! Isolated replay: runs C and the port in separate processes on the inputs of the last campaign. It detects
//! ports that passed by changing memory of C or of the harness. Then it runs the port as it ships, in another order, and
//! without the code of the C function: a port may tell builds apart, remember inputs, or call the function that it replaces.

use super::c_code::CCode;
use super::campaign::{ASAN_OPTIONS, Campaign, Subject};
use super::changed_copies::changed_copies;
use super::libfuzzer_process::{reported, summary};
use super::report::{Alone, AloneOutcome, Parts, Told};
use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, Output, time_limits};
use crate::verdict::{Finding, FindingClass, Measured, Share};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The result of an isolated replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// Number of boundary inputs, seeds and inputs that the last run kept.
    pub inputs: usize,
    /// Number of inputs that C accepted and on which both sides agreed.
    pub agreed: usize,
    /// The first difference.
    pub finding: Option<Finding>,
    /// The reason, if not all inputs were compared.
    pub unfinished: Option<String>,
    /// Wall time, milliseconds, and how much of it went to the port as it ships.
    pub millis: u64,
    pub shipped_millis: u64,
}

impl Apart {
    /// The share of inputs on which both sides agree; `No` if not all were compared.
    pub fn measured(&self) -> Measured<Share> {
        match &self.unfinished {
            Some(why) => Measured::No(why.clone()),
            None => {
                let total = self.agreed + usize::from(self.finding.is_some());
                Measured::Yes(Share { reached: self.agreed as u64, total: total as u64 })
            }
        }
    }
}

/// The harness's reason for inputs that the contract excludes.
pub const PRECONDITION: &str = "precondition of the contract";
/// The value in a record for parts that a side cannot know (`record.rs` of the runtime).
const UNKNOWN: &str = "?";
/// All inputs, without details.
const ALL: Part = Part { from: 0, shown: false, time: time_limits::ISOLATED_REPLAY };
/// New inputs, as many as C runs in this time.
const NEW: Part = Part { from: 0, shown: false, time: Duration::from_secs(3) };
/// Processor time for a call of C on a new input, in milliseconds: most of them should be run.
const NEW_CALL_MS: u64 = 50;
/// Maximum number of times that the C original may end its process unnoticed by the guard.
const ENDS: usize = 16;

/// What AddressSanitizer says of a process above `hard_rss_limit_mb`.
const MEMORY_LIMIT: &str = "hard rss limit exhausted";

/// The stack of both sides, bytes, as many threads have it: a port must not need more where C does not.
const STACK: u64 = 1 << 20;

/// An input with the effects of C.
type Known<'a> = (&'a Vec<u8>, &'a Parts);

/// Which inputs a process runs, and what it reports.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The number of the first.
    from: usize,
    /// With the effects of each call, for people and as text.
    shown: bool,
    time: Duration,
}

fn millis_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A binary with the port as it ships.
#[derive(Debug, Clone)]
pub struct Shipped {
    pub binary: PathBuf,
    /// The code of the C function there.
    pub c_code: CCode,
}

impl Campaign {
    /// Runs the C original alone on all inputs of the last run, then the port alone on those that C accepts, and compares
    /// their reports; then, if there is one, the port as it ships, from the last input to the first.
    pub fn apart(&self, shipped: Option<&Shipped>, interrupt: &Interrupt) -> Result<Apart> {
        let started = Instant::now();
        let mut apart = self.replayed(shipped, interrupt)?;
        apart.millis = millis_since(started);
        Ok(apart)
    }

    fn replayed(&self, shipped: Option<&Shipped>, interrupt: &Interrupt) -> Result<Apart> {
        self.forget_compared();
        let inputs = self.known_inputs()?;
        let mut apart = Apart { inputs: inputs.len(), ..Apart::default() };
        let all: Vec<&Vec<u8>> = inputs.iter().collect();
        let original = self.original_alone(&all, false, interrupt)?;
        let accepted = accepted_of(&inputs, &original);
        if accepted.is_empty() {
            apart.unfinished = Some("the C original accepted none of the inputs".into());
            return Ok(apart);
        }
        if original.len() < inputs.len() {
            apart.unfinished = Some(format!("C ran on {} of {} inputs", original.len(), inputs.len()));
        }
        self.port_alone(&accepted, &mut apart, interrupt)?;
        if let (Some(shipped), None, None) = (shipped, &apart.finding, &apart.unfinished) {
            let started = Instant::now();
            let again = self.as_shipped(shipped, (&inputs, accepted), interrupt)?;
            apart.shipped_millis = millis_since(started);
            apart.finding = again.finding;
            apart.unfinished = again.unfinished.map(|why| format!("as it ships, {why}"));
        }
        Ok(apart)
    }

    /// Runs the port as it ships on inputs of which C's effects are known, from the last to the first, and on new ones: what
    /// differs in this build alone has left no input in the corpus.
    fn as_shipped(
        &self,
        shipped: &Shipped,
        (inputs, known): (&[Vec<u8>], Vec<Known<'_>>),
        interrupt: &Interrupt,
    ) -> Result<Apart> {
        let new = changed_copies(inputs, self.seed, usize::try_from(self.max_len).unwrap_or(usize::MAX));
        let quick = Campaign { call_timeout_ms: self.call_timeout_ms.min(NEW_CALL_MS), ..self.clone() };
        let (_, told) = quick.alone(&Subject::Original, &new.iter().collect::<Vec<_>>(), NEW, interrupt)?;
        let mut all = accepted_of(&new, &told.alone);
        all.extend(known.into_iter().rev());
        let own = Campaign {
            binary: shipped.binary.clone(),
            shipped: Some(shipped.c_code.clone()),
            ..self.clone()
        };
        let mut apart = Apart::default();
        own.port_alone(&all, &mut apart, interrupt)?;
        self.keep_compared(&all.iter().map(|(input, _)| *input).collect::<Vec<_>>())?;
        Ok(apart)
    }

    /// What differs where the C original and the port run alone on one input.
    pub fn differs_alone(&self, input: &[u8], interrupt: &Interrupt) -> Result<Option<Finding>> {
        let work = self.work.join("one-input");
        let dir = work.join("inputs");
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("input"), input)?;
        let own = Self { work: work.clone(), regressions: vec![dir], ..self.clone() };
        let apart = own.apart(None, interrupt);
        drop(fs::remove_dir_all(&work));
        Ok(apart?.finding)
    }

    /// Runs the port alone on inputs of which C's effects are known.
    fn port_alone(&self, accepted: &[Known<'_>], apart: &mut Apart, interrupt: &Interrupt) -> Result<()> {
        let bytes: Vec<&Vec<u8>> = accepted.iter().map(|(input, _)| *input).collect();
        let (output, told) = self.alone(&Subject::Port, &bytes, ALL, interrupt)?;
        for ((input, record), alone) in accepted.iter().zip(&told.alone) {
            let Some((class, what)) = difference(record, &alone.outcome) else {
                apart.agreed += 1;
                continue;
            };
            apart.finding = Some(self.finding((class, what), input, interrupt)?);
            return Ok(());
        }
        let is_from_outside = matches!(output.exit, Exit::TimedOut | Exit::Signal(libc::SIGKILL));
        if !told.alone_done && is_from_outside {
            let (ran, all) = (told.alone.len(), accepted.len());
            apart.unfinished =
                Some(format!("the port's process was killed from outside after {ran} of {all} inputs"));
        } else if !told.alone_done {
            let last = bytes.get(told.alone.len()).or(bytes.last());
            // What earlier inputs left may have filled the memory.
            if let Some(input) = last.filter(|_| output.stderr_text().contains(MEMORY_LIMIT))
                && let (_, again) = self.alone(&Subject::Port, &[input], ALL, interrupt)?
                && again.alone_done
            {
                let record = accepted.get(told.alone.len()).or(accepted.last()).map(|(_, record)| record);
                let differs =
                    record.zip(again.alone.first()).and_then(|(c, port)| difference(c, &port.outcome));
                if let Some(differs) = differs {
                    apart.finding = Some(self.finding(differs, input, interrupt)?);
                    return Ok(());
                }
                let ran = told.alone.len();
                apart.unfinished =
                    Some(format!("the port's process reached the memory limit after {ran} inputs"));
                return Ok(());
            }
            let end = self.ended(&output, interrupt);
            apart.finding = last.map(|input| self.finding(end, input, interrupt)).transpose()?;
        } else if told.alone.len() < accepted.len() {
            let (ran, all) = (told.alone.len(), accepted.len());
            apart.unfinished = Some(format!(
                "the port ran on {ran} of {all} inputs in {} s",
                time_limits::ISOLATED_REPLAY.as_secs()
            ));
        }
        Ok(())
    }

    /// The inputs of the last run that C accepts.
    pub fn accepted(&self, interrupt: &Interrupt) -> Result<Vec<Vec<u8>>> {
        let inputs = self.known_inputs()?;
        let original = self.original_alone(&inputs.iter().collect::<Vec<_>>(), false, interrupt)?;
        let is_done = |alone: &&Alone| matches!(alone.outcome, AloneOutcome::Done(_));
        Ok(original.iter().filter(is_done).filter_map(|alone| inputs.get(alone.number).cloned()).collect())
    }

    /// The first of these inputs that the contract excludes.
    pub fn first_ruled_out(&self, inputs: &[Vec<u8>], interrupt: &Interrupt) -> Result<Option<Vec<u8>>> {
        let original = self.original_alone(&inputs.iter().collect::<Vec<_>>(), false, interrupt)?;
        if original.len() < inputs.len() {
            // The first input that was not reached may be excluded too.
            return Ok(inputs.get(original.len()).cloned());
        }
        let is_out =
            |alone: &&Alone| matches!(&alone.outcome, AloneOutcome::Rejected(why) if why == PRECONDITION);
        Ok(original.iter().find(is_out).and_then(|alone| inputs.get(alone.number).cloned()))
    }

    /// Every input once: boundary inputs, seeds, and those that the last run kept, ordered by name.
    pub(super) fn known_inputs(&self) -> Result<Vec<Vec<u8>>> {
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        let dirs =
            [self.boundaries()].into_iter().chain(self.regressions.iter().cloned()).chain([self.corpus()]);
        for dir in dirs.filter(|dir| dir.is_dir()) {
            let mut paths: Vec<_> = fs::read_dir(dir)?.map(|e| Ok(e?.path())).collect::<Result<_>>()?;
            paths.sort();
            for path in paths.iter().filter(|path| path.is_file()) {
                let bytes = fs::read(path)?;
                if seen.insert(bytes.clone()) {
                    all.push(bytes);
                }
            }
        }
        // libFuzzer keeps no file for a function without parameters. Missing bytes read as zero, so use the
        // empty input.
        if all.is_empty() {
            all.push(Vec::new());
        }
        Ok(all)
    }

    /// C's result for each input, as far as the time allows; an input that ends the process is rejected. With
    /// `shown`, the results also contain their effects, for people and as text.
    pub(super) fn original_alone(
        &self,
        inputs: &[&Vec<u8>],
        shown: bool,
        interrupt: &Interrupt,
    ) -> Result<Vec<Alone>> {
        let mut all: Vec<Alone> = Vec::new();
        for _ in 0..ENDS {
            let part = Part { from: all.len(), shown, ..ALL };
            let (output, told) = self.alone(&Subject::Original, inputs, part, interrupt)?;
            all.extend(told.alone);
            if told.alone_done || all.len() >= inputs.len() {
                break;
            }
            let how = match output.exit {
                Exit::Code(70) | Exit::TimedOut => "it does not return in time".to_owned(),
                _ => reported(&output.stderr_text()).unwrap_or_else(|| "without a report".to_owned()),
            };
            all.push(Alone {
                number: all.len(),
                outcome: AloneOutcome::Rejected(format!("it ends C's process: {how}")),
                shown: Vec::new(),
                given: String::new(),
                plain: String::new(),
            });
        }
        Ok(all)
    }

    /// Runs one side on a part of the inputs.
    fn alone(
        &self,
        side: &Subject,
        inputs: &[&Vec<u8>],
        part: Part,
        interrupt: &Interrupt,
    ) -> Result<(Output, Told)> {
        let own = Campaign { subject: side.clone(), ..self.clone() };
        let mut job = own
            .job_on("apart", "inputs-apart", framed(inputs))?
            .env("IMPLFUZZ_FROM", part.from.to_string())
            .env("IMPLFUZZ_SECONDS", part.time.as_secs().to_string())
            .env("ASAN_OPTIONS", format!("{ASAN_OPTIONS}:hard_rss_limit_mb={}", self.rss_limit_mb))
            .stack(STACK)
            .timeout(time_limits::ISOLATED_REPLAY + part.time * 2);
        if let (Some(c_code), Subject::Port) = (&self.shipped, side) {
            job = job.env("IMPLFUZZ_C_CODE", &c_code.0);
        }
        if part.shown {
            job = job.env("IMPLFUZZ_SHOWN", "1");
        }
        // The results become tests, and tests start with `errno` 0.
        if part.shown && *side == Subject::Original {
            job = job.env("IMPLFUZZ_ERRNO", "0");
        }
        self.told(job, interrupt)
    }

    /// How a process ended that did not finish its inputs.
    fn ended(&self, output: &Output, interrupt: &Interrupt) -> (FindingClass, String) {
        match output.exit {
            Exit::Code(70) | Exit::TimedOut => {
                (FindingClass::Timeout, "the port does not return in time; the C original does".into())
            }
            Exit::Code(0) => (FindingClass::SilentExit, "the process ended while the port was called".into()),
            Exit::Signal(libc::SIGTRAP) if self.shipped.as_ref().is_some_and(|code| !code.is_empty()) => {
                (FindingClass::Abort, "the port runs the code of the C function that it replaces".into())
            }
            _ => (FindingClass::Abort, summary(&self.binary, &output.stderr_text(), interrupt)),
        }
    }

    fn finding(
        &self,
        (class, what): (FindingClass, String),
        input: &Vec<u8>,
        interrupt: &Interrupt,
    ) -> Result<Finding> {
        let (args, oracle) = self.show(input, interrupt)?;
        let (_, again) = self.alone(&Subject::Port, &[input], Part { shown: true, ..ALL }, interrupt)?;
        let subject = again.alone.into_iter().next().map(|alone| alone.shown).unwrap_or_default();
        let without = match &self.shipped {
            None => ", with the C original in its own process",
            Some(code) if code.is_empty() => ", as the port ships (release build, inputs in another order)",
            Some(_) => {
                ", as the port ships (release build, inputs in another order, without the code of the C function)"
            }
        };
        let what = format!("{what}{without}");
        Ok(Finding { class, what, input: input.clone(), args, oracle, subject, place: None })
    }
}

/// Each input after its length, as the fuzz process reads them.
pub(super) fn framed(inputs: &[&Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for input in inputs {
        bytes.extend(u32::try_from(input.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(input.iter());
    }
    bytes
}

/// The inputs that C accepts, with its effects.
fn accepted_of<'a>(inputs: &'a [Vec<u8>], original: &'a [Alone]) -> Vec<Known<'a>> {
    let accepted = |alone: &'a Alone| match &alone.outcome {
        AloneOutcome::Done(record) => Some((inputs.get(alone.number)?, record)),
        _ => None,
    };
    original.iter().filter_map(accepted).collect()
}

/// The first part in which the port's effects differ from C's, or how it failed.
fn difference(record: &[(String, String)], port: &AloneOutcome) -> Option<(FindingClass, String)> {
    match port {
        AloneOutcome::Failed(class, what) => Some((*class, what.clone())),
        // The port never rejects an input, so the harness did not write this line.
        AloneOutcome::Rejected(_) => {
            Some((FindingClass::SilentExit, "the port's process sent an invalid report".into()))
        }
        AloneOutcome::Done(other) => {
            let differs = |(c, port): &(&(String, String), &(String, String))| c != port && c.1 != UNKNOWN;
            let part = record.iter().zip(other).find(differs).map(|((name, _), _)| name.clone());
            let part = part.or_else(|| (record.len() != other.len()).then(|| "what is compared".to_owned()));
            part.map(|name| (FindingClass::Mismatch, name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(parts: &[(&str, &str)]) -> Vec<(String, String)> {
        parts.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect()
    }

    #[test]
    fn the_first_part_that_differs_is_named() {
        let c = record(&[("return value", "1"), ("`out`", "2")]);
        assert_eq!(difference(&c, &AloneOutcome::Done(c.clone())), None);
        let other = AloneOutcome::Done(record(&[("return value", "1"), ("`out`", "3")]));
        assert_eq!(difference(&c, &other), Some((FindingClass::Mismatch, "`out`".into())));
        let shorter = AloneOutcome::Done(record(&[("return value", "1")]));
        assert!(difference(&c, &shorter).is_some());
        let open = record(&[("return value", UNKNOWN), ("`out`", "2")]);
        assert_eq!(difference(&open, &AloneOutcome::Done(c.clone())), None);
        assert!(difference(&c, &AloneOutcome::Done(open)).is_some(), "what C says, the port must say");
        let panic = AloneOutcome::Failed(FindingClass::Panic, "overflow".into());
        assert_eq!(difference(&c, &panic), Some((FindingClass::Panic, "overflow".into())));
    }
}
