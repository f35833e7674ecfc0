//! The C half of a status: the hash of each symbol's C text as it stands now, and what of it changed.

use crate::c::text::DIRECTIVES;
use crate::evidence::fingerprint::{CTree, DependencyGraph, LibraryFlags, MENTIONS, short};
use crate::evidence::lock::{Entry, Lock, roots};
use std::collections::HashMap;

/// At most so many changes are named.
const SHOWN: usize = 3;

pub(super) struct CSide<'l> {
    lock: &'l Lock,
    tree: CTree,
    hashes: HashMap<&'l str, String>,
}

impl<'l> CSide<'l> {
    pub fn of(tree: CTree, lock: &'l Lock) -> Self {
        let graph = DependencyGraph::of(&tree, &|id| lock.links(id), &roots(lock.symbols.values()));
        let hashes = lock.symbols.keys().map(String::as_str).zip(graph.digests()).collect();
        Self { lock, tree, hashes }
    }

    /// What drivers are compiled with on account of the library.
    pub fn library_flags(&self) -> &LibraryFlags {
        &self.tree.library_flags
    }

    /// The hash of the C text of a symbol.
    pub fn hash(&self, symbol: &str) -> String {
        self.hashes.get(symbol).cloned().unwrap_or_default()
    }

    /// Which of the text that a symbol depends on changed, in words.
    pub fn changed(&self, entry: &Entry) -> String {
        let graph = DependencyGraph::of(&self.tree, &|id| self.lock.links(id), &roots([entry]));
        let now = graph.closure(0);
        let was = |id: &String| self.lock.c.get(id).map(|line| line.hash.as_str());
        let mut names: Vec<&String> =
            now.iter().filter(|(id, hash)| was(id) != Some(short(hash))).map(|(id, _)| id).collect();
        // Its own text is what one looks for first.
        names.sort_by_key(|id| !entry.chunks.contains(*id));
        let shown: Vec<String> = names.iter().take(SHOWN).map(|id| said(id)).collect();
        let more = names.len().saturating_sub(SHOWN);
        match (shown.is_empty(), more) {
            (true, _) => "the C text that it depends on changed".to_owned(),
            (_, 0) => format!("{} changed", shown.join(", ")),
            _ => format!("{} and {more} more of the C text changed", shown.join(", ")),
        }
    }
}

/// A chunk for people.
fn said(id: &str) -> String {
    match id.rsplit_once(':') {
        Some((file, DIRECTIVES)) => format!("the `#include` lines or pragmas of {file}"),
        Some((file, "(flags)")) => format!("the compiler flags of {file}"),
        Some((file, name)) => match name.strip_suffix(MENTIONS) {
            Some(name) => format!("what mentions `{name}` in {file}"),
            None => format!("`{name}` in {file}"),
        },
        None => format!("`{id}`"),
    }
}
