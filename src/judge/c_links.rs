//! The links of each C chunk according to libclang: called functions, types, globals, functions in tables.
//! `evidence` finds macros in the text.

use crate::c::text::{Chunk, enumerators};
use crate::evidence::fingerprint::{CTree, Links};
use crate::symbol::{Library, SourceRange, SymbolKey};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

type Ids = Vec<String>;

/// The links of all chunks that have any, by `file:name`.
pub fn links(library: &Library, tree: &CTree) -> BTreeMap<String, Links> {
    let at = |place: &SourceRange| tree.at(place.file.0.as_str(), &(place.start..place.end));
    let functions: HashMap<&SymbolKey, Ids> =
        library.functions.iter().map(|f| (&f.key, at(&f.place))).collect();
    let globals: HashMap<&SymbolKey, Ids> = library.globals.iter().map(|g| (&g.key, at(&g.place))).collect();
    let mut links: BTreeMap<String, Links> = BTreeMap::new();
    for function in &library.functions {
        let ids = |keys: &[SymbolKey], known: &HashMap<&SymbolKey, Ids>| -> Ids {
            keys.iter().filter_map(|key| known.get(key)).flatten().cloned().collect()
        };
        for id in &functions[&function.key] {
            let links = links.entry(id.clone()).or_default();
            links.calls.extend(ids(&function.calls, &functions));
            links.uses.extend(ids(&function.address_taken, &functions));
            links.uses.extend(ids(&function.globals_read, &globals));
            links.uses.extend(ids(&function.globals_written, &globals));
            links.outside.extend(function.externs.iter().chain(&function.foreign_globals).cloned());
        }
    }
    for global in library.globals.iter().filter(|global| global.never_written && !global.is_const) {
        for id in &globals[&global.key] {
            links.entry(id.clone()).or_default().constants.insert(global.c_name.clone());
        }
    }
    let names = Names::of(library, &functions, &globals, &at);
    let tables: HashSet<&String> = globals.values().flatten().collect();
    for (id, chunk) in tree.all() {
        let found = names.mentioned(&id, chunk, tables.contains(&id));
        if !found.is_empty() {
            links.entry(id).or_default().uses.extend(found);
        }
    }
    for (id, links) in &mut links {
        links.calls.remove(id);
        links.uses.retain(|other| other != id && !links.calls.contains(other));
    }
    links
}

/// The possible meanings of a word of C, apart from macros.
struct Names<'l> {
    /// Types by name; enumerations by their values.
    types: HashMap<String, Ids>,
    /// Globals and functions, which a table may contain.
    others: HashMap<&'l str, Ids>,
    /// Files of units: a definition in one is invisible to the others.
    units: HashSet<&'l str>,
}

impl<'l> Names<'l> {
    fn of(
        library: &'l Library,
        functions: &HashMap<&SymbolKey, Ids>,
        globals: &HashMap<&SymbolKey, Ids>,
        at: &dyn Fn(&SourceRange) -> Ids,
    ) -> Self {
        let mut types: HashMap<String, Ids> = HashMap::new();
        for ty in &library.types {
            for name in enumerators(&ty.text).into_iter().chain([ty.name.clone()]) {
                types.entry(name).or_default().extend(at(&ty.place));
            }
        }
        let mut others: HashMap<&str, Ids> = HashMap::new();
        for function in &library.functions {
            others.entry(&function.c_name).or_default().extend(functions[&function.key].iter().cloned());
        }
        for global in &library.globals {
            others.entry(&global.c_name).or_default().extend(globals[&global.key].iter().cloned());
        }
        Self { types, others, units: library.units.iter().map(|unit| unit.file.0.as_str()).collect() }
    }

    fn mentioned(&self, id: &str, chunk: &Chunk, is_table: bool) -> BTreeSet<String> {
        let types = chunk.words.iter().filter_map(|word| self.types.get(word)).flatten();
        let others =
            chunk.words.iter().filter(|_| is_table).filter_map(|word| self.others.get(word.as_str()));
        types.chain(others.flatten()).filter(|other| self.may_see(id, other)).cloned().collect()
    }

    fn may_see(&self, from: &str, to: &str) -> bool {
        let file = |id: &'_ str| id.rsplit_once(':').map_or(String::new(), |(file, _)| file.to_owned());
        let (from, to) = (file(from), file(to));
        from == to || !(self.units.contains(from.as_str()) && self.units.contains(to.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::load_into;
    use crate::evidence::fingerprint::{DependencyGraph, Root, UnitFlags};

    /// The functions whose hash changes when the C text changes from the first to the second.
    fn changed(before: &str, after: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = camino::Utf8Path::from_path(dir.path()).unwrap();
        let hashes = |text: &str| {
            fs_err::write(root.join("a.c"), text).unwrap();
            let library = load_into(root, &root.join(".implfuzz"), "gcc").unwrap().library;
            let tree = CTree::read(dir.path(), &[UnitFlags { file: "a.c".into(), flags: Vec::new() }]);
            let links = links(&library, &tree);
            let chunks: Vec<Ids> =
                library.functions.iter().map(|f| tree.at("a.c", &(f.place.start..f.place.end))).collect();
            let roots: Vec<Root> =
                chunks.iter().map(|chunks| Root { chunks, also: &[], unit: "a.c" }).collect();
            let digests = DependencyGraph::of(&tree, &|id| links.get(id), &roots).digests();
            library.functions.iter().map(|f| f.name.to_string()).zip(digests).collect::<BTreeMap<_, _>>()
        };
        let (before, after) = (hashes(before), hashes(after));
        before.into_iter().filter(|(name, hash)| after[name] != *hash).map(|(name, _)| name).collect()
    }

    #[test]
    fn whatever_decides_what_a_function_does_is_in_its_hash() {
        let c = "#define TWO 2\n#define OF(o) ((struct outer *)o)->in.x\nenum kind { NONE, SOME };\n\
            struct inner { int x; };\nstruct outer { struct inner in; };\n\
            static int helper(int x) { return x * TWO; }\n\
            static int (*const table[])(int) = { helper };\n\
            int through_table(int x) { return table[0](x); }\n\
            int of_outer(struct outer *o) { return o->in.x; }\nint by_macro(void *p) { return OF(p); }\n\
            int of_kind(int k) { return k == SOME; }\n\
            int odd(int n);\nint even(int n) { return n ? odd(n - 1) : 1; }\n\
            int odd(int n) { return n ? even(n - 1) : 0; }\nint alone(void) { return 1; }\n";
        assert_eq!(changed(c, c), [""; 0]);
        assert_eq!(changed(c, &c.replace("int alone", "/* new */\n\nint alone")), [""; 0]);
        assert_eq!(changed(c, &c.replace("TWO 2", "TWO 3")), ["helper", "through_table"]);
        assert_eq!(changed(c, &c.replace("int x; }", "long x; }")), ["by_macro", "of_outer"]);
        assert_eq!(changed(c, &c.replace("NONE, SOME", "NONE, OTHER, SOME")), ["of_kind"]);
        assert_eq!(changed(c, &c.replace(": 0; }", ": 7; }")), ["even", "odd"]);
        assert_eq!(changed(c, &c.replace("{ return 1; }", "{ return 2; }")), ["alone"]);
    }
}
