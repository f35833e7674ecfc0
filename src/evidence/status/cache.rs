//! What the last check read of each module, so that the next one parses what changed and no more. Notes are of one machine and can be removed at any
//! time: they are believed where the module's text, all else that its audit looks at, and the tool are the same. What is in
//! other files of a port (contract, harness, seeds) is in no note.

use crate::digest::of_parts;
use crate::platform::workspace::write_atomic;
use crate::project::ported::Ported;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What a module says, and what the audit says of its ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reading {
    /// Of every `pub fn`, whether it has a body.
    pub states: BTreeMap<String, Ported>,
    /// The line of an item that concerns every port.
    pub open: Option<usize>,
    /// The functions of the library, by their Rust names.
    pub functions: BTreeMap<String, Function>,
}

/// A function of the library as a module has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Function {
    pub line: usize,
    /// Of a port.
    pub hash: Option<String>,
    /// The functions of the library that a port mentions, by their Rust names, and constants of the crate.
    pub mentions: Option<BTreeSet<String>>,
    /// Where and why the audit rejects a port that has evidence.
    pub rejected: Option<(usize, String)>,
}

/// Readings of modules, each under the hash of all that it follows from.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Notes {
    modules: BTreeMap<String, (String, Reading)>,
}

impl Notes {
    /// What was noted; nothing where that cannot be read.
    pub fn load(path: &Path) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Only where the tool has its directory already; a tree that cannot be written is checked without notes the next time, too.
    pub fn save(&self, path: &Path) {
        if path.parent().and_then(Path::parent).is_some_and(Path::is_dir) {
            let text = serde_json::to_vec(self).expect("notes are texts and numbers");
            let _ = write_atomic(path, &text);
        }
    }

    pub fn reading(&self, module: &str, key: &str) -> Option<&Reading> {
        self.modules.get(module).filter(|(noted, _)| noted == key).map(|(_, reading)| reading)
    }

    pub fn add(&mut self, module: String, key: String, reading: Reading) {
        self.modules.insert(module, (key, reading));
    }

    /// Whether the same is noted of the same modules.
    pub fn same_as(&self, other: &Self) -> bool {
        self.modules
            .iter()
            .map(|(name, (key, _))| (name, key))
            .eq(other.modules.iter().map(|(name, (key, _))| (name, key)))
    }
}

/// This build of the tool: another one may audit otherwise. Nothing where the file of the program cannot be looked at.
pub(super) fn tool() -> Option<String> {
    let file = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    let changed = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let parts =
        [env!("CARGO_PKG_VERSION").to_owned(), file.len().to_string(), changed.as_nanos().to_string()];
    Some(of_parts(parts))
}
