//! Reads the units of a library through libclang, several concurrently, and only changed ones.

use super::analysis_cache::{Keeper, Outcome, PerUnit};
use super::flags::{Discovery, clang_arguments};
use super::merge::Merged;
use super::parse_unit::{self, UnitFacts};
use super::workers;
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::store::AnalysisKind;
use crate::symbol::{RelPath, Unit};

/// The facts of the units in their order, and the units that were read this time.
///
/// # Errors
/// `Environment` without libclang, `Store` when the database fails, and Ctrl-C.
pub(super) fn outcomes(
    keeper: &mut Keeper,
    discovery: &Discovery,
) -> Result<(Vec<Outcome<UnitFacts>>, Vec<RelPath>)> {
    let units = &discovery.units;
    let prints = units.iter().map(|unit| unit_print(keeper, unit)).collect();
    let cached = PerUnit::cached(keeper, AnalysisKind::Facts, units, prints)?;
    let open: Vec<usize> = (0..units.len()).filter(|i| cached.lacks(*i)).collect();
    let (root, interrupt) = (keeper.root, keeper.tools.interrupt);
    let read = workers::map(&open, |i| {
        interrupt.check()?;
        Ok((*i, parse_unit::read(root, &units[*i].file.0, &clang_arguments(root, &units[*i]))))
    })?;
    let outcomes = cached.complete(keeper, read, |_, facts| facts.files.clone())?;
    Ok((outcomes, open.iter().map(|i| units[*i].file.clone()).collect()))
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
