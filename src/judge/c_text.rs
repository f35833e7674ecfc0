//! The C text that decides what a function does, as a hash: its own, what it calls, the macros, globals and compiler
//! flags of all of them; without comments and layout.

use crate::symbol::{Function, Library, LibraryIndex, RelPath, SymbolKey};
use fs_err as fs;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

type Hash = [u8; 32];

/// The hashes of all functions of a library, each function read once.
#[derive(Debug)]
pub struct CTexts<'a> {
    index: LibraryIndex<'a>,
    /// Its own text first, then what stands elsewhere.
    parts: HashMap<&'a SymbolKey, Vec<Hash>>,
}

impl<'a> CTexts<'a> {
    /// Reads `library`, whose files lie below `root`.
    pub fn read(library: &'a Library, root: &Path) -> Self {
        let index = LibraryIndex::of(library);
        let mut macros: HashMap<&str, Vec<Hash>> = HashMap::new();
        for item in &library.macros {
            macros.entry(&item.name).or_default().push(hash(&item.text));
        }
        let flags: HashMap<&RelPath, Hash> =
            library.units.iter().map(|unit| (&unit.file, digest(unit.flags.join("\n")))).collect();
        let mut files: BTreeMap<&RelPath, Vec<u8>> = BTreeMap::new();
        let mut globals: HashMap<&SymbolKey, Hash> = HashMap::new();
        for global in &library.globals {
            let place = &global.place;
            let text = files
                .entry(&place.file)
                .or_insert_with(|| fs::read(root.join(place.file.0.as_str())).unwrap_or_default());
            let range = place.start.min(text.len())..place.end.min(text.len());
            globals.insert(&global.key, hash(&String::from_utf8_lossy(&text[range])));
        }
        let parts = library.functions.iter().map(|function| {
            let unit = library.unit_of.get(&function.key).and_then(|file| flags.get(file));
            let used = function.globals_read.iter().chain(&function.globals_written);
            let own = std::iter::once(hash(&function.text)).chain(unit.copied());
            let own =
                own.chain(function.macros.iter().filter_map(|m| macros.get(m.as_str())).flatten().copied());
            (&function.key, own.chain(used.filter_map(|key| globals.get(key)).copied()).collect())
        });
        let parts = parts.collect();
        Self { index, parts }
    }

    /// The hash of everything that decides what `function` does, in hexadecimal.
    pub fn hash(&self, function: &Function) -> String {
        let next = |f: &'a Function| f.calls.iter().chain(&f.address_taken).collect();
        let own = self.index.function(&function.key);
        let reached = own.map_or_else(Vec::new, |own| self.index.reached(own, next));
        let all: BTreeSet<&Hash> = reached.iter().filter_map(|f| self.parts.get(&f.key)).flatten().collect();
        let mut hasher = Sha256::new();
        hasher.update(hash(&function.text));
        all.into_iter().for_each(|part| hasher.update(part));
        super::hex(&hasher.finalize())
    }
}

fn hash(text: &str) -> Hash {
    digest(squeeze(text))
}

fn digest(text: impl AsRef<[u8]>) -> Hash {
    Sha256::digest(text).into()
}

/// C text without comments, with runs of white space as one blank; strings and character constants stay as they are.
fn squeeze(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].find("*/").map_or(bytes.len(), |n| at + 4 + n);
                at = end;
                blank(&mut out);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                let start = at;
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                out.extend_from_slice(&bytes[start..at]);
                continue;
            }
            byte if byte.is_ascii_whitespace() => blank(&mut out),
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).trim().to_owned()
}

fn blank(out: &mut Vec<u8>) {
    if out.last() != Some(&b' ') {
        out.push(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_layout_do_not_change_c_but_strings_do() {
        let a = squeeze("int f(void)  /* c */ {\n\treturn '\"'; // x\n}");
        assert_eq!(a, squeeze("int f(void) {\n return '\"';\n}"));
        assert_ne!(squeeze("f(\"a  b\")"), squeeze("f(\"a b\")"));
        assert_eq!(squeeze("\"/* no comment */\""), "\"/* no comment */\"");
    }
}
