//! The C text that decides what a function does, as a hash: its own, what it calls, the macros, types, globals and
//! compiler flags of all of them; without comments and layout.

use crate::c::graph::components;
use crate::digest::hex;
use crate::symbol::{Function, Library, LibraryIndex, RelPath, SymbolKey, TypeDefinition, TypeForm};
use fs_err as fs;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

type Hash = [u8; 32];

/// The hashes of all functions of a library.
#[derive(Debug)]
pub struct CTexts<'a> {
    index: LibraryIndex<'a>,
    /// By position: of everything that decides what a function does.
    hashes: Vec<Hash>,
}

impl<'a> CTexts<'a> {
    /// Reads `library`, whose files lie below `root`.
    pub fn read(library: &'a Library, root: &Path) -> Self {
        let index = LibraryIndex::of(library);
        let words = Words::of(library, root);
        let parts: Vec<BTreeSet<Hash>> = library.functions.iter().map(|f| words.parts(&index, f)).collect();
        let mut edges = index.callees().to_vec();
        for (at, function) in library.functions.iter().enumerate() {
            edges[at].extend(words.in_tables(&index, function));
        }
        let reached = reached(&parts, &edges);
        let hashes =
            library.functions.iter().zip(reached).map(|(f, reached)| all([&hash(&f.text), &reached]));
        let hashes = hashes.collect();
        Self { index, hashes }
    }

    /// The hash of everything that decides what `function` does, in hexadecimal.
    pub fn hash(&self, function: &Function) -> String {
        let known = self.index.position(&function.key).map(|at| self.hashes[at]);
        hex(&known.unwrap_or_else(|| hash(&function.text)))
    }
}

/// For every function the hash of its parts and of everything that it leads to: those of a cycle have one in common.
fn reached(parts: &[BTreeSet<Hash>], edges: &[Vec<usize>]) -> Vec<Hash> {
    let mut known: Vec<Hash> = vec![Hash::default(); parts.len()];
    for component in components(edges) {
        let own: BTreeSet<&Hash> = component.iter().flat_map(|at| &parts[*at]).collect();
        let targets = component.iter().flat_map(|at| &edges[*at]).filter(|at| !component.contains(at));
        let below: BTreeSet<Hash> = targets.map(|at| known[*at]).collect();
        let hash = all(own.into_iter().chain(&below));
        component.iter().for_each(|at| known[*at] = hash);
    }
    known
}

fn all<'h>(hashes: impl IntoIterator<Item = &'h Hash>) -> Hash {
    let mut hasher = Sha256::new();
    hashes.into_iter().for_each(|hash| hasher.update(hash));
    hasher.finalize().into()
}

/// What the words of a C text may mean.
struct Words<'a> {
    macros: HashMap<&'a str, Vec<Hash>>,
    flags: HashMap<&'a RelPath, Hash>,
    /// The text of each global.
    globals: HashMap<&'a SymbolKey, String>,
    global_names: HashMap<&'a str, Vec<&'a SymbolKey>>,
    functions: HashMap<&'a str, Vec<&'a SymbolKey>>,
    /// Types by their names, enums also by those of their values: each with everything that it mentions.
    types: HashMap<&'a str, Vec<Hash>>,
}

impl<'a> Words<'a> {
    fn of(library: &'a Library, root: &Path) -> Self {
        let mut macros: HashMap<&str, Vec<Hash>> = HashMap::new();
        for item in &library.macros {
            macros.entry(&item.name).or_default().push(hash(&item.text));
        }
        let units = library.units.iter();
        let mut files: BTreeMap<&RelPath, Vec<u8>> = BTreeMap::new();
        let mut globals: HashMap<&SymbolKey, String> = HashMap::new();
        let mut global_names: HashMap<&str, Vec<&SymbolKey>> = HashMap::new();
        for global in &library.globals {
            let place = &global.place;
            let text = files
                .entry(&place.file)
                .or_insert_with(|| fs::read(root.join(place.file.0.as_str())).unwrap_or_default());
            let range = place.start.min(text.len())..place.end.min(text.len());
            globals.insert(&global.key, String::from_utf8_lossy(&text[range]).into_owned());
            global_names.entry(&global.c_name).or_default().push(&global.key);
        }
        let mut functions: HashMap<&str, Vec<&SymbolKey>> = HashMap::new();
        for function in &library.functions {
            functions.entry(&function.c_name).or_default().push(&function.key);
        }
        let flags = units.map(|unit| (&unit.file, digest(unit.flags.join("\n")))).collect();
        Self { macros, flags, globals, global_names, functions, types: types(&library.types) }
    }

    /// The hashes of what a function's own text mentions, and of the text.
    fn parts(&self, index: &LibraryIndex<'a>, function: &'a Function) -> BTreeSet<Hash> {
        let library_unit = index.unit_of(&function.key).and_then(|file| self.flags.get(file));
        let mut parts = BTreeSet::from([hash(&function.text)]);
        parts.extend(library_unit);
        parts.extend(function.macros.iter().filter_map(|name| self.macros.get(name.as_str())).flatten());
        let tables = self.tables(function);
        parts.extend(tables.iter().map(|text| hash(text)));
        for text in tables.into_iter().chain([function.text.as_str()]) {
            parts.extend(identifiers(text).into_iter().filter_map(|word| self.types.get(word)).flatten());
        }
        parts
    }

