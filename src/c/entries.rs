//! The entries of functions, at which calls can be led elsewhere. Each has a second name in every unit that has a copy of
//! the function. A function in a header has a copy in each unit that includes it.

use super::analysis_cache::Tools;
use super::translate::with_compiler;
use super::workers;
use crate::error::Result;
use crate::symbol::{Function, Library, Linkage, RelPath, SymbolKey, Unit};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// The entries of a library's functions.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    /// What is appended to each unit.
    pub lines: BTreeMap<RelPath, Vec<String>>,
    /// The entries of each function.
    pub of: BTreeMap<SymbolKey, Vec<Entry>>,
}

/// The entry of a copy of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The linker's name.
    pub name: String,
    pub unit: RelPath,
}

/// Compiler flags that leave 16 bytes of room at each entry (x86-64 counts bytes, aarch64 instructions), and nothing before
/// it.
pub const ROOM: [&str; 2] = if cfg!(target_arch = "aarch64") {
    ["-fpatchable-function-entry=4,0", "-mbranch-protection=none"]
} else {
    ["-fpatchable-function-entry=16,0", "-fcf-protection=none"]
};

/// Compiler flags by which functions that are always inlined keep their calls.
pub const CALLED: [&str; 2] = ["-Dalways_inline=__unused__", "-D__always_inline__=__unused__"];

impl Entries {
    /// The entries of a function.
    pub fn of(&self, key: &SymbolKey) -> &[Entry] {
        self.of.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Whether all inline functions have copies that can be called; else the program might not link without inlining.
pub fn inline_functions_have_copies(library: &Library) -> bool {
    library.functions.iter().all(|function| has_copy(library, function))
}

/// C99's `inline` alone defines no function that others can call.
fn has_copy(library: &Library, function: &Function) -> bool {
    !function.is_inline || function.linkage == Linkage::Static || library.exports.contains(&function.c_name)
}

/// The functions that have a copy in a unit, with the names that their entries get there.
struct Names<'l> {
    functions: Vec<(&'l Function, String)>,
    unit: &'l Unit,
}

/// Names the entries of all functions. Where the compiler rejects a name, the function has no copy in that unit.
///
/// # Errors
/// `Environment` without the compiler, `Io` when the scratch folder cannot be written, and Ctrl-C.
pub fn entries(root: &Utf8Path, library: &Library, tools: Tools) -> Result<Entries> {
    let sources: BTreeSet<&RelPath> = library.units.iter().map(|unit| &unit.file).collect();
    let names: Vec<Names> = library
        .units
        .iter()
        .enumerate()
        .map(|(number, unit)| {
            let is_here = |function: &&Function| match sources.contains(&function.place.file) {
                true => {
                    function.place.file == unit.file || library.unit_of.get(&function.key) == Some(&unit.file)
                }
                false => true,
            };
            let all = library.functions.iter().enumerate();
            // `-Dmain=…` gives it another name (`other_main`), so that the program of a driver can have its own.
            let is_main = |function: &Function| function.c_name == "main";
            let all = all.filter(|(_, function)| {
                is_here(function) && has_copy(library, function) && !is_main(function)
            });
            let named = all.map(|(at, function)| (function, format!("implfuzz_entry_{number}_{at}")));
            Names { functions: named.collect(), unit }
        })
        .collect();
    let (cc, scratch) = ((tools.programs)()?.cc, tools.scratch.join("entries"));
    let refused = with_compiler(root, (&cc, &scratch), tools.interrupt, |compiler| {
        workers::map(&names, |names| {
            tools.interrupt.check()?;
            let lines: Vec<String> = names.functions.iter().map(|(f, name)| line(f, name)).collect();
            Ok(compiler.translate(names.unit, &lines)?.map(|translation| translation.refused))
        })
    })?;
    let mut all = Entries::default();
    for (names, refused) in names.iter().zip(refused) {
        // A unit that does not compile has no entries; building it will say why.
        let Ok(refused) = refused else { continue };
        let kept = names.functions.iter().enumerate().filter(|(at, _)| !refused.contains_key(at));
        for (_, (function, name)) in kept {
            all.lines.entry(names.unit.file.clone()).or_default().push(line(function, name));
            let entry = Entry { name: name.clone(), unit: names.unit.file.clone() };
            all.of.entry(function.key.clone()).or_default().push(entry);
        }
    }
    Ok(all)
}

fn line(function: &Function, name: &str) -> String {
    second_name("extern", &function.c_name, (name, &function.c_name))
}

/// Declares a second name of a function, which the linker knows by the last one.
pub(super) fn second_name(storage: &str, c_name: &str, (name, of): (&str, &str)) -> String {
    format!("{storage} __typeof__({c_name}) {name} __attribute__((alias(\"{of}\")));")
}
