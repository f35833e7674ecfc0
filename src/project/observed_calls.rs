//! The file of the tree that says what real calls look like; `contract --learn` writes it.

use super::Project;
use crate::config::Config;
use crate::contract::observed_calls::Calls;
use crate::contract::pointer_facts::FactTable;
use crate::contract::types::{Contract, Judgeable};
use crate::error::Result;
use crate::platform::workspace::Workspace;
use fs_err as fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Project {
    /// What the C text and real calls say of the library.
    pub fn facts(&self) -> FactTable<'_> {
        FactTable::with_calls(&self.library, &self.calls)
    }

    /// The file that says what real calls look like.
    pub fn calls_path(&self) -> PathBuf {
        below(&self.rust_dir())
    }
}

fn below(rust_dir: &Path) -> PathBuf {
    rust_dir.join("contracts").join("calls.json")
}

/// What `contract --learn` wrote, if it has run.
pub(super) fn read(workspace: &Workspace, config: &Config) -> Result<Calls> {
    let path = below(&workspace.root().join(&config.rust.dir));
    match fs::read_to_string(&path) {
        Ok(text) => {
            let shown = path.strip_prefix(workspace.root()).unwrap_or(&path);
            Calls::parse(&text, &shown.display().to_string())
        }
        // `init` says what to do about a file in the place of the folder.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Calls::default())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether two inferences give different contracts.
pub(super) fn differ(one: &Judgeable, other: &Judgeable) -> bool {
    let bare = |judgeable: &Judgeable| judgeable.contract().map(Contract::without_reasons);
    bare(one) != bare(other)
}