    /// The texts of the globals that a function uses, and of those that they mention.
    fn tables(&self, function: &Function) -> Vec<&str> {
        let mut open: Vec<&SymbolKey> =
            function.globals_read.iter().chain(&function.globals_written).collect();
        let (mut seen, mut texts) = (BTreeSet::new(), Vec::new());
        while let Some(key) = open.pop() {
            let Some(text) = self.globals.get(key).filter(|_| seen.insert(key)) else { continue };
            texts.push(text.as_str());
            let mentioned = identifiers(text).into_iter().filter_map(|word| self.global_names.get(word));
            open.extend(mentioned.flatten());
        }
        texts
    }

    /// Positions of the functions that stand in the tables which a function uses.
    fn in_tables(&self, index: &LibraryIndex<'a>, function: &Function) -> Vec<usize> {
        let words = self.tables(function).into_iter().flat_map(identifiers);
        let keys = words.filter_map(|word| self.functions.get(word)).flatten();
        keys.filter_map(|key| index.position(key)).collect()
    }
}

/// The hash of every type with all that it mentions, by the words that mean it.
fn types(all: &[TypeDefinition]) -> HashMap<&str, Vec<Hash>> {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, ty) in all.iter().enumerate() {
        let values = if ty.form == TypeForm::Enum { identifiers(&ty.text) } else { BTreeSet::new() };
        for name in values.into_iter().chain([ty.name.as_str()]) {
            named.entry(name).or_default().push(at);
        }
    }
    let parts: Vec<BTreeSet<Hash>> = all.iter().map(|ty| BTreeSet::from([hash(&ty.text)])).collect();
    let edges = all.iter().map(|ty| {
        let words = identifiers(&ty.text).into_iter();
        words.filter_map(|word| named.get(word)).flatten().copied().collect()
    });
    let hashes = reached(&parts, &edges.collect::<Vec<_>>());
    named.into_iter().map(|(name, at)| (name, at.into_iter().map(|at| hashes[at]).collect())).collect()
}

/// The identifiers of a C text; those in comments and strings count as well: too much is read, never too little.
fn identifiers(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| !c.is_ascii_digit())).collect()
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
                if out.last() != Some(&b' ') {
                    out.push(b' ');
                }
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
            byte if byte.is_ascii_whitespace() => {
                if out.last() != Some(&b' ') {
                    out.push(b' ');
                }
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::load_into;

    #[test]
    fn comments_and_layout_do_not_change_c_but_strings_do() {
        let a = squeeze("int f(void)  /* c */ {\n\treturn '\"'; // x\n}");
        assert_eq!(a, squeeze("int f(void) {\n return '\"';\n}"));
        assert_ne!(squeeze("f(\"a  b\")"), squeeze("f(\"a b\")"));
        assert_eq!(squeeze("\"/* no comment */\""), "\"/* no comment */\"");
    }

    /// The functions whose hash changes when the C text changes from the first to the second.
    fn changed(before: &str, after: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = camino::Utf8Path::from_path(dir.path()).unwrap();
        let hashes = |text: &str| {
            fs::write(root.join("a.c"), text).unwrap();
            let library = load_into(root, &root.join(".implfuzz"), "gcc").unwrap().library;
            let texts = CTexts::read(&library, dir.path());
            let all = library.functions.iter().map(|f| (f.name.to_string(), texts.hash(f)));
            all.collect::<BTreeMap<_, _>>()
        };
        let (before, after) = (hashes(before), hashes(after));
        before.into_iter().filter(|(name, hash)| after[name] != *hash).map(|(name, _)| name).collect()
    }

    #[test]
    fn whatever_decides_what_a_function_does_is_in_its_hash() {
        let c = "#define TWO 2\nenum kind { NONE, SOME };\nstruct inner { int x; };\nstruct outer { struct inner in; };\n\
            static int helper(int x) { return x * TWO; }\n\
            static int (*const table[])(int) = { helper };\n\
            int through_table(int x) { return table[0](x); }\n\
            int of_outer(struct outer *o) { return o->in.x; }\n\
            int of_kind(int k) { return k == SOME; }\n\
            int odd(int n);\nint even(int n) { return n ? odd(n - 1) : 1; }\n\
            int odd(int n) { return n ? even(n - 1) : 0; }\nint alone(void) { return 1; }\n";
        assert_eq!(changed(c, c), [""; 0]);
        assert_eq!(changed(c, &c.replace("int alone", "/* new */\n\nint alone")), [""; 0]);
        assert_eq!(changed(c, &c.replace("TWO 2", "TWO 3")), ["helper", "through_table"]);
        assert_eq!(changed(c, &c.replace("int x; }", "long x; }")), ["of_outer"]);
        assert_eq!(changed(c, &c.replace("NONE, SOME", "NONE, OTHER, SOME")), ["of_kind"]);
        assert_eq!(changed(c, &c.replace(": 0; }", ": 7; }")), ["even", "odd"]);
        assert_eq!(changed(c, &c.replace("{ return 1; }", "{ return 2; }")), ["alone"]);
    }
}
