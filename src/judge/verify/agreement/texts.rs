//! A repository as versions of its texts, written as files, and the lock's entry for each version.

use crate::config::Config;
use crate::evidence::fingerprint::{
    CTree, Constants, Crate, DependencyGraph, Fingerprint, KnownContract, Links, Root, port_hash,
    port_mentions, short,
};
use crate::evidence::lock::{ChunkLine, Entry, roots};
use crate::project::ported::PortModule;
use crate::verdict::Grade;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// `twice` calls `add` in C and in Rust; `alone` is in another file.
pub(super) const NAMES: [&str; 3] = ["add", "twice", "alone"];
/// The Rust text that the audit rejects.
pub(super) const CHEAT: u8 = 3;

/// The tree, as versions of its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Texts {
    /// A macro that `add` uses.
    pub(super) header: u8,
    /// The manifest of the fuzz crate.
    pub(super) manifest: u8,
    pub(super) c: [u8; 3],
    pub(super) contract: [u8; 3],
    pub(super) harness: [u8; 3],
    /// Version 0 is a stub.
    pub(super) rust: [u8; 3],
    /// Version 0 means no seeds.
    pub(super) seeds: [u8; 3],
}

impl Texts {
    /// The C text that a symbol depends on.
    pub(super) fn c_of(&self, at: usize) -> Vec<u8> {
        match at {
            0 => vec![self.c[0], self.header],
            1 => vec![self.c[1], self.c[0], self.header],
            _ => vec![self.c[2]],
        }
    }

    /// Everything that a verdict on a symbol depends on.
    pub(super) fn about(&self, at: usize) -> Vec<u8> {
        // A verdict depends on a called stub only in that it is a stub.
        let called = if at == 1 { self.rust[0] } else { 0 };
        let own = [self.contract[at], self.harness[at], self.manifest, self.rust[at], self.seeds[at], called];
        self.c_of(at).into_iter().chain(own).collect()
    }

    pub(super) fn set(&mut self, part: u8, at: usize, version: u8) {
        match part {
            0 => self.header = version,
            1 => self.manifest = version,
            2 => self.c[at] = version,
            3 => self.contract[at] = version,
            4 => self.harness[at] = version,
            5 => self.rust[at] = version,
            _ => self.seeds[at] = version,
        }
    }

    pub(super) fn get(&self, part: u8, at: usize) -> u8 {
        match part {
            0 => self.header,
            1 => self.manifest,
            2 => self.c[at],
            3 => self.contract[at],
            4 => self.harness[at],
            5 => self.rust[at],
            _ => self.seeds[at],
        }
    }

    pub(super) fn write(&self, root: &Path) {
        let put = |name: String, text: String| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("kit.h".into(), format!("#define STEP {}\n", self.header));
        let [add, twice, alone] = self.c;
        put(
            "a.c".into(),
            format!(
                "#include \"kit.h\"\nint add(int x) {{ return x + STEP + {add}; }}\n\nint twice(int x) {{ return add(add(x)) + {twice}; }}\n"
            ),
        );
        put("b.c".into(), format!("int alone(int x) {{ return x + {alone}; }}\n"));
        let unit = |file: &str| format!("Unit {{ file: \"{file}\", flags: &[], lines: &[] }}");
        put(
            "rust/c_units.rs".into(),
            format!("const UNITS: &[Unit] = &[{}, {}];\n", unit("a.c"), unit("b.c")),
        );
        let foreign: String =
            NAMES.iter().map(|name| format!("    pub fn {name}(x: i32) -> i32;\n")).collect();
        put("rust/src/ffi.rs".into(), format!("unsafe extern \"C\" {{\n{foreign}}}\n"));
        put("rust/src/globals.rs".into(), String::new());
        put("rust/fuzz/Cargo.toml".into(), format!("[profile.release]\nopt-level = {}\n", self.manifest));
        let body = |at: usize| match (self.rust[at], at) {
            (0, _) => format!("unimplemented!(\"{}\")", NAMES[at]),
            (CHEAT, _) => "std::process::exit(x)".to_owned(),
            (n, 1) => format!("callee::add(callee::add(x)) + {n}"),
            (n, _) => format!("x + {n}"),
        };
        let function = |at: usize| format!("pub fn {}(x: i32) -> i32 {{\n    {}\n}}\n", NAMES[at], body(at));
        put("rust/src/a.rs".into(), format!("use crate::callee;\n\n{}\n{}", function(0), function(1)));
        put("rust/src/b.rs".into(), function(2));
        for (at, name) in NAMES.iter().enumerate() {
            put(
                format!("rust/contracts/{name}.toml"),
                format!(
                    "version = 1\nsymbol = \"{name}\"\nsignature = \"safe\"\nlimit = {}\n",
                    self.contract[at]
                ),
            );
            put(format!("rust/fuzz/src/harness/{name}.rs"), format!("// {}\n", self.harness[at]));
            let seed = root.join(format!("rust/fuzz/seeds/fuzz_{name}/seed"));
            match self.seeds[at] {
                0 => drop(std::fs::remove_file(seed)),
                n => put(format!("rust/fuzz/seeds/fuzz_{name}/seed"), n.to_string()),
            }
        }
    }
}

pub(super) fn module_of(at: usize) -> &'static str {
    if at == 2 { "b" } else { "a" }
}

/// An entry for the tree at `root` and its C lines, as a verdict writes them.
pub(super) fn entry(root: &Path, at: usize, grade: Grade) -> (Entry, BTreeMap<String, ChunkLine>) {
    let files = Crate::new(root.join("rust"));
    let tree = CTree::read(root, &files.units(&Config::default().c).unwrap());
    let links = BTreeMap::from([(
        "a.c:twice".to_owned(),
        Links { calls: BTreeSet::from(["a.c:add".to_owned()]), ..Links::default() },
    )]);
    let unit = format!("{}.c", module_of(at));
    let chunks = vec![format!("{unit}:{}", NAMES[at])];
    let c =
        DependencyGraph::of(&tree, &|id| links.get(id), &[Root { chunks: &chunks, also: &[], unit: &unit }]);
    let modules = ["a", "b"].map(|name| {
        let text = std::fs::read_to_string(root.join(format!("rust/src/{name}.rs"))).unwrap();
        Rc::new(PortModule::read(text))
    });
    let module = |name: &str| {
        let at = NAMES.iter().position(|known| *known == name)?;
        Some(Rc::clone(&modules[usize::from(module_of(at) == "b")]))
    };
    let fingerprint = Fingerprint::of(
        NAMES[at],
        c.digests().remove(0),
        files.hashes(NAMES[at], KnownContract::default()),
        &Constants::read(&root.join("rust")).unwrap(),
        (
            |name: &str| port_hash(module(name)?.as_ref(), name),
            |name: &str| port_mentions(module(name)?.as_ref(), name),
        ),
    );
    let entry = Entry {
        grade,
        module: module_of(at).into(),
        contract_text: files.contract_mark(NAMES[at], &fingerprint.contract),
        chunks: chunks.clone(),
        unit,
        signature: format!("fn {}(x: i32) -> i32", NAMES[at]),
        shortcomings: if grade == Grade::Verified { Vec::new() } else { vec!["why".into()] },
        fingerprint,
        ..Entry::default()
    }
    .sealed();
    let graph = DependencyGraph::of(&tree, &|id| links.get(id), &roots([&entry]));
    let line = |(id, hash): (String, String)| {
        let links = links.get(&id).cloned().unwrap_or_default();
        (id, ChunkLine { hash: short(&hash).to_owned(), links })
    };
    let lines = graph.closure(0).into_iter().map(line).collect();
    (entry, lines)
}
