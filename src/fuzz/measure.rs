//! Inputs that somebody wrote: what they mean to a harness, what C makes of them, and which mutants of C they tell from it.

use super::apart::write;
use super::plain;
use super::report::AloneOutcome;
use super::run::{Campaign, Subject};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Interrupt, Output};
use fs_err as fs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// An input as the harness reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Readable {
    pub bytes: Vec<u8>,
    /// What it says, written in the one way in which the tool writes it.
    pub canonical: Value,
}

/// What C left behind, twice the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// The input, in the canonical way.
    pub given: Value,
    pub value: Value,
    /// Everything that a harness compares, part by part, as hashes: two results are the same where these are.
    pub record: Vec<(String, String)>,
}

/// What one input came to: what C left, or in words why it says nothing.
pub type Outcome = std::result::Result<(Readable, Left), String>;

/// How often a process may end before its time: no function has more mutants, and each may do it once.
const ENDS: usize = 32;
/// For reading, and for each run over all inputs.
const SECONDS: u64 = 60;
/// Milliseconds for one call of a mutant.
const MUTANT_CALL_MS: u64 = 200;

impl Campaign {
    /// The harness' own inputs, which it tries first.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn boundary_inputs(&self, interrupt: &Interrupt) -> Result<Vec<Vec<u8>>> {
        self.write_boundaries(interrupt)?;
        self.known_inputs()
    }

    /// What the harness makes of each input; in words, why it makes nothing of it.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn read_inputs(
        &self,
        inputs: &[Value],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Readable, String>>> {
        let texts: Vec<_> = inputs.iter().map(plain::to_text).collect();
        let lines: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("")).collect();
        fs::create_dir_all(&self.work)?;
        let path = self.work.join("inputs-to-read");
        fs::write(&path, lines.join("\n"))?;
        let job = self.job().env("IMPLFUZZ_MODE", "read").env("IMPLFUZZ_PATH", &path);
        let (output, mut told) =
            self.listen(job.timeout(Duration::from_secs(SECONDS)), interrupt, &mut |_| ())?;
        if !output.exit.success() {
            return Err(ended("reading inputs", &output));
        }
        let read = |(number, text): (usize, std::result::Result<String, String>)| {
            text?;
            let said = told.read.remove(&number).ok_or("the harness says nothing of it")?;
            match plain::of_text(&said.plain) {
                Some(canonical) if said.what.is_empty() => Ok(Readable { bytes: said.input, canonical }),
                _ => Err(said.what),
            }
        };
        Ok(texts.into_iter().enumerate().map(read).collect())
    }

    /// Reads each input, and runs C twice on those that can be read.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn measure(&self, inputs: &[Value], interrupt: &Interrupt) -> Result<Vec<Outcome>> {
        let read = self.read_inputs(inputs, interrupt)?;
        let bytes: Vec<&Vec<u8>> = read.iter().flatten().map(|input| &input.bytes).collect();
        let mut left = self.left_by_c(&bytes, interrupt)?.into_iter();
        let one = |read: std::result::Result<Readable, String>| {
            let read = read?;
            Ok((read, left.next().unwrap_or_else(|| Err("C was not asked".into()))?))
        };
        Ok(read.into_iter().map(one).collect())
    }

    /// What C leaves behind on each input, in two processes of its own; in words, why an input says nothing: C breaks on it, the
    /// contract rules it out, or C leaves something else the second time.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn left_by_c(
        &self,
        inputs: &[&Vec<u8>],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Left, String>>> {
        let first = self.once_by_c(inputs, interrupt)?;
        let second = self.once_by_c(inputs, interrupt)?;
        let both = first.into_iter().zip(second).map(|(first, second)| match (first?, second?) {
            (first, second) if first.record == second.record => Ok(first),
            _ => Err("C leaves something else when it is called again".to_owned()),
        });
        Ok(both.collect())
    }

    fn once_by_c(
        &self,
        inputs: &[&Vec<u8>],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Left, String>>> {
        let mut all = Vec::new();
        for _ in 0..ENDS {
            if all.len() >= inputs.len() {
                return Ok(all);
            }
            let (output, told) = self.alone(&Subject::Original, inputs, all.len(), true, interrupt)?;
            for alone in told.alone {
                all.push(match alone.outcome {
                    AloneOutcome::Done(record) => {
                        let both = plain::of_text(&alone.given).zip(plain::of_text(&alone.plain));
                        let left = both.map(|(given, value)| Left { given, value, record });
                        left.ok_or_else(|| "nothing was told of it".into())
                    }
                    AloneOutcome::Rejected(why) => Err(why),
                    AloneOutcome::Failed(_, what) => Err(what),
                });
            }
            if !told.alone_done && all.len() < inputs.len() {
                all.push(Err(format!("it ends C's process: {}", super::leg::summary(&output.stderr_text()))));
            }
        }
        all.resize_with(inputs.len(), || Err("C ended its process too often".into()));
        Ok(all)
    }

    /// For each input the numbers of the mutants that it tells from the original, but for the `equal` ones. Needs the binary that
    /// has mutants.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn told_by(
        &self,
        inputs: &[&Vec<u8>],
        equal: &BTreeSet<usize>,
        interrupt: &Interrupt,
    ) -> Result<Vec<BTreeSet<usize>>> {
        fs::create_dir_all(&self.work)?;
        let (path, current) = (self.work.join("inputs-of-mutants"), self.work.join("current-mutant"));
        write(&path, inputs)?;
        let mut told_by = vec![BTreeSet::new(); inputs.len()];
        let (mut from, mut aside) = (0, equal.clone());
        for _ in 0..ENDS {
            drop(fs::remove_file(&current));
            let skipped: Vec<String> = aside.iter().map(usize::to_string).collect();
            let subject = Subject::Mutants { skipped: skipped.join(","), current: current.clone() };
            let own = Campaign { subject, call_timeout_ms: MUTANT_CALL_MS, ..self.clone() };
            let job = own.job().env("IMPLFUZZ_MODE", "kills").env("IMPLFUZZ_PATH", &path);
            let job = job.env("IMPLFUZZ_FROM", from.to_string()).timeout(Duration::from_secs(SECONDS));
            let (output, told) = own.listen(job, interrupt, &mut |_| ())?;
            for (input, mutant) in told.kills {
                told_by.get_mut(input).into_iter().for_each(|of| _ = of.insert(mutant));
            }
            if told.kills_done {
                return Ok(told_by);
            }
            let Some((input, mutant)) = at(&current).filter(|(input, _)| *input < inputs.len()) else {
                return Err(ended("running mutants", &output));
            };
            // It told itself apart, and would end the process again: this input is what tells it.
            told_by[input].insert(mutant);
            aside.insert(mutant);
            from = input;
        }
        Ok(told_by)
    }
}

/// Which input and which mutant ran when the process ended.
fn at(current: &std::path::Path) -> Option<(usize, usize)> {
    let number = u64::from_ne_bytes(fs::read(current).ok()?.try_into().ok()?);
    (number != u64::MAX).then_some(((number >> 32) as usize, (number & 0xffff_ffff) as usize))
}

fn ended(doing: &str, output: &Output) -> Error {
    let said = super::leg::summary(&output.stderr_text());
    Error::new(ErrorKind::Internal, format!("the fuzz process ended while it was {doing}: {said}"))
        .help("cargo implfuzz doctor; removing .implfuzz/cache builds it anew")
}
