//! The symbols of a library for `list`: order, tier, calls, state in Rust, harness; and left-out files. `select`
//! selects and sorts, `dot` draws the graph; nothing here prints.

mod causes;
mod definitions;
mod dot;
mod select_and_sort;

pub use causes::{Cause, causes};
pub use definitions::{Definition, definitions};
pub use dot::dot;
pub use select_and_sort::{Sort, matches};

use crate::contract::tier::{Tier, Tiers};
use crate::contract::types::{Judgeable, Signature};
use crate::project::ported::{PortModule, Ported};
use crate::project::{FunctionPlan, Project};
use crate::rust::globals::globals_file;
use crate::store::LastEnd;
use crate::symbol::{Function, Gap, LeftOut, Library, LibraryIndex, Linkage, RelPath, SymbolKey, SymbolName};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    Function,
    Global,
    Struct,
    Union,
    Enum,
    Typedef,
    Macro,
}

impl Kind {
    /// One word.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A function of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    pub symbol: SymbolName,
    pub kind: Kind,
    pub c_name: String,
    pub file: RelPath,
    pub line: u32,
    pub end_line: u32,
    /// Position in the porting order, from 1.
    pub order: usize,
    /// Number of its cycle, from 1; the members of a cycle are ported together.
    pub cycle: Option<usize>,
    pub tier: Tier,
    pub tier_reason: String,
    /// Number of other functions that call it or take its address.
    pub fan_in: usize,
    /// Number of other functions that it calls or takes the address of.
    pub fan_out: usize,
    pub calls: Vec<SymbolName>,
    pub address_taken: Vec<SymbolName>,
    pub externs: Vec<String>,
    pub globals_read: Vec<SymbolName>,
    pub globals_written: Vec<SymbolName>,
    pub macros: Vec<String>,
    /// `external` or `static`.
    pub linkage: &'static str,
    /// `ported`, `stub` or `missing`; `None` where nothing can be ported.
    pub state: Option<&'static str>,
    /// Whether a harness can judge it.
    pub judged: bool,
    /// The harness in words, with the reason.
    pub harness: String,
    /// How the last run left it, where it has no port.
    pub last_run: Option<String>,
    /// What is known of drivers, in a repository that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drivers: Option<String>,
}

/// A symbol without a stub or binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unsupported {
    pub symbol: SymbolName,
    pub kind: Kind,
    pub c_name: String,
    pub file: RelPath,
    pub line: u32,
    pub reason: String,
}

/// The data of `list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    pub symbols: Vec<Row>,
    pub unsupported: Vec<Unsupported>,
    pub left_out: Vec<LeftOut>,
    /// Disagreements between libclang and the C compiler.
    pub gaps: Vec<Gap>,
    /// Empty unless asked for.
    pub definitions: Vec<Definition>,
    /// Why functions of the library have no harness.
    pub causes: Vec<Cause>,
}

impl Listing {
    /// Fills in how runs left the functions that have no port.
    pub fn recall(&mut self, project: &Project, ends: &BTreeMap<SymbolKey, LastEnd>) {
        for row in self.symbols.iter_mut().filter(|row| row.state == Some("stub")) {
            let planned = project.planned.iter().find(|planned| planned.function.name == row.symbol);
            let end = planned.and_then(|planned| ends.get(&planned.function.key));
            row.last_run = end.map(LastEnd::text);
        }
    }

    /// Fills in what is known of drivers.
    pub fn drivers(&mut self, project: &Project, known: &dyn Fn(&Function) -> String) {
        for (row, function) in self.symbols.iter_mut().zip(&project.library.functions) {
            row.drivers = Some(known(function));
        }
    }

    /// All symbols of an opened repository, in porting order.
    pub fn of(project: &Project) -> Self {
        let library = &project.library;
        let facts = project.facts();
        let rows = Rows {
            index: &facts.index,
            tiers: Tiers::of(library, &facts),
            planned: project.planned.iter().map(|planned| (&planned.function.key, planned)).collect(),
            modules: modules(project),
            callers: callers(library),
            cycles: cycles(library),
        };
        let symbols = library.functions.iter().enumerate().map(|(at, f)| rows.row(at + 1, f)).collect();
        let unbound = library.functions.iter().filter(|f| !rows.planned.contains_key(&f.key));
        let unsupported = unbound.map(unsupported_function).chain(unsupported_globals(project)).collect();
        Self {
            symbols,
            unsupported,
            left_out: library.left_out.clone(),
            gaps: library.gaps.clone(),
            definitions: Vec::new(),
            causes: causes(without_harness(project)),
        }
    }
}

/// The functions that no harness can judge, with the reasons.
pub fn without_harness(project: &Project) -> impl Iterator<Item = (&SymbolName, &str)> {
    project.planned.iter().filter_map(|planned| match &planned.judgeable {
        Judgeable::NotYet(why) => Some((&planned.function.name, why.as_str())),
        Judgeable::Yes(_) => None,
    })
}

