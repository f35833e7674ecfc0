//! The lessons of one function's port, and their text in later prompts. Pure: shown lessons and step outcomes go
//! in, changes to store come out.
//!
//! A fix becomes a lesson only when the build or run that it was meant to cure is green; if anything else is wrong
//! after it, it is dropped. A shown lesson that did not prevent its failure loses trust.

mod ranking;
pub mod select;

use crate::contract::archetype::Archetype;
use crate::port::prompt::feedback::{Category, Feedback};
use crate::port::supervisor::{Outcome, Step};
use crate::store::MemoryId;
use crate::store::lesson::Item;
use crate::symbol::SymbolName;
use std::collections::BTreeSet;

/// Largest number of bytes of a stored key or text.
const MOST: usize = 240;
/// Largest number of changed lines that can describe a fix without notes by the model.
const FEW: usize = 3;

/// A change to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `text` cured the failure `key`.
    Cured { key: String, text: String },
    /// This lesson was shown, and its failure occurred again.
    Failed(MemoryId),
}

/// What must be green before a fix is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Green {
    Build,
    /// The acceptance run.
    Run,
}

/// A fix that is not confirmed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Claim {
    key: String,
    text: String,
    needs: Green,
}

/// A model's fix.
#[derive(Debug, Clone, Copy)]
pub struct Fix<'a> {
    /// The failure.
    pub feedback: &'a Feedback,
    /// The text with the failure, and the fixed text.
    pub before: &'a str,
    pub after: &'a str,
    /// The model's description of the fix.
    pub notes: Option<&'a str>,
}

/// The lessons of one function during its port.
#[derive(Debug, Clone)]
pub struct Lessons {
    symbol: SymbolName,
    /// The lessons that the last prompt showed, with the keys of their failures.
    told: Vec<(MemoryId, String)>,
    claim: Option<Claim>,
}

impl Lessons {
    /// The lessons of a function before its first question.
    pub fn new(symbol: SymbolName) -> Self {
        Self { symbol, told: Vec::new(), claim: None }
    }

    /// Records the lessons in the prompt that is sent, each with its key.
    pub fn tell(&mut self, told: Vec<(MemoryId, String)>) {
        self.told = told;
    }

    /// Records a new candidate; `fix` if it should fix another one.
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

    /// The changes that follow from the outcome of a step; `feedback` describes a failure.
    pub fn came(&mut self, step: &Step, outcome: &Outcome, feedback: Option<&Feedback>) -> Vec<Change> {
        let proof = match outcome {
            Outcome::Built => Green::Build,
            Outcome::AcceptanceUnrefuted => Green::Run,
            Outcome::AuditRejected(_)
            | Outcome::DoesNotCompile(_)
            | Outcome::Refuted(_)
            | Outcome::AcceptanceRefuted(_) => return self.failed(feedback),
            // A short run may call neither side, so the next run decides.
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

    /// The key of lessons about a failure. A compiler's message means the same anywhere; differing results concern
    /// one function only.
    fn key(&self, feedback: &Feedback) -> String {
        match feedback.category {
            category if category.is_of_compiling() || category == Category::Panic => clipped(&feedback.key),
            _ => clipped(&format!("{} in {}", feedback.key, self.symbol)),
        }
    }
}

/// The text for a prompt: the kind of the function, which does not count against the limit, and the lessons, each
/// with its function. Empty where there is no lesson.
pub fn words(kind: Option<Archetype>, lessons: &[(&Item, Option<&SymbolName>)]) -> String {
    let mut lines = ranking::within(lessons.iter().map(|(item, at)| line(item, *at)).collect());
    if let (Some(kind), false) = (kind, lines.is_empty()) {
        lines.insert(0, format!("This function is of the kind: {}.", kind.text()));
    }
    lines.join("\n")
}

fn line(item: &Item, at: Option<&SymbolName>) -> String {
    let lesson = &item.lesson;
    let at = at.map_or_else(|| "more than one function".to_owned(), |name| format!("`{name}`"));
    format!("- {at}: \"{}\" was cured by: {}", one_line(&lesson.key), one_line(&lesson.text))
}

/// The removed and added lines, if they are few.
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

/// The text in one line, without control characters, shortened if it is long.
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
