//! Names of Rust modules for C files: unique, valid identifiers.

use crate::symbol::RelPath;
use std::collections::{BTreeMap, BTreeSet};

/// Modules of the generated crate that are not made from a C file.
const RESERVED: &[&str] = &["lib", "main", "ffi", "capi", "callee", "globals"];

/// A valid identifier made from any text; keywords and `reserved` names get the suffix `_c`.
fn identifier(text: &str) -> String {
    let mut name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "c_");
    }
    let is_bare_underscore = name.chars().all(|c| c == '_');
    if is_bare_underscore || RESERVED.contains(&name.as_str()) || is_keyword(&name) {
        name.push_str("_c");
    }
    name
}

/// Whether the word has a special meaning in Rust. A name such as `Some` would be confused with the
/// prelude's.
pub(super) fn is_keyword(name: &str) -> bool {
    const ALSO: [&str; 6] = ["union", "gen", "Some", "None", "Ok", "Err"];
    syn::parse_str::<syn::Ident>(name).is_err() || ALSO.contains(&name)
}

/// A name for each file, in order: its stem, or, where stems clash, the stem with as many folders in front as
/// distinguish the files.
pub(super) fn names(files: &[RelPath]) -> BTreeMap<RelPath, String> {
    let mut stems: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        *stems.entry(identifier(stem(file))).or_default() += 1;
    }
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for file in files {
        let is_alone = stems[&identifier(stem(file))] == 1;
        let free = candidates(file, is_alone).find(|name| !taken.contains(name));
        let name = free.expect("the numbers never end");
        taken.insert(name.clone());
        names.insert(file.clone(), name);
    }
    names
}

fn stem(file: &RelPath) -> &str {
    file.0.file_stem().unwrap_or_default()
}

/// An endless list of possible names for a file, the best first.
fn candidates(file: &RelPath, is_alone: bool) -> impl Iterator<Item = String> {
    let folders: Vec<&str> =
        file.0.parent().into_iter().flat_map(|p| p.components()).map(|c| c.as_str()).collect();
    let with_folders = |depth: usize| {
        let mut parts = folders[folders.len() - depth..].to_vec();
        parts.push(stem(file));
        identifier(&parts.join("_"))
    };
    // Where stems clash, only a file without folders may use its bare stem.
    let first = usize::from(!is_alone && !folders.is_empty());
    let plain: Vec<String> = (first..=folders.len()).map(with_folders).collect();
    let longest = with_folders(folders.len());
    plain.into_iter().chain((2..).map(move |n: u64| format!("{longest}_{n}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name_of(files: &[&str]) -> Vec<String> {
        let files: Vec<RelPath> = files.iter().map(|f| RelPath((*f).into())).collect();
        let names = names(&files);
        files.iter().map(|f| names[f].clone()).collect()
    }

    #[test]
    fn stems_clashes_and_reserved_words() {
        assert_eq!(name_of(&["src/crc32.c", "src/a-b.c"]), ["crc32", "a_b"]);
        assert_eq!(name_of(&["src/lib.c", "match.c", "7z.c"]), ["lib_c", "match_c", "c_7z"]);
        assert_eq!(name_of(&["enc/util.c", "dec/util.c"]), ["enc_util", "dec_util"]);
        assert_eq!(name_of(&["util.c", "dec/util.c"]), ["util", "dec_util"]);
        assert_eq!(name_of(&["x/a/util.c", "y/a/util.c"]), ["a_util", "y_a_util"]);
    }

    proptest! {
        #[test]
        fn unique_valid_identifiers(files in prop::collection::btree_set("([a-c-]{1,2}/){0,2}[a-c_.é-]{1,2}\\.c", 1..12)) {
            let files: Vec<RelPath> = files.into_iter().map(|f| RelPath(f.into())).collect();
            let names = names(&files);
            let distinct: BTreeSet<&String> = names.values().collect();
            prop_assert_eq!(distinct.len(), files.len());
            for name in distinct {
                prop_assert!(syn::parse_str::<syn::Ident>(name).is_ok(), "{}", name);
            }
        }
    }
}
