//! The constants of `ffi.rs` and the tables of `globals.rs`. A verdict is about those that the port names, although C may
//! not name them.

use crate::digest::sha256;
use crate::error::Result;
use crate::rust::hash::{text_hash, text_names};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::Path;

/// What stands before the name of a table, and before those of all.
const TABLE: &str = "pub static ";
const HEADS: [&str; 3] = ["pub const ", TABLE, "pub mod "];

/// Constants, modules of constants and tables by name, with their text.
#[derive(Debug, Clone, Default)]
pub struct Constants(BTreeMap<String, String>);

impl Constants {
    /// Of the port crate in `dir`.
    ///
    /// # Errors
    /// A generated file that cannot be read.
    pub fn read(dir: &Path) -> Result<Self> {
        let [ffi, globals] =
            ["src/ffi.rs", "src/globals.rs"].map(|file| fs_err::read_to_string(dir.join(file)));
        Ok(Self::of([&ffi?, &globals?]))
    }

    /// Of these generated files. Tables are long, so lines are read, not syntax: an item begins with its head at the
    /// start of a line, and ends before the next line that starts with anything but a blank or a closing bracket.
    pub fn of(files: [&str; 2]) -> Self {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for file in files {
            let mut current = None;
            for line in file.lines() {
                if !line.is_empty() && !line.starts_with([' ', '\t', ']', '}', ')']) {
                    current = name_of(line);
                }
                if let Some(name) = current {
                    let text = texts.entry(name.to_owned()).or_default();
                    text.extend([line, "\n"]);
                }
            }
        }
        Self(texts)
    }

    /// Whether there is one with this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of the tables.
    pub fn tables(&self) -> BTreeSet<String> {
        self.0.iter().filter(|(_, text)| text.starts_with(TABLE)).map(|(name, _)| name.clone()).collect()
    }

    /// The hash of its tokens.
    pub(super) fn hash(&self, name: &str) -> Option<String> {
        let text = self.0.get(name)?;
        Some(text_hash(text).map_or_else(|| sha256(text), |hash| hash.as_str().to_owned()))
    }

    /// Those that are among these names, and those that they name in turn.
    pub(super) fn named<N: Deref<Target = BTreeSet<String>>>(
        &self,
        names: impl Iterator<Item = N>,
    ) -> BTreeSet<String> {
        let known = |names: &BTreeSet<String>| -> Vec<String> {
            names.iter().filter(|name| self.has(name)).cloned().collect()
        };
        let mut open: Vec<String> = names.flat_map(|names| known(&names)).collect();
        let mut found = BTreeSet::new();
        while let Some(next) = open.pop() {
            if found.insert(next.clone()) {
                open.extend(known(&text_names(&self.0[&next])));
            }
        }
        found
    }
}

/// The name of the item that begins on this line. Of variables that change, C's text says what counts.
fn name_of(line: &str) -> Option<&str> {
    let rest = HEADS.iter().find_map(|head| line.strip_prefix(head))?;
    let name = rest.split([':', ' ', '{']).next()?;
    (name != "mut").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FFI: &str = "pub const K_MAX: u32 = 31;\npub type k_kind = u32;\npub mod k_kinds {\n    pub const A: u32 = 1;\n}\n\
        unsafe extern \"C\" {\n    pub static k_sums: [u8; 2];\n}\n";
    const GLOBALS: &str = "/// `k_muls` at 3.\n#[rustfmt::skip]\npub static k_muls: [u8; 4] = [\n    31, 33,\n    k_one, 7,\n];\n\
        pub static mut k_total: u32 = 0;\npub static k_one: u8 = 1;\n";

    #[test]
    fn constants_tables_and_modules_of_constants_are_known_and_variables_are_not() {
        let all = Constants::of([FFI, GLOBALS]);
        let names: Vec<&str> = all.0.keys().map(String::as_str).collect();
        assert_eq!(names, ["K_MAX", "k_kinds", "k_muls", "k_one"]);
        assert_eq!(all.tables(), BTreeSet::from(["k_muls", "k_one"].map(str::to_owned)));
        assert!(all.0["k_kinds"].contains("A: u32 = 1") && all.0["k_muls"].ends_with("7,\n];\n"), "{all:?}");
        let named = BTreeSet::from(["k_muls", "f", "k_kind"].map(str::to_owned));
        assert_eq!(all.named([&named].into_iter()), BTreeSet::from(["k_muls", "k_one"].map(str::to_owned)));
    }

    #[test]
    fn a_value_counts_and_layout_does_not() {
        let hash = |text: &str| Constants::of([FFI, text]).hash("k_muls");
        assert_eq!(hash(GLOBALS), hash(&GLOBALS.replace("31, 33,\n    ", "31,\n    33,\n    ")));
        assert_ne!(hash(GLOBALS), hash(&GLOBALS.replace("33", "34")));
        assert_eq!(hash(GLOBALS), hash(&GLOBALS.replace("u32 = 0", "u32 = 9")));
        assert_eq!(hash("").as_deref(), None);
    }
}
