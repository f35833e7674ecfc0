//! What the port of one function teaches, and how that is told to the next one. Pure: what was told and what came of it goes in,
//! what is to be stored comes out.
//!
//! A fix is kept when the build or the run that it was to cure is green, not before; one after which anything else is wrong is
//! not kept. What was told and did not keep its failure away is trusted less.

use super::feedback::{Category, Feedback, normalised};
use super::supervisor::{Outcome, Step};
use crate::contract::archetype::Archetype;
use crate::store::MemoryId;
use crate::store::lesson::{self, Item, Kind};
use crate::symbol::SymbolName;
use std::collections::BTreeSet;

/// Bytes of a key or a text that are kept.
const MOST: usize = 240;
/// Lines of a fix that speak for themselves where the model said nothing.
const FEW: usize = 3;

/// What is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `text` cured the failure `key`.
    Cured { key: String, text: String },
    /// This was told, and what it is about came again.
    Failed(MemoryId),
}

/// What must be green before a fix is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Green {
    Build,
    /// The run that accepts.
    Run,
}

/// A fix that nothing has borne out yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Claim {
    key: String,
    text: String,
    needs: Green,
}

/// A fix as it came from a model.
#[derive(Debug, Clone, Copy)]
pub struct Fix<'a> {
    /// What was wrong.
    pub feedback: &'a Feedback,
    /// The text that it was wrong with, and the mended one.
    pub before: &'a str,
    pub after: &'a str,
    /// What the model says that it did.
    pub notes: Option<&'a str>,
}

/// Between the questions and the runs of one function.
#[derive(Debug, Clone)]
pub struct Lessons {
    symbol: SymbolName,
    /// What the last prompt was told, by the failures that it is about.
    told: Vec<(MemoryId, String)>,
    claim: Option<Claim>,
}

impl Lessons {
    /// Of a function that nobody was asked about.
    pub fn new(symbol: SymbolName) -> Self {
        Self { symbol, told: Vec::new(), claim: None }
    }

    /// These stand in the prompt that is sent, each with its key.
    pub fn tell(&mut self, told: Vec<(MemoryId, String)>) {
        self.told = told;
    }

    /// A candidate came; `fix` where it is to mend another one.
    pub fn answered(&mut self, fix: Option<Fix>) {
        self.claim = fix.and_then(|fix| {
            let said = fix.notes.map(one_line).filter(|text| !text.is_empty());
            let text = said.or_else(|| changed(fix.before, fix.after))?;
            let needs = match fix.feedback.category {
                category if category.is_of_compiling() => Green::Build,
                _ => Green::Run,
            };
            Some(Claim { key: self.key(fix.feedback), text, needs })
        });
    }

    /// What came of a step; `feedback` is about it where it is a failure.
    pub fn came(&mut self, step: &Step, outcome: &Outcome, feedback: Option<&Feedback>) -> Vec<Change> {
        let proof = match outcome {
            Outcome::Built => Green::Build,
            Outcome::AcceptanceUnrefuted => Green::Run,
            Outcome::AuditRejected(_)
            | Outcome::DoesNotCompile(_)
            | Outcome::Refuted(_)
            | Outcome::AcceptanceRefuted(_) => return self.failed(feedback),
            // So short a run may call neither side: the next one decides.
            Outcome::Vacuous if *step != Step::Smoke => return self.failed(feedback),
            _ => return Vec::new(),
        };
        let claim = self.claim.take_if(|claim| claim.needs == proof);
        claim.map(|Claim { key, text, .. }| Change::Cured { key, text }).into_iter().collect()
    }

    fn failed(&mut self, feedback: Option<&Feedback>) -> Vec<Change> {
        self.claim = None;
        let key = feedback.map(|feedback| self.key(feedback));
        let told = std::mem::take(&mut self.told);
        let again = told.into_iter().filter(|(_, about)| Some(about) == key.as_ref());
        again.map(|(id, _)| Change::Failed(id)).collect()
    }

    /// What a lesson about a failure is found by. A compiler's words say what is wrong anywhere; that two results differ says
    /// it of one function only.
    fn key(&self, feedback: &Feedback) -> String {
        match feedback.category {
            category if category.is_of_compiling() || category == Category::Panic => clipped(&feedback.key),
            _ => clipped(&format!("{} in {}", feedback.key, self.symbol)),
        }
    }
}

/// Expressions of a contract as the key of the constraint that they are.
pub fn constraint_key(symbol: &SymbolName, require: &[String]) -> String {
    clipped(&normalised(&format!("{symbol}: {}", require.join(" && "))))
}

/// The same in words: what is tested is no promise about who calls it.
pub fn constraint_text(symbol: &SymbolName, require: &[String]) -> String {
    one_line(&format!("`{symbol}` is only tested where {}", require.join(" && ")))
}

/// What a prompt is told: the kind of the function, which rides free, and the lessons, each with the function that it comes from.
/// Empty where there is no lesson.
pub fn words(kind: Option<Archetype>, lessons: &[(&Item, Option<&SymbolName>)]) -> String {
    let mut lines = lesson::within(lessons.iter().map(|(item, at)| line(item, *at)).collect());
    if let (Some(kind), false) = (kind, lines.is_empty()) {
        lines.insert(0, format!("This function is of the kind: {}.", kind.text()));
    }
    lines.join("\n")
}

fn line(item: &Item, at: Option<&SymbolName>) -> String {
    let lesson = &item.lesson;
    let at = at.map_or_else(|| "more than one function".to_owned(), |name| format!("`{name}`"));
    match lesson.kind {
        Kind::KnownFix => {
            format!("- {at}: \"{}\" was cured by: {}", one_line(&lesson.key), one_line(&lesson.text))
        }
        kind => format!("- {at}: {}: {}", kind.word(), one_line(&lesson.text)),
    }
}

/// The lines that were taken out and put in, where they are few.
fn changed(before: &str, after: &str) -> Option<String> {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let (before, after) = (lines(before), lines(after));
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        let other: BTreeSet<&String> = other.iter().collect();
        one.iter().filter(|line| !other.contains(line)).map(|line| format!("`{line}`")).collect()
    };
    let (out, new) = (only(&before, &after), only(&after, &before));
    let is_few = |list: &Vec<String>| (1..=FEW).contains(&list.len());
    (is_few(&out) && is_few(&new)).then(|| one_line(&format!("{} became {}", out.join(" "), new.join(" "))))
}

/// In one line, without control characters, cut where it is long.
fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    clipped(&words.join(" "))
}

fn clipped(text: &str) -> String {
    if text.len() <= MOST {
        return text.to_owned();
    }
    let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests;
