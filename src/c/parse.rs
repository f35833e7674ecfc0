//! Parses the units of a library, several at a time.

use super::flags::{Discovery, clang_arguments};
use super::merge::{self, Merged};
use super::parse_unit::{self, UnitFacts};
use super::workers;
use crate::error::{Error, ErrorKind, Result};
use camino::Utf8Path;

type Outcome = std::result::Result<UnitFacts, String>;

/// Parses all units and merges what they hold. Units with error diagnostics are left out, with the diagnostics.
///
/// # Errors
/// `Environment` without libclang, `C` when no unit parses.
pub(super) fn parse(root: &Utf8Path, discovery: Discovery) -> Result<Merged> {
    let outcomes = outcomes(root, &discovery)?;
    let merged = merge::merge(discovery, outcomes);
    if merged.library.units.is_empty() {
        return Err(nothing_left(root, &merged));
    }
    Ok(merged)
}

fn nothing_left(root: &Utf8Path, merged: &Merged) -> Error {
    let reasons: Vec<String> =
        merged.library.left_out.iter().take(3).map(|l| format!("\n  {}: {}", l.file, l.reason)).collect();
    let message = format!("no C source under {root} can be used:{}", reasons.concat());
    Error::new(ErrorKind::C, message)
        .help("correct include_dirs, defines and flags under [c] in implfuzz.toml")
}

fn outcomes(root: &Utf8Path, discovery: &Discovery) -> Result<Vec<Outcome>> {
    workers::map(&discovery.units, |unit| parse_unit::read(root, &unit.file.0, &clang_arguments(root, unit)))
}
