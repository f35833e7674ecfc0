//! Isolated replay: runs C and the port in separate processes on the inputs of the last campaign. It detects
//! ports that passed by changing memory of C or of the harness. Then it runs the port as it ships, in another order, and
//! without the code of the C function: a port may tell builds apart, remember inputs, or call the function that it replaces.

use super::c_code::CCode;
use super::campaign::{Campaign, Subject};
use super::libfuzzer_process::{reported, summary};
use super::report::{Alone, AloneOutcome, Parts, Told};
use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, Output, time_limits};
use crate::verdict::{Finding, FindingClass, Measured, Share};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

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
/// Maximum number of times that the C original may end its process unnoticed by the guard.
const ENDS: usize = 16;

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
        let inputs = self.known_inputs()?;
        let mut apart = Apart { inputs: inputs.len(), ..Apart::default() };
        let all: Vec<&Vec<u8>> = inputs.iter().collect();
        let original = self.original_alone(&all, false, interrupt)?;
        let mut accepted: Vec<(&Vec<u8>, &Parts)> = original
            .iter()
            .filter_map(|alone| match &alone.outcome {
                AloneOutcome::Done(record) => Some((inputs.get(alone.number)?, record)),
                _ => None,
            })
            .collect();
        if accepted.is_empty() {
            apart.unfinished = Some("the C original accepted none of the inputs".into());
            return Ok(apart);
        }
        if original.len() < inputs.len() {
            apart.unfinished = Some(format!("C ran on {} of {} inputs", original.len(), inputs.len()));
        }
        self.port_alone(&accepted, &mut apart, interrupt)?;
        if let (Some(shipped), None, None) = (shipped, &apart.finding, &apart.unfinished) {
            let c_code = Some(shipped.c_code.clone());
            let own = Campaign { binary: shipped.binary.clone(), c_code, ..self.clone() };
            accepted.reverse();
            apart.agreed = 0;
            own.port_alone(&accepted, &mut apart, interrupt)?;
        }
        Ok(apart)
    }

    /// Runs the port alone on inputs of which C's effects are known.
    fn port_alone(
        &self,
        accepted: &[(&Vec<u8>, &Parts)],
        apart: &mut Apart,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let bytes: Vec<&Vec<u8>> = accepted.iter().map(|(input, _)| *input).collect();
        let (output, told) = self.alone(&Subject::Port, &bytes, 0, false, interrupt)?;
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
            let end = self.ended(&output, interrupt);
            let last = bytes.get(told.alone.len()).or(bytes.last());
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
            let (output, told) = self.alone(&Subject::Original, inputs, all.len(), shown, interrupt)?;
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

    /// Runs one side on the inputs from number `from` on.
    pub(super) fn alone(
        &self,
        side: &Subject,
        inputs: &[&Vec<u8>],
        from: usize,
        shown: bool,
        interrupt: &Interrupt,
    ) -> Result<(Output, Told)> {
        let own = Campaign { subject: side.clone(), ..self.clone() };
        let own = match (&own.c_code, side) {
            (Some(c_code), Subject::Port) => {
                own.job_on("apart", "inputs-apart", framed(inputs))?.env("IMPLFUZZ_C_CODE", &c_code.0)
            }
            _ => own.job_on("apart", "inputs-apart", framed(inputs))?,
        };
        let mut job = own
            .env("IMPLFUZZ_FROM", from.to_string())
            .env("IMPLFUZZ_SECONDS", time_limits::ISOLATED_REPLAY.as_secs().to_string())
            .timeout(time_limits::ISOLATED_REPLAY * 3);
        if shown {
            job = job.env("IMPLFUZZ_SHOWN", "1");
        }
        // The results become tests, and tests start with `errno` 0.
        if shown && *side == Subject::Original {
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
            Exit::Signal(libc::SIGTRAP) if self.c_code.is_some() => {
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
        let (_, again) = self.alone(&Subject::Port, &[input], 0, true, interrupt)?;
        let subject = again.alone.into_iter().next().map(|alone| alone.shown).unwrap_or_default();
        let what = match &self.c_code {
            None => format!("{what}, with the C original in its own process"),
            Some(_) => format!(
                "{what}, as the port ships (release build, inputs in another order, without the code of the C function)"
            ),
        };
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
