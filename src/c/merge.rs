//! Merges the translation units into one library: names, modules, calls by key, one table of records.

use super::analysis_cache::Outcome;
use super::constant_pointers::{self, Behind};
use super::flags::Discovery;
use super::header_only;
use super::merge_records::Records;
use super::modules;
use super::never_written;
use super::parse_unit::{FoundFunction, UnitFacts};
use crate::symbol::{
    Function, Global, LeftOut, Library, Linkage, Macro, RelPath, SymbolKey, SymbolName, TypeDefinition,
    TypeForm, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// A library whose functions are not ordered yet.
#[derive(Default)]
pub(super) struct Merged {
    pub library: Library,
    /// The unit from which each record was read: two units may use one name for two records.
    pub record_units: BTreeMap<String, RelPath>,
    /// Functions and globals that the archive will lack, each with the reason.
    pub absent: BTreeMap<SymbolKey, String>,
    /// The files that were read for each unit.
    pub files: BTreeMap<RelPath, BTreeSet<String>>,
    /// Typedefs for which bindgen would write a different type.
    pub unfaithful_typedefs: BTreeSet<String>,
    /// Static functions that a unit declares with a typedef of a function type.
    pub declared_by_type: BTreeSet<String>,
}

/// In C99, `inline` alone gives the linker no definition.
const BARE_INLINE: &str = "inline without an external definition";

/// The start of the reason for a text with different meanings in two units.
const TWO_MEANINGS: &str = "its text has different meanings in";

/// Merges the units; `outcomes` are in their order.
pub(super) fn merge(discovery: Discovery, outcomes: Vec<Outcome<UnitFacts>>) -> Merged {
    let mut all = All::default();
    all.merged.library.left_out = discovery.left_out;
    let takes_programs = discovery.takes_programs;
    for (unit, outcome) in discovery.units.into_iter().zip(outcomes) {
        let left = |reason, broken| LeftOut { file: unit.file.clone(), reason, broken };
        match outcome.map(|facts| all.admissible(facts, &unit, takes_programs)) {
            Ok(Ok(facts)) => all.add(unit, facts),
            Ok(Err(reason)) => all.merged.library.left_out.push(left(reason, false)),
            Err(reason) => all.merged.library.left_out.push(left(reason, true)),
        }
    }
    all.finish()
}

/// What the units have so far.
#[derive(Default)]
struct All {
    merged: Merged,
    functions: BTreeMap<SymbolKey, FoundFunction>,
    globals: BTreeMap<SymbolKey, Global>,
    behind: Behind,
    types: BTreeMap<(RelPath, usize, SymbolKey), TypeDefinition>,
    macros: BTreeMap<(RelPath, usize, String), Macro>,
    emitted: BTreeSet<SymbolKey>,
    records: Records,
}

impl All {
    /// Returns the facts, unless the unit is a program, defines a function that another unit defines, or is a
    /// header without code.
    fn admissible(
        &self,
        facts: UnitFacts,
        unit: &Unit,
        takes_programs: bool,
    ) -> std::result::Result<UnitFacts, String> {
        if facts.functions.is_empty() && header_only::is_header(&unit.file.0) {
            return Err("a header that defines no function".into());
        }
        for FoundFunction { function, .. } in &facts.functions {
            if function.linkage == Linkage::Static {
                continue;
            }
            if function.c_name == "main" && !takes_programs {
                return Err("defines main".into());
            }
            if let (Some(first), false) = (self.functions.get(&function.key), function.is_inline) {
                let (name, file) = (&function.c_name, &first.function.place.file);
                return Err(format!("defines {name}, which {file} defines"));
            }
        }
        Ok(facts)
    }

    fn add(&mut self, unit: Unit, mut facts: UnitFacts) {
        self.records.add(&unit.file, &mut facts);
        self.merged.files.insert(unit.file.clone(), std::mem::take(&mut facts.files));
        let unit_of = &mut self.merged.library.unit_of;
        for found in facts.functions {
            let key = found.function.key.clone();
            match self.functions.get_mut(&key) {
                Some(known) => disagree(known, &found, &unit_of[&key], &unit.file),
                None => {
                    unit_of.insert(key.clone(), unit.file.clone());
                    self.functions.insert(key, found);
                }
            }
        }
        for global in facts.globals {
            let is_elsewhere = unit_of.get(&global.key).is_some_and(|known| *known != unit.file);
            if let Some(old) = self.globals.get_mut(&global.key).filter(|_| is_elsewhere) {
                old.is_in_each_unit |= global.linkage == Linkage::Static;
            }
            match self.globals.get_mut(&global.key) {
                Some(old) if old.local_to.is_some() => {
                    old.unsupported.get_or_insert("each file that includes its function has its own".into());
                }
                // A tentative definition may lack the array length that the real one has.
                Some(old) if extent_known(old) || !extent_known(&global) => {}
                _ => {
                    unit_of.insert(global.key.clone(), unit.file.clone());
                    self.globals.insert(global.key.clone(), global);
                }
            }
        }
        for (constant, targets) in facts.behind {
            self.behind.entry(constant).or_default().extend(targets);
        }
        for found in facts.macros {
            let place = (found.place.file.clone(), found.place.start, found.name.clone());
            self.macros.entry(place).or_insert(found);
        }
        for found in facts.types {
            let place = (found.place.file.clone(), found.place.start, found.key.clone());
            self.types.entry(place).or_insert(found);
        }
        self.emitted.extend(facts.emitted);
        self.merged.unfaithful_typedefs.extend(facts.unfaithful_typedefs);
        self.merged.declared_by_type.extend(facts.declared_by_type);
        self.merged.library.units.push(unit);
    }

    fn finish(self) -> Merged {
        let Self { mut merged, functions, mut globals, behind, types, macros, emitted, records } = self;
        let library = &mut merged.library;
        let known: BTreeSet<SymbolKey> = functions.keys().cloned().collect();
        let known_globals: BTreeSet<SymbolKey> = globals.keys().cloned().collect();
        let lent: BTreeSet<SymbolKey> =
            functions.values().flat_map(|found| found.lent.iter().cloned()).collect();
        let mut functions: Vec<Function> =
            functions.into_values().map(|found| resolve(found, &known, &known_globals, &emitted)).collect();
        constant_pointers::follow(&mut functions, &globals, &behind);
        never_written::mark(&mut globals, &functions, &behind, &lent);
        for own in globals.values_mut().filter(|global| global.is_in_each_unit) {
            if !constant_pointers::is_constant(own) && !own.never_written {
                own.unsupported
                    .get_or_insert_with(|| "each file that includes its header has its own".into());
            }
        }
        let modules = module_of_file(&library.units, &functions, &globals);
        let rust_names: BTreeMap<SymbolKey, String> =
            globals.iter().map(|(key, global)| (key.clone(), global.full_name())).collect();
        let mut names = Names::count(functions.iter().map(|f| &f.c_name).chain(rust_names.values()));
        functions.sort_by(|a, b| (&a.place.file, a.place.start).cmp(&(&b.place.file, b.place.start)));
        for f in &mut functions {
            f.module = modules[&f.place.file].clone();
            f.name = names.give(&f.c_name, &f.module, f.linkage);
        }
        for g in globals.values_mut() {
            g.module = modules[&g.place.file].clone();
            g.name = names.give(&rust_names[&g.key], &g.module, g.linkage);
        }
        library.functions = functions;
        library.globals = globals.into_values().collect();
        library.globals.sort_by(|a, b| (&a.place.file, a.place.start).cmp(&(&b.place.file, b.place.start)));
        library.macros = macros.into_values().collect();
        library.types = one_per_type(types.into_values().collect());
        library.left_out.sort_by(|a, b| a.file.cmp(&b.file));
        (library.records, merged.record_units) = records.into_parts();
        through_texts(library);
        let misleads = |why: &&String| *why == BARE_INLINE || why.starts_with(TWO_MEANINGS);
        let absent = library.functions.iter().filter_map(|f| {
            let why = f.unsupported.as_ref().filter(misleads)?;
            Some((f.key.clone(), why.clone()))
        });
        merged.absent = absent.collect();
        merged
    }
}

/// Marks a function as unsupported if its text, included by two units, means two different functions because
/// of macros: there is no single function to port.
fn disagree(known: &mut FoundFunction, other: &FoundFunction, first: &RelPath, second: &RelPath) {
    let signature = |f: &Function| {
        let types = f.params.iter().map(|p| &p.ty).chain([&f.ret]);
        types.map(|ty| (ty.kind.clone(), ty.is_const)).collect::<Vec<_>>()
    };
    let meaning = |f: &FoundFunction| (signature(&f.function), f.called.clone(), f.meaning.clone());
    if meaning(known) != meaning(other) {
        let why = format!("{TWO_MEANINGS} {first} and {second}");
        known.function.unsupported.get_or_insert(why);
    }
}

/// Marks functions that call a function with two meanings and are themselves in a file that units include:
/// they have two meanings too.
fn through_texts(library: &mut Library) {
    loop {
        let ambiguous =
            |f: &&Function| f.unsupported.as_deref().is_some_and(|why| why.starts_with(TWO_MEANINGS));
        let known: BTreeMap<SymbolKey, String> = library
            .functions
            .iter()
            .filter(ambiguous)
            .map(|f| (f.key.clone(), f.unsupported.clone().unwrap_or_default()))
            .collect();
        let included = |f: &Function| library.unit_of.get(&f.key).is_some_and(|unit| *unit != f.place.file);
        let mut changed = false;
        for function in library.functions.iter_mut().filter(|f| f.unsupported.is_none() && included(f)) {
            let why = function.calls.iter().chain(&function.address_taken).find_map(|key| known.get(key));
            changed |= why.is_some();
            function.unsupported = why.cloned();
        }
        if !changed {
            return;
        }
    }
}

/// Drops declarations of types that the library defines, and repeated declarations.
fn one_per_type(mut types: Vec<TypeDefinition>) -> Vec<TypeDefinition> {
    let mut seen: BTreeSet<(TypeForm, String)> =
        types.iter().filter(|t| t.complete).map(|t| (t.form, t.name.clone())).collect();
    types.retain(|t| t.complete || seen.insert((t.form, t.name.clone())));
    types
}

fn extent_known(global: &Global) -> bool {
    !matches!(global.ty.kind, crate::symbol::TypeKind::Array { len: None, .. })
}

/// Separates calls inside the library from calls out of it.
fn resolve(
    found: FoundFunction,
    known: &BTreeSet<SymbolKey>,
    globals: &BTreeSet<SymbolKey>,
    emitted: &BTreeSet<SymbolKey>,
) -> Function {
    let FoundFunction { mut function, called, addressed, .. } = found;
    let (inside, outside): (Vec<_>, Vec<_>) = called.into_iter().partition(|(key, _)| known.contains(key));
    let (taken, foreign): (Vec<_>, Vec<_>) = addressed.into_iter().partition(|(key, _)| known.contains(key));
    let externs: BTreeSet<String> = outside.into_iter().chain(foreign).map(|(_, name)| name).collect();
    let mut inside = inside;
    inside.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    function.calls = inside.into_iter().map(|(key, _)| key).collect();
    function.address_taken = taken.into_iter().map(|(key, _)| key).collect();
    function.externs = externs.into_iter().collect();
    let mentioned = function.globals_read.iter().chain(&function.globals_written);
    let foreign: BTreeSet<String> = mentioned.filter(|key| !globals.contains(*key)).map(bare).collect();
    function.foreign_globals = foreign.into_iter().collect();
    function.globals_read.retain(|key| globals.contains(key));
    function.globals_written.retain(|key| globals.contains(key));
    if function.unsupported.is_none() {
        let is_bare_inline = function.is_inline && function.linkage == Linkage::External;
        function.unsupported = if is_bare_inline && !emitted.contains(&function.key) {
            Some(BARE_INLINE.into())
        } else {
            (function.c_name == "main").then(|| "the entry point of a program".into())
        };
    }
    function
}

/// The C name of a variable with external linkage, taken from its key.
fn bare(key: &SymbolKey) -> String {
    key.0.rsplit('@').next().unwrap_or_default().to_owned()
}

/// The module of every file that holds a definition: that of the unit; a header belongs to the unit with the
/// same stem.
fn module_of_file(
    units: &[Unit],
    functions: &[Function],
    globals: &BTreeMap<SymbolKey, Global>,
) -> BTreeMap<RelPath, String> {
    let mut modules: BTreeMap<RelPath, String> =
        units.iter().map(|u| (u.file.clone(), u.module.clone())).collect();
    let taken: BTreeSet<String> = modules.values().cloned().collect();
    let places = functions.iter().map(|f| &f.place.file).chain(globals.values().map(|g| &g.place.file));
    let others: BTreeSet<RelPath> = places.filter(|file| !modules.contains_key(file)).cloned().collect();
    let others: Vec<RelPath> = others.into_iter().collect();
    for (file, name) in modules::names(&others) {
        let partner = units.iter().find(|u| u.file.0.file_stem() == file.0.file_stem());
        let module = match partner {
            Some(unit) => unit.module.clone(),
            None if taken.contains(&name) => format!("{name}_h"),
            None => name,
        };
        modules.insert(file, module);
    }
    modules
}

/// Assigns unique names on the Rust side.
struct Names {
    count: BTreeMap<String, usize>,
    given: BTreeSet<String>,
}

impl Names {
    fn count<'a>(c_names: impl Iterator<Item = &'a String>) -> Self {
        let mut count = BTreeMap::new();
        for name in c_names {
            *count.entry(name.clone()).or_default() += 1;
        }
        Self { count, given: BTreeSet::new() }
    }

    fn give(&mut self, c_name: &str, module: &str, linkage: Linkage) -> SymbolName {
        let is_shared = self.count.get(c_name).is_some_and(|n| *n > 1);
        let mut name = c_name.to_owned();
        if is_shared && linkage == Linkage::Static {
            name = format!("{module}__{c_name}");
        } else if modules::is_keyword(c_name) {
            name = format!("{c_name}_");
        }
        let base = name.clone();
        let mut number = 2;
        while !self.given.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        SymbolName::new(name)
    }
}
