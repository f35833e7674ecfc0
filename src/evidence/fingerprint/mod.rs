//! What a verdict is about, as hashes of what stands in the tree: needs no compiler and no database. `judge` and `status`
//! compute it here, so that both see the same.

mod c_tree;
mod constants;
mod dependencies;
mod header_folders;
mod crate_files;
mod drivers;
mod ports;

pub use c_tree::{CTree, UnitFlags};
pub use constants::Constants;
pub use crate_files::{Crate, FileHashes, KnownContract};
pub use dependencies::{DependencyGraph, Links, LinksOf, MENTIONS, Root, short};
pub use drivers::{driver_texts, drivers_hash, linked_files};
pub use header_folders::LibraryFlags;
pub use ports::{port_hash, port_mentions, ports_called};

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Deref;

/// What a verdict on a symbol is about, as hashes. When one changes, the verdict is stale.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fingerprint {
    /// The C text of the function and of all that decides what it does, compiler flags included.
    pub c: String,
    pub contract: String,
    /// The harness and its runtime.
    pub harness: String,
    /// The Rust function and the private items that it reaches; empty where there is no port.
    pub rust: String,
    /// The ports that it calls and the constants that it names, directly or not; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rust_calls: String,
    /// The committed inputs; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seeds: String,
    /// The drivers that its grade rests on; empty where it rests on none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub drivers: String,
}

impl Fingerprint {
    /// Of the symbol with this Rust name: `c` is the hash of its C text, `hash_of` and `mentions_of` know the ports that stand
    /// in the tree by their Rust names.
    pub fn of<N: Deref<Target = BTreeSet<String>>>(
        rust_name: &str,
        c: String,
        files: FileHashes,
        constants: &Constants,
        (hash_of, mentions_of): (impl Fn(&str) -> Option<String>, impl Fn(&str) -> Option<N>),
    ) -> Self {
        let mut calls = ports_called(rust_name, &mentions_of);
        let ports = calls.iter().map(String::as_str).chain([rust_name]);
        calls.extend(constants.named(ports.filter_map(&mentions_of)));
        let hash = |name: &str| hash_of(name).or_else(|| constants.hash(name));
        let FileHashes { contract, harness, seeds } = files;
        let rust = hash_of(rust_name).unwrap_or_default();
        Self {
            c,
            contract,
            harness,
            rust,
            rust_calls: ports::hash(&calls, &hash),
            seeds,
            drivers: String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
