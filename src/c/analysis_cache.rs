//! The context of one analysis: the library's location, its tools, and the cached results of earlier analyses.

use super::build_system::{BuildSystems, Programs};
use super::inputs::Files;
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::store::{AnalysisKind, Kept, Store};
use camino::Utf8Path;
use serde::de::DeserializeOwned;
use std::fmt;
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

impl fmt::Debug for Tools<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("scratch", &self.scratch).finish_non_exhaustive()
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
