//! How a grade looks: a class for its colour, and a sign, because colour alone tells nothing to some readers.

use crate::survey::Known;
use crate::verdict::Grade;

/// The word for the state of a function; functions without a stub have no grade.
pub(super) fn word(known: &Known) -> &'static str {
    known.judgement.as_ref().map_or("not portable", |one| one.grade.word())
}

/// The class of the style sheet.
pub(super) fn class(known: &Known) -> &'static str {
    known.judgement.as_ref().map_or("none", |one| class_of(one.grade))
}

pub(super) fn class_of(grade: Grade) -> &'static str {
    match grade {
        Grade::Exhaustive | Grade::Verified => "good",
        Grade::Weak => "weak",
        Grade::Refuted => "bad",
        Grade::Stale | Grade::Unjudged | Grade::Unverifiable => "open",
        Grade::Stub => "none",
    }
}

/// One character.
pub(super) fn sign(known: &Known) -> char {
    known.judgement.as_ref().map_or('-', |one| sign_of(one.grade))
}

pub(super) fn sign_of(grade: Grade) -> char {
    match grade {
        Grade::Exhaustive => '★',
        Grade::Verified => '✓',
        Grade::Weak => '~',
        Grade::Refuted => '✗',
        Grade::Stale | Grade::Unjudged | Grade::Unverifiable => '?',
        Grade::Stub => '·',
    }
}
