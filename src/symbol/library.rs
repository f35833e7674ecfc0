//! A whole library, and its functions and globals by key.

use super::{CType, Function, Global, Macro, Record, RelPath, SymbolKey, TypeDefinition, TypeKind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A C source file that is compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    pub file: RelPath,
    pub module: String,
    /// Compiler arguments that matter: `-I`, `-D`, `-std`, …; paths relative to the root.
    pub flags: Vec<String>,
}

/// A source file that is left out (tests, `main`, files with errors), and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub file: RelPath,
    pub reason: String,
    /// The file should be included but cannot be read.
    pub broken: bool,
}

impl LeftOut {
    /// A file that does not belong to the library.
    pub fn because(file: &RelPath, reason: impl Into<String>) -> Self {
        Self { file: file.clone(), reason: reason.into(), broken: false }
    }
}

/// A problem with something other than a function or global, such as a record whose layout cannot be asserted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    pub what: String,
    pub reason: String,
}

/// Everything known about a C library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    pub units: Vec<Unit>,
    pub left_out: Vec<LeftOut>,
    /// In porting order: callees before callers, members of a cycle next to each other.
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    pub records: BTreeMap<String, Record>,
    /// In source order.
    pub types: Vec<TypeDefinition>,
    pub macros: Vec<Macro>,
    /// The first unit in which each symbol was seen; for a symbol defined in a header, the first unit that includes it.
    pub unit_of: BTreeMap<SymbolKey, RelPath>,
    /// What follows the `#include` in each source's alias unit: second names and assertions, as far as the C compiler
    /// accepts them.
    pub alias_lines: BTreeMap<RelPath, Vec<String>>,
    /// The symbol names that the C compiler passes to the linker, including second names made by attributes.
    pub exports: BTreeSet<String>,
    /// Where libclang and the C compiler disagree.
    pub gaps: Vec<Gap>,
    /// Mutually recursive functions, each group with more than one member.
    pub cycles: Vec<Vec<SymbolKey>>,
    /// Variables through which programs can replace the allocator, with the functions of libc to which they lead at first.
    /// Known once the values of variables are.
    #[serde(skip)]
    pub allocators: BTreeMap<SymbolKey, BTreeSet<String>>,
}

impl Library {
    pub fn function(&self, key: &SymbolKey) -> Option<&Function> {
        self.functions.iter().find(|f| f.key == *key)
    }

    /// What follows the `#include` in the alias unit of a source.
    pub fn lines_of(&self, file: &RelPath) -> &[String] {
        self.alias_lines.get(file).map(Vec::as_slice).unwrap_or_default()
    }

    /// The function with this name on the Rust side, or `file.c:name`.
    pub fn find(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name.as_str() == name).or_else(|| {
            let (file, c_name) = name.split_once(':')?;
            self.functions.iter().find(|f| {
                f.c_name == c_name && (f.place.file.0 == file || f.place.file.0.file_name() == Some(file))
            })
        })
    }

    pub fn global(&self, key: &SymbolKey) -> Option<&Global> {
        self.globals.iter().find(|g| g.key == *key)
    }

    /// The static variables inside a function that may change.
    pub fn statics_of(&self, function: &Function) -> Vec<&Global> {
        let is_own = |global: &&Global| {
            global.local_to.is_some()
                && [&function.globals_read, &function.globals_written]
                    .iter()
                    .any(|all| all.contains(&global.key))
        };
        self.globals.iter().filter(is_own).collect()
    }

    /// Bytes of a value of this type; `None` where that is not certain.
    pub fn size_of(&self, ty: &CType) -> Option<u64> {
        match &ty.kind {
            TypeKind::Bool => Some(1),
            TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => Some(u64::from(*bits) / 8),
            TypeKind::Float { bits: bits @ (32 | 64) } => Some(u64::from(*bits) / 8),
            TypeKind::Pointer(_) => Some(8),
            TypeKind::Array { of, len } => Some(self.size_of(of)? * (*len)?),
            TypeKind::Record(key) => {
                self.records.get(key).filter(|record| record.complete).map(|record| record.size)
            }
            TypeKind::Void
            | TypeKind::Float { .. }
            | TypeKind::Function { .. }
            | TypeKind::Unsupported(_) => None,
        }
    }
}

/// Functions and globals by key. Build this for many lookups: [`Library::function`] searches the whole list each time.
#[derive(Debug)]
pub struct LibraryIndex<'a> {
    library: &'a Library,
    functions: HashMap<&'a SymbolKey, usize>,
    globals: HashMap<&'a SymbolKey, &'a Global>,
    /// What each function calls or takes the address of; both as positions in the porting order.
    callees: Vec<Vec<usize>>,
}

impl<'a> LibraryIndex<'a> {
    pub fn of(library: &'a Library) -> Self {
        let functions: HashMap<_, _> =
            library.functions.iter().enumerate().map(|(at, f)| (&f.key, at)).collect();
        let callees = library.functions.iter().map(|f| {
            let all = f.calls.iter().chain(&f.address_taken);
            all.filter_map(|key| functions.get(key).copied()).collect()
        });
        let callees = callees.collect();
        Self { library, functions, globals: library.globals.iter().map(|g| (&g.key, g)).collect(), callees }
    }

    /// The function's position in the porting order, from 0.
    pub fn position(&self, key: &SymbolKey) -> Option<usize> {
        self.functions.get(key).copied()
    }

    pub fn function(&self, key: &SymbolKey) -> Option<&'a Function> {
        self.position(key).map(|at| &self.library.functions[at])
    }

    pub fn global(&self, key: &SymbolKey) -> Option<&'a Global> {
        self.globals.get(key).copied()
    }

    /// What each function calls or takes the address of; both as positions in the porting order.
    pub fn callees(&self) -> &[Vec<usize>] {
        &self.callees
    }

    /// `function` and all library functions that it reaches through calls and taken addresses, nearest first. The
    /// search is lazy.
    pub fn reached(&self, function: &Function) -> impl Iterator<Item = &'a Function> {
        let library = self.library;
        let mut seen = vec![false; self.callees.len()];
        let mut open = VecDeque::new();
        if let Some(at) = self.position(&function.key) {
            seen[at] = true;
            open.push_back(at);
        }
        std::iter::from_fn(move || {
            let at = open.pop_front()?;
            for next in &self.callees[at] {
                if !std::mem::replace(&mut seen[*next], true) {
                    open.push_back(*next);
                }
            }
            Some(&library.functions[at])
        })
    }
}
