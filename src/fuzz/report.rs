//! Parses the fuzz process's report from its pipe. Lines without the run's nonce are ignored.

use crate::fuzz::values::json::unhex;
use crate::verdict::{Finding, FindingClass, RunStats};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How a mutant was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    pub what: String,
}

/// The parsed report of one run.
#[derive(Debug, Default)]
pub struct Told {
    pub stats: RunStats,
    pub found: Option<Found>,
    /// The process reported its regular end.
    pub done: bool,
    /// The process ended while the port ran.
    pub exit_in_port: bool,
    /// The result of a `show` run: arguments and C's results.
    pub shown: Option<(Parts, Parts)>,
    /// The results of one side alone, and whether it finished all inputs.
    pub alone: Vec<Alone>,
    pub alone_done: bool,
    /// Killed mutants, by number.
    pub killed: BTreeMap<usize, Kill>,
    /// The decoded written inputs, by number.
    pub read: BTreeMap<usize, Said>,
    /// Pairs of an input and a mutant that it kills, and whether all inputs were run.
    pub kills: Vec<(usize, usize)>,
    pub kills_done: bool,
    /// Inputs that the original did not answer when mutants ran beside it.
    pub not_again: Vec<usize>,
    /// The number of inputs, once a replay has finished.
    pub replayed: Option<usize>,
}

/// A finding of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// With the smallest input that shows the same class.
    pub smallest: Finding,
    /// The finding before its input was minimised, if it was.
    pub first: Option<Finding>,
}

impl From<Finding> for Found {
    fn from(smallest: Finding) -> Self {
        Self { smallest, first: None }
    }
}

/// The decoded form of a written input.
#[derive(Debug)]
pub struct Said {
    pub input: Vec<u8>,
    /// Its arguments in the fuzz process's text.
    pub plain: String,
    /// The reason if the input is invalid, else empty.
    pub what: String,
}

/// The result of one side alone on an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alone {
    pub number: usize,
    pub outcome: AloneOutcome,
    /// The effects for people, if requested.
    pub shown: Parts,
    /// The arguments and the effects in the fuzz process's text, if requested.
    pub given: String,
    pub plain: String,
}

/// How a call on one side alone ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AloneOutcome {
    /// The call's effects, each part with its hash.
    Done(Parts),
    /// C broke, or the contract excludes the input.
    Rejected(String),
    Failed(FindingClass, String),
}

/// Named parts of arguments or effects, in order.
pub type Parts = Vec<(String, String)>;

/// A line of the report; each kind has only some of the fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    nonce: String,
    r#type: String,
    executions: u64,
    oracle_calls: u64,
    subject_calls: u64,
    rejected: Vec<(String, u64)>,
    class: String,
    what: String,
    number: usize,
    input: String,
    args: Parts,
    oracle: Parts,
    subject: Parts,
    record: Parts,
    given: String,
    plain: String,
}

impl Told {
    /// Parses one line; ignores lines of other runs.
    pub fn take(&mut self, line: &[u8], nonce: &str) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { return };
        if line.nonce != nonce {
            return;
        }
        match line.r#type.as_str() {
            "progress" | "stats" => self.stats(line),
            "done" => {
                self.done = true;
                self.stats(line);
            }
            "exit-in-port" => {
                self.exit_in_port = true;
                self.stats(line);
            }
            "finding" => {
                let finding = Finding {
                    class: class(&line.class),
                    what: readable(&line.what),
                    input: unhex(&line.input).unwrap_or_default(),
                    args: line.args,
                    oracle: line.oracle,
                    subject: line.subject,
                    place: None,
                };
                // The finding is reported first with its original input, then minimised.
                let first = self.found.take().map(|found| found.first.unwrap_or(found.smallest));
                self.found = Some(Found { smallest: finding, first });
            }
            "broken" => drop(self.stats.broken.insert(line.what, unhex(&line.input).unwrap_or_default())),
            "killed" => {
                self.killed.insert(line.number, Kill { what: line.what });
            }
            "replayed" => self.replayed = Some(line.number),
            "alone" => {
                let outcome = match line.class.as_str() {
                    "done" => AloneOutcome::Done(line.record),
                    "rejected" => AloneOutcome::Rejected(line.what),
                    word => AloneOutcome::Failed(class(word), readable(&line.what)),
                };
                self.alone.push(Alone {
                    number: line.number,
                    outcome,
                    shown: line.subject,
                    given: line.given,
                    plain: line.plain,
                });
            }
            "read" => {
                let said = Said {
                    input: unhex(&line.input).unwrap_or_default(),
                    plain: line.plain,
                    what: line.what,
                };
                self.read.insert(line.number, said);
            }
            "kills" => self.kills.push((line.executions as usize, line.number)),
            "not-again" => self.not_again.push(line.executions as usize),
            "kills-done" => self.kills_done = true,
            "alone-done" => self.alone_done = true,
            "shown" => self.shown = Some((line.args, line.oracle)),
            _ => {}
        }
    }

    fn stats(&mut self, line: Line) {
        self.stats.executions = line.executions;
        self.stats.oracle_calls = line.oracle_calls;
        self.stats.subject_calls = line.subject_calls;
        self.stats.rejected = line.rejected;
    }
}

