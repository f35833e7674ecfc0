//! How a grade looks: a class for its colour, and a sign, because colour alone tells nothing to some readers.

use crate::survey::Known;
use crate::verdict::Grade;

/// The word for the state of a function; functions without a stub have no grade.
pub(super) fn word(known: &Known) -> &'static str {
    known.judgement.as_ref().map_or("not portable", |one| one.grade.word())
}

/// The class of the style sheet.
pub(super) fn class(known: &Known) -> &'static str {
    match known.judgement.as_ref().map(|one| one.grade) {
        Some(Grade::Exhaustive | Grade::Verified) => "good",
        Some(Grade::Weak) => "weak",
        Some(Grade::Refuted) => "bad",
        Some(Grade::Stale | Grade::Unjudged | Grade::Unverifiable) => "open",
        Some(Grade::Stub) | None => "none",
    }
}

/// One character.
pub(super) fn sign(known: &Known) -> char {
    match known.judgement.as_ref().map(|one| one.grade) {
        Some(Grade::Exhaustive) => '★',
        Some(Grade::Verified) => '✓',
        Some(Grade::Weak) => '~',
        Some(Grade::Refuted) => '✗',
        Some(Grade::Stale | Grade::Unjudged | Grade::Unverifiable) => '?',
        Some(Grade::Stub) => '·',
        None => '-',
    }
}
