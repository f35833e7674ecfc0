//! The context of one analysis: the library's location, its tools, and the cached results of earlier analyses.

use super::build_system::{BuildSystems, Programs};
use super::inputs::{Files, keep};
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::store::{AnalysisKind, Kept, Store};
use crate::symbol::Unit;
use camino::Utf8Path;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::Path;

/// The tools that read C.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// Identifies the versions of the tools and of this program; it changes when any of them changes.
    pub identity: &'a str,
    /// Finds the programs; called only if something changed.
    pub programs: &'a dyn Fn() -> Result<Programs>,
    /// A scratch folder. Git ignores it, it can be regenerated at any time, and it need not exist.
    pub scratch: &'a Path,
    pub interrupt: &'a Interrupt,
}

impl<'a> Tools<'a> {
    pub(super) fn build_systems(&self, programs: &Programs) -> BuildSystems<'a> {
        let Self { identity, scratch, interrupt, .. } = *self;
        BuildSystems { programs: programs.clone(), scratch, interrupt, identity }
    }
}

/// The cached values and the hashes of their input files.
pub(super) struct Keeper<'a> {
    pub root: &'a Utf8Path,
    pub tools: Tools<'a>,
    pub files: Files<'a>,
    /// Fingerprint of what every cached value depends on.
    pub base: String,
    store: &'a mut Store,
}

impl<'a> Keeper<'a> {
    pub fn new(root: &'a Utf8Path, tools: Tools<'a>, base: String, store: &'a mut Store) -> Self {
        Self { root, tools, files: Files::new(root), base, store }
    }

    /// The cached value, if none of its inputs changed.
    pub fn kept<T: DeserializeOwned>(
        &mut self,
        kind: AnalysisKind,
        subject: &str,
        fingerprint: &str,
    ) -> Result<Option<T>> {
        self.files.kept(self.store, kind, subject, fingerprint)
    }

    pub fn keep(&mut self, kind: AnalysisKind, values: &[(String, Kept)]) -> Result<()> {
        if values.is_empty() { Ok(()) } else { self.store.keep(kind, values) }
    }

    /// Removes the values of units that no longer exist.
    pub fn keep_only(&mut self, subjects: &[&str]) -> Result<()> {
        for kind in [AnalysisKind::Facts, AnalysisKind::Declarations, AnalysisKind::Translation] {
            self.store.keep_only(kind, subjects)?;
        }
        Ok(())
    }
}

/// The result for a unit, or the reason why the unit cannot be used.
pub(super) type Outcome<T> = std::result::Result<T, String>;

/// Results of one kind for the units of a library, as far as they are known.
pub(super) struct PerUnit<'u, T> {
    kind: AnalysisKind,
    units: &'u [Unit],
    /// For each unit, the hash of everything besides files on which its result depends.
    prints: Vec<String>,
    outcomes: Vec<Option<Outcome<T>>>,
}

impl<'u, T: Serialize + DeserializeOwned> PerUnit<'u, T> {
    /// The cached results of which no input changed.
    pub fn cached(
        keeper: &mut Keeper,
        kind: AnalysisKind,
        units: &'u [Unit],
        prints: Vec<String>,
    ) -> Result<Self> {
        let mut outcomes = Vec::new();
        for (unit, print) in units.iter().zip(&prints) {
            outcomes.push(keeper.kept(kind, unit.file.0.as_str(), print)?.map(Ok));
        }
        Ok(Self { kind, units, prints, outcomes })
    }

    /// Whether the result of the unit with this number is not known.
    pub fn lacks(&self, number: usize) -> bool {
        self.outcomes[number].is_none()
    }

    /// Adds the results of the other units, by number, and caches them; `files` names those that a result depends on.
    pub fn complete(
        mut self,
        keeper: &mut Keeper,
        fresh: impl IntoIterator<Item = (usize, Outcome<T>)>,
        files: impl Fn(&Unit, &T) -> BTreeSet<String>,
    ) -> Result<Vec<Outcome<T>>> {
        let mut kept = Vec::new();
        for (number, outcome) in fresh {
            // Do not cache a unit with errors: the repair may be in a file outside the recorded inputs.
            if let Ok(result) = &outcome {
                let unit = &self.units[number];
                let inputs = keeper.files.hashes(files(unit, result));
                kept.push((unit.file.to_string(), keep(&self.prints[number], inputs, result)));
            }
            self.outcomes[number] = Some(outcome);
        }
        keeper.keep(self.kind, &kept)?;
        Ok(self.outcomes.into_iter().flatten().collect())
    }
}
