//! Reads the units of a library through libclang, several concurrently, and only changed ones.

use super::analysis_cache::Keeper;
use super::flags::{Discovery, clang_arguments};
use super::inputs::keep;
use super::merge::Merged;
use super::parse_unit::{self, UnitFacts};
use super::workers;
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::store::AnalysisKind;
use crate::symbol::{RelPath, Unit};

/// The facts of a unit, or the reason why it cannot be used.
pub(super) type Outcome = std::result::Result<UnitFacts, String>;

/// The outcomes in the order of the units, and the units that were read this time.
///
/// # Errors
/// `Environment` without libclang, `Store` when the database fails, and Ctrl-C.
pub(super) fn outcomes(keeper: &mut Keeper, discovery: &Discovery) -> Result<(Vec<Outcome>, Vec<RelPath>)> {
    let units = &discovery.units;
    let prints: Vec<String> = units.iter().map(|unit| unit_print(keeper, unit)).collect();
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    for (unit, print) in units.iter().zip(&prints) {
        outcomes.push(keeper.kept(AnalysisKind::Facts, unit.file.0.as_str(), print)?.map(Ok));
    }
    let open: Vec<usize> = (0..units.len()).filter(|i| outcomes[*i].is_none()).collect();
    let (root, interrupt) = (keeper.root, keeper.tools.interrupt);
    let read = workers::map(&open, |i| {
        interrupt.check()?;
        Ok(parse_unit::read(root, &units[*i].file.0, &clang_arguments(root, &units[*i])))
    })?;
    let read: Vec<Outcome> = read.into_iter().collect::<Result<_>>()?;
    let mut fresh = Vec::new();
    for (i, outcome) in open.iter().zip(read) {
        // Do not cache a unit with errors: the repair may be in a file outside the recorded inputs.
        if let Ok(facts) = &outcome {
            let inputs = keeper.files.hashes(facts.files.iter().cloned());
            fresh.push((units[*i].file.to_string(), keep(&prints[*i], inputs, facts)));
        }
        outcomes[*i] = Some(outcome);
    }
    keeper.keep(AnalysisKind::Facts, &fresh)?;
    let read = open.iter().map(|i| units[*i].file.clone()).collect();
    Ok((outcomes.into_iter().flatten().collect(), read))
}

/// Hash of everything besides files that determines the meaning of a unit.
pub(super) fn unit_print(keeper: &Keeper, unit: &Unit) -> String {
    let arguments = clang_arguments(keeper.root, unit).join("\n");
    of_parts([keeper.base.as_str(), unit.module.as_str(), arguments.as_str()])
}

/// The error if no unit can be used; it shows the first reasons.
pub(super) fn nothing_left(keeper: &Keeper, merged: &Merged) -> Error {
    let reasons: Vec<String> =
        merged.library.left_out.iter().take(3).map(|l| format!("\n  {}: {}", l.file, l.reason)).collect();
    let message = format!("no C source under {} can be used:{}", keeper.root, reasons.concat());
    Error::new(ErrorKind::C, message)
        .help("correct include_dirs, defines and flags under [c] in implfuzz.toml")
}