/// What a panic or a crash says, with paths as users know them, and without what std adds for all programs.
pub fn readable(text: &str) -> String {
    const OVERLAY: &str = "/.implfuzz/overlay/";
    const ADDED: [&str; 2] = [" This indicates a bug in the program.", " note: run with `RUST_BACKTRACE"];
    let end = ADDED.iter().filter_map(|added| text.find(added)).min().unwrap_or(text.len());
    let words =
        text[..end].split(' ').map(|word| match (word.split_once(OVERLAY), word.strip_prefix("/rustc/")) {
            (Some((_, place)), _) => format!("rust/{place}"),
            (None, Some(place)) => place.split_once("/library/").map_or(place, |(_, place)| place).to_owned(),
            (None, None) => word.to_owned(),
        });
    words.collect::<Vec<_>>().join(" ")
}

fn class(word: &str) -> FindingClass {
    match word {
        "mismatch" => FindingClass::Mismatch,
        "panic" => FindingClass::Panic,
        "out-of-bounds" => FindingClass::OutOfBounds,
        "leak" => FindingClass::Leak,
        "system-call" => FindingClass::SystemCall,
        "state" => FindingClass::State,
        _ => FindingClass::Abort,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_the_nonce_says_nothing() {
        let mut told = Told::default();
        told.take(br#"{"nonce":"other","type":"done","executions":9}"#, "mine");
        told.take(b"not json", "mine");
        assert!(!told.done && told.stats.executions == 0);
        told.take(br#"{"nonce":"mine","type":"done","executions":9,"rejected":[["hang",2]]}"#, "mine");
        assert!(told.done);
        assert_eq!((told.stats.executions, told.stats.rejected.len()), (9, 1));
    }

    #[test]
    fn panics_are_short_and_name_places_in_the_tree() {
        let text = "panicked at /a/b/.implfuzz/overlay/src/x.rs:3:9: attempt to add with overflow";
        assert_eq!(readable(text), "panicked at rust/src/x.rs:3:9: attempt to add with overflow");
        let text = "panicked at /rustc/59807616/library/core/src/ptr/mod.rs:527:5: unsafe precondition(s) violated: \
            the ranges do not overlap This indicates a bug in the program. This check is optional.";
        let short = "panicked at core/src/ptr/mod.rs:527:5: unsafe precondition(s) violated: the ranges do not overlap";
        assert_eq!(readable(text), short);
        assert_eq!(readable("é panicked note: run with `RUST_BACKTRACE=1`"), "é panicked");
    }

    #[test]
    fn a_finding_carries_its_input_and_both_sides() {
        let mut told = Told::default();
        let line = br#"{"nonce":"n","type":"finding","class":"mismatch","what":"return value","input":"00ff","args":[["a","1"]],"oracle":[["r","2"]],"subject":[["r","3"]]}"#;
        told.take(line, "n");
        let finding = told.found.unwrap().smallest;
        assert_eq!((finding.class, finding.input), (FindingClass::Mismatch, vec![0, 255]));
    }
}