/// The inputs of the rows, collected once.
struct Rows<'a> {
    index: &'a LibraryIndex<'a>,
    tiers: Tiers<'a>,
    planned: HashMap<&'a SymbolKey, &'a FunctionPlan>,
    modules: BTreeMap<&'a str, Option<Rc<PortModule>>>,
    callers: HashMap<&'a SymbolKey, usize>,
    cycles: HashMap<&'a SymbolKey, usize>,
}

impl Rows<'_> {
    fn row(&self, order: usize, function: &Function) -> Row {
        let planned = self.planned.get(&function.key).copied();
        let unbound = Judgeable::NotYet(String::new());
        let (tier, tier_reason) = self.tiers.tier(function, planned.map_or(&unbound, |p| &p.judgeable));
        Row {
            symbol: function.name.clone(),
            kind: Kind::Function,
            c_name: function.c_name.clone(),
            file: function.place.file.clone(),
            line: function.place.line,
            end_line: function.place.end_line,
            order,
            cycle: self.cycles.get(&function.key).copied(),
            tier,
            tier_reason,
            fan_in: self.callers.get(&function.key).copied().unwrap_or(0),
            fan_out: callees(function).len(),
            calls: self.functions(&function.calls),
            address_taken: self.functions(&function.address_taken),
            externs: function.externs.clone(),
            globals_read: self.globals(&function.globals_read),
            globals_written: self.globals(&function.globals_written),
            macros: function.macros.clone(),
            linkage: match function.linkage {
                Linkage::External => "external",
                Linkage::Static => "static",
            },
            state: planned.map(|_| self.state(function)),
            judged: planned.is_some_and(|p| p.judgeable.contract().is_some()),
            harness: harness(planned, function),
            last_run: None,
            drivers: None,
        }
    }

    fn functions(&self, keys: &[SymbolKey]) -> Vec<SymbolName> {
        keys.iter().filter_map(|key| self.index.function(key)).map(|f| f.name.clone()).collect()
    }

    fn globals(&self, keys: &[SymbolKey]) -> Vec<SymbolName> {
        keys.iter().filter_map(|key| self.index.global(key)).map(|g| g.name.clone()).collect()
    }

    fn state(&self, function: &Function) -> &'static str {
        let module = self.modules.get(function.module.as_str()).and_then(Option::as_ref);
        match module.map_or(Ported::Missing, |module| module.state(function)) {
            Ported::Yes => "ported",
            Ported::Stub => "stub",
            Ported::Missing => "missing",
        }
    }
}

/// Each module of the port, read once, because [`Project::ported`] reads the file for each function.
fn modules(project: &Project) -> BTreeMap<&str, Option<Rc<PortModule>>> {
    let mut modules = BTreeMap::new();
    for planned in &project.planned {
        let name = planned.function.module.as_str();
        // A module that does not exist yet has no functions; they are shown as missing.
        modules.entry(name).or_insert_with(|| project.module(name).ok());
    }
    modules
}

/// The other functions that a function calls or takes the address of.
fn callees(function: &Function) -> BTreeSet<&SymbolKey> {
    let all = function.calls.iter().chain(&function.address_taken);
    all.filter(|key| **key != function.key).collect()
}

fn callers(library: &Library) -> HashMap<&SymbolKey, usize> {
    let mut callers = HashMap::new();
    for key in library.functions.iter().flat_map(callees) {
        *callers.entry(key).or_default() += 1;
    }
    callers
}

fn cycles(library: &Library) -> HashMap<&SymbolKey, usize> {
    let numbered = library.cycles.iter().enumerate();
    numbered.flat_map(|(at, members)| members.iter().map(move |key| (key, at + 1))).collect()
}

fn harness(planned: Option<&FunctionPlan>, function: &Function) -> String {
    match planned.map(|p| &p.judgeable) {
        Some(Judgeable::Yes(contract)) if contract.signature == Signature::Safe => "yes".into(),
        Some(Judgeable::Yes(_)) => "yes, with C's signature".into(),
        Some(Judgeable::NotYet(why)) => format!("not yet: {why}"),
        None => format!("not portable: {}", unbound(function)),
    }
}

fn unbound(function: &Function) -> &str {
    function.unsupported.as_deref().unwrap_or("bindgen binds no such function")
}

fn unsupported_function(function: &Function) -> Unsupported {
    Unsupported {
        symbol: function.name.clone(),
        kind: Kind::Function,
        c_name: function.c_name.clone(),
        file: function.place.file.clone(),
        line: function.place.line,
        reason: unbound(function).to_owned(),
    }
}

/// Globals without a binding, and globals without a Rust static.
fn unsupported_globals(project: &Project) -> Vec<Unsupported> {
    let (_, missing) = globals_file(&project.library, &project.values);
    let index = LibraryIndex::of(&project.library);
    let found = missing.into_iter().filter_map(|(key, reason)| {
        let global = index.global(&key)?;
        Some(Unsupported {
            symbol: global.name.clone(),
            kind: Kind::Global,
            c_name: global.c_name.clone(),
            file: global.place.file.clone(),
            line: global.place.line,
            reason: match &global.unsupported {
                Some(reason) => reason.clone(),
                None => format!("no Rust static: {reason}"),
            },
        })
    });
    found.collect()
}
