//! The C half of a check: the hash of each symbol's C text as it stands now, and what of it changed.

use crate::chunks::DIRECTIVES;
use crate::evidence::{CTree, Web, roots, short};
use crate::lock::{Entry, Lock};
use std::collections::{BTreeSet, HashMap};

/// At most so many changes are named.
const SHOWN: usize = 3;

pub(super) struct CSide<'l> {
    lock: &'l Lock,
    tree: CTree,
    hashes: HashMap<&'l str, String>,
}

/// Who calls each chunk.
pub(super) struct Callers<'l> {
    lock: &'l Lock,
    callers: HashMap<&'l str, Vec<&'l str>>,
}

impl<'l> CSide<'l> {
    pub fn of(tree: CTree, lock: &'l Lock) -> Self {
        let digests = Web::of(&tree, &|id| lock.links(id), &roots(lock.symbols.values())).digests();
        let hashes = lock.symbols.keys().map(String::as_str).zip(digests).collect();
        Self { lock, tree, hashes }
    }

    /// The hash of the C text of a symbol.
    pub fn hash(&self, symbol: &str) -> String {
        self.hashes.get(symbol).cloned().unwrap_or_default()
    }

    /// Which of the text that a symbol depends on changed, in words.
    pub fn changed(&self, entry: &Entry) -> String {
        let now = Web::of(&self.tree, &|id| self.lock.links(id), &roots([entry])).closure(0);
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

impl<'l> Callers<'l> {
    pub fn of(lock: &'l Lock) -> Self {
        let mut callers: HashMap<&str, Vec<&str>> = HashMap::new();
        for (caller, line) in &lock.c {
            line.links.calls.iter().for_each(|callee| callers.entry(callee).or_default().push(caller));
        }
        Self { lock, callers }
    }

    /// Functions whose C text leads back to this one, but for those that it calls itself: by their names in C.
    pub fn ways_back(&self, entry: &'l Entry) -> BTreeSet<String> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = entry.chunks.iter().map(String::as_str).collect();
        while let Some(next) = open.pop() {
            open.extend(
                self.callers.get(next).into_iter().flatten().copied().filter(|caller| found.insert(caller)),
            );
        }
        let calls = |id: &&str| {
            entry.chunks.iter().filter_map(|own| self.lock.links(own)).any(|l| l.calls.contains(*id))
        };
        found.retain(|id| !calls(id));
        found.into_iter().filter_map(|id| Some(id.rsplit_once(':')?.1.to_owned())).collect()
    }
}

/// A chunk for people.
fn said(id: &str) -> String {
    match id.rsplit_once(':') {
        Some((file, DIRECTIVES)) => format!("the `#include` lines or pragmas of {file}"),
        Some((file, "(flags)")) => format!("the compiler flags of {file}"),
        Some((file, name)) => format!("`{name}` in {file}"),
        None => format!("`{id}`"),
    }
}
