//! What one analysis works with: where the library is, what its tools are, and what is kept of earlier analyses.

use super::inputs::Files;
use crate::error::Result;
use crate::process::Interrupt;
use crate::store::{AnalysisKind, Kept, Store};
use camino::Utf8Path;
use serde::de::DeserializeOwned;
use std::fmt;
use std::path::{Path, PathBuf};

/// The tools that read C.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// Changes when any of them changes, or this program does.
    pub identity: &'a str,
    /// Finds the C compiler; asked only when there is something to compile.
    pub cc: &'a dyn Fn() -> Result<PathBuf>,
    /// A folder for what the compiler reads and writes; made where it is missing.
    pub scratch: &'a Path,
    pub interrupt: &'a Interrupt,
}

impl fmt::Debug for Tools<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("scratch", &self.scratch).finish_non_exhaustive()
    }
}

/// Kept values and their files.
pub(super) struct Keeper<'a> {
    pub root: &'a Utf8Path,
    pub tools: Tools<'a>,
    pub files: Files<'a>,
    /// Fingerprint of what every value depends on.
    pub base: String,
    store: &'a mut Store,
}

impl<'a> Keeper<'a> {
    pub fn new(root: &'a Utf8Path, tools: Tools<'a>, base: String, store: &'a mut Store) -> Self {
        Self { root, tools, files: Files::new(root), base, store }
    }

    /// The value that is kept, if everything that it came from is the same.
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

    /// Forgets units that are no more.
    pub fn keep_only(&mut self, subjects: &[&str]) -> Result<()> {
        for kind in [AnalysisKind::Facts, AnalysisKind::Declarations, AnalysisKind::Translation] {
            self.store.keep_only(kind, subjects)?;
        }
        Ok(())
    }
}
