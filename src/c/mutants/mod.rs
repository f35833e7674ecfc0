//! Mutants of C functions, which a good harness kills. Each is a copy of the function with one small change, which
//! stands behind the function in a copy of the unit's file; no file of the library is modified.
//!
//! This module makes the mutants and drops those that do not compile. Its callers run them and interpret the results.

mod call_edits;
mod callees;
mod copies;
mod definitions;
mod edit;
mod edits;
mod macro_edits;
mod operator_replacements;
mod own_statics;
mod same_code;
mod saturating;
mod walk;

pub use edit::{Edit, in_text_order};
pub use operator_replacements::others;
pub use saturating::SATURATING;

use super::analysis_cache::Tools;
use super::translate::{Compiler, with_compiler};
use super::unit_text::{Added, Spot, unit_text};
use super::workers;
use crate::error::Result;
use crate::symbol::{Function, Library, RelPath, SymbolName, Unit};
use callees::Over;
use camino::Utf8Path;
use copies::{Copy, copies_of};
use definitions::NAMED_BY_MACRO;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One mutant of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mutant {
    /// Depends on the line's text and the change, not on the line's position: contracts refer to it.
    pub id: String,
    /// Line in the file of the changed function.
    pub line: u32,
    /// The old text and the new text.
    pub what: String,
}

/// Which copies are made of a function in addition to its own mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    Nothing,
    /// What measures tests: after the mutants, a copy of the function that saturates where C's unsigned
    /// arithmetic wraps, and then copies over callees, one of which is mutated.
    ForTests,
}

/// The mutants of some functions, as they are built into the C side.
#[derive(Debug, Clone, Default)]
pub struct Mutants {
    /// By symbol, in the order of the table that the C side exports. The table has an additional first entry:
    /// the unchanged function, which must behave as the original.
    pub of: BTreeMap<SymbolName, Vec<Mutant>>,
    /// Table numbers of mutants that compile to the machine code of the original.
    pub same: BTreeMap<SymbolName, BTreeSet<usize>>,
    /// Table number of the saturating copy, if it was requested, compiles, and has other machine code than
    /// the original.
    pub planted: BTreeMap<SymbolName, usize>,
    /// Table numbers of copies over a mutated callee, if these were requested. Each maps to the number of the
    /// copy over the same callee unchanged, which is not a mutant and must behave as the original.
    pub over_callees: BTreeMap<SymbolName, BTreeMap<usize, usize>>,
    /// Functions that cannot be mutated, each with the reason.
    pub without: BTreeMap<SymbolName, String>,
    /// The text of each unit with its mutants, without what is behind every unit. It takes the place of the
    /// unit's file, beside which its `#include "…"` must be searched.
    pub units: BTreeMap<RelPath, String>,
}

/// The name of the table of a function's mutants in the C side.
pub fn table(name: &SymbolName) -> String {
    format!("implfuzz_mutants_{name}")
}

/// Excludes the mutants from the coverage counters; the sanitizers stay on.
const QUIET: &str = "#if defined(__clang__)\n\
    #define IMPLFUZZ_MUTANT __attribute__((no_sanitize(\"coverage\")))\n\
    #elif defined(__GNUC__) && __GNUC__ >= 12\n\
    #define IMPLFUZZ_MUTANT __attribute__((no_sanitize_coverage))\n\
    #else\n#define IMPLFUZZ_MUTANT\n#endif";

/// Makes at most `most` mutants of each of `functions`, spread evenly over its text, and the copies of
/// `plant`.
///
/// # Errors
/// `Environment` without libclang or the compiler, `Io` when the scratch folder cannot be written, and Ctrl-C.
pub fn mutants(
    root: &Utf8Path,
    library: &Library,
    functions: &[&Function],
    (most, plant): (usize, Plant),
    tools: Tools,
) -> Result<Mutants> {
    let mut by_unit: BTreeMap<&RelPath, Vec<&Function>> = BTreeMap::new();
    for function in functions {
        if let Some(unit) = library.unit_of.get(&function.key) {
            by_unit.entry(unit).or_default().push(function);
        }
    }
    let work: Vec<(&Unit, Vec<&Function>)> =
        library.units.iter().filter_map(|unit| Some((unit, by_unit.remove(&unit.file)?))).collect();
    let (cc, scratch) = ((tools.programs)()?.cc, tools.scratch.join("mutants"));
    let answers = with_compiler(root, (&cc, &scratch), tools.interrupt, |compiler| {
        workers::map(&work, |(unit, functions)| {
            tools.interrupt.check()?;
            of_unit(compiler, library, unit, functions, (most, plant))
        })
    })?;
    let mut all = Mutants::default();
    for own in answers {
        all.of.extend(own.of);
        all.same.extend(own.same);
        all.planted.extend(own.planted);
        all.over_callees.extend(own.over_callees);
        all.without.extend(own.without);
        all.units.extend(own.units);
    }
    Ok(all)
}

fn of_unit(
    compiler: &Compiler,
    library: &Library,
    unit: &Unit,
    functions: &[&Function],
    wanted: (usize, Plant),
) -> Result<Mutants> {
    let mut without = BTreeMap::new();
    let mut copies = Vec::new();
    let path = compiler.root.join(&unit.file.0);
    let file = fs_err::read_to_string(&path).ok();
    let file = file.as_deref();
    let found = copies_of((compiler.root, library, unit), file, functions, wanted)?;
    for (function, found) in functions.iter().zip(found) {
        match found {
            Ok(found) => copies.extend(found),
            Err(why) => drop(without.insert(function.name.clone(), why)),
        }
    }
    let before: Vec<Added> = library.lines_of(&unit.file).iter().map(Added::behind).collect();
    let quiet = Added { text: QUIET.to_owned(), at: file.map(|_| Spot::of_unit(0)) };
    let translate = |copies: &[Copy]| {
        let all = before.iter().chain([&quiet]).cloned().chain(copies.iter().map(Copy::added));
        compiler.translate_with(unit, file, &all.collect::<Vec<_>>())
    };
    let mut translation = translate(&copies)?;
    if translation.is_err() && copies.iter().any(Copy::is_in_included_file) {
        // It may be that an included file means something else in another file's text.
        copies.iter_mut().filter(|copy| copy.is_in_included_file()).for_each(|copy| copy.at = None);
        for lost in copies.extract_if(.., |copy| copy.is_named_by_macro && copy.at.is_none()) {
            without.insert(lost.symbol, NAMED_BY_MACRO.to_owned());
        }
        translation = translate(&copies)?;
    }
    let translation = match translation {
        Ok(translation) => translation,
        // This unit cannot be measured; the others can.
        Err(why) => {
            let why = format!("{}: the mutants' unit does not compile: {why}", unit.file);
            without.extend(functions.iter().map(|function| (function.name.clone(), why.clone())));
            return Ok(Mutants { without, ..Mutants::default() });
        }
    };
    let first = before.len() + 1;
    let refused: BTreeSet<usize> =
        translation.refused.keys().filter_map(|at| at.checked_sub(first)).collect();
    // Copies that do not compile are dropped. Without the unchanged copy, the results of the others mean
    // nothing.
    let is_plain_lost = |symbol: &SymbolName| {
        refused.iter().any(|at| copies.get(*at).is_some_and(|c| c.symbol == *symbol && c.mutant.is_none()))
    };
    let mut made = Mutants { without, ..Mutants::default() };
    let (mut added, mut groups) = (vec![quiet], Vec::new());
    let functions: Vec<_> = functions.iter().filter(|f| !made.without.contains_key(&f.name)).collect();
    for Function { name, .. } in functions {
        if is_plain_lost(name) {
            let why = "a copy of its text does not compile at the end of its file";
            made.without.insert(name.clone(), why.to_owned());
            continue;
        }
        let kept = copies.iter().enumerate().filter(|(at, c)| c.symbol == *name && !refused.contains(at));
        let kept = with_plain_callees(kept.map(|(_, copy)| copy).collect());
        let mutants: Vec<Mutant> = kept.iter().filter_map(|copy| copy.mutant.clone()).collect();
        if mutants.is_empty() {
            made.without.insert(name.clone(), "its text has nothing to change".to_owned());
            continue;
        }
        added.extend(kept.iter().map(|copy| copy.added()));
        added.push(Added::behind(table_of(&table(name), kept.iter().map(|copy| copy.name.as_str()))));
        made.over_callees.insert(name.clone(), over_callees(&kept));
        made.of.insert(name.clone(), mutants);
        groups.extend(groups_of(name, &kept));
    }
    let numbered: Vec<(usize, &Added)> = added.iter().enumerate().collect();
    made.units = BTreeMap::from([(unit.file.clone(), unit_text(&path, file, &numbered))]);
    made.same = same_code(compiler, (unit, file), before.into_iter().chain(added), &groups)?;
    made.planted = planted(&made);
    Ok(made)
}

/// Keeps the copies over a callee only if both the unchanged callee and a mutant of it are left.
fn with_plain_callees(kept: Vec<&Copy>) -> Vec<&Copy> {
    let over: BTreeSet<(&str, bool)> = kept
        .iter()
        .filter_map(|copy| copy.over.as_ref())
        .map(|over| (&*over.callee, over.is_plain))
        .collect();
    let has_both = |of: &Over| over.contains(&(&*of.callee, true)) && over.contains(&(&*of.callee, false));
    kept.into_iter().filter(|copy| copy.over.as_ref().is_none_or(has_both)).collect()
}

/// The positions of the copies over an unchanged callee, by the callee's name.
fn plain_callees<'c>(kept: &[&'c Copy]) -> BTreeMap<&'c str, usize> {
    let over = kept.iter().enumerate().filter_map(|(number, copy)| Some((number, copy.over.as_ref()?)));
    over.filter(|(_, over)| over.is_plain).map(|(number, over)| (over.callee.as_str(), number)).collect()
}

/// The positions of the copies over a mutated callee; each maps to that of the copy over the same callee
/// unchanged.
fn over_callees(kept: &[&Copy]) -> BTreeMap<usize, usize> {
    let plain = plain_callees(kept);
    let over = kept.iter().enumerate().filter_map(|(number, copy)| Some((number, copy.over.as_ref()?)));
    let changed = over.filter(|(_, over)| !over.is_plain);
    changed.filter_map(|(number, over)| Some((number, *plain.get(over.callee.as_str())?))).collect()
}

fn table_of<'c>(name: &str, copies: impl Iterator<Item = &'c str>) -> String {
    let entries: Vec<String> = copies.map(|copy| format!("(void *){copy}")).collect();
    format!("void *const {name}[] = {{ {} }};", entries.join(", "))
}

/// The position of the saturating copy in each table, unless it compiles to the original's code.
fn planted(made: &Mutants) -> BTreeMap<SymbolName, usize> {
    let number = |(name, list): (&SymbolName, &Vec<Mutant>)| {
        let number = list.iter().position(|mutant| mutant.id == SATURATING)? + 1;
        let is_same = made.same.get(name).is_some_and(|same| same.contains(&number));
        (!is_same).then(|| (name.clone(), number))
    };
    made.of.iter().filter_map(number).collect()
}

/// Copies of one function; the first one is unchanged.
struct Group {
    symbol: SymbolName,
    names: Vec<String>,
    /// The mutant's number in the symbol's table, for each copy except the first.
    numbers: Vec<usize>,
    /// The copies that are in no symbol's table.
    added: Vec<Added>,
}

/// One group of the function's own copies, and one for each mutated callee: the machine code of the changed
/// function is compared, not that of its caller.
fn groups_of(symbol: &SymbolName, kept: &[&Copy]) -> Vec<Group> {
    let group = |copies: Vec<(usize, &str)>| Group {
        symbol: symbol.clone(),
        names: copies.iter().map(|(_, name)| (*name).to_owned()).collect(),
        numbers: copies.iter().skip(1).map(|(number, _)| *number).collect(),
        added: Vec::new(),
    };
    let all = || kept.iter().enumerate();
    let own =
        group(all().filter(|(_, copy)| copy.over.is_none()).map(|(at, copy)| (at, &*copy.name)).collect());
    // The unchanged copy is the first of each callee's copies.
    let callees = plain_callees(kept).into_keys().map(|callee| {
        let over = all().filter_map(|(number, copy)| Some((number, copy.over.as_ref()?)));
        let over: Vec<(usize, &Over)> = over.filter(|(_, over)| over.callee == callee).collect();
        let of_callee = group(over.iter().map(|(number, over)| (*number, &*over.compared)).collect());
        // The table refers to the copies, because the compiler drops unused static functions.
        let table = table_of(
            &format!("implfuzz_compared_{symbol}_{callee}"),
            of_callee.names.iter().map(String::as_str),
        );
        let at = |number: usize| kept.get(number).and_then(|copy| copy.at.clone());
        let texts = over.iter().map(|(number, over)| Added { text: over.text.clone(), at: at(*number) });
        Group { added: texts.chain([Added::behind(table)]).collect(), ..of_callee }
    });
    std::iter::once(own).chain(callees).collect()
}

/// The mutants of each symbol that an optimising compiler translates to the same code as the unchanged text.
fn same_code(
    compiler: &Compiler,
    (unit, file): (&Unit, Option<&str>),
    added: impl Iterator<Item = Added>,
    groups: &[Group],
) -> Result<BTreeMap<SymbolName, BTreeSet<usize>>> {
    let compiler = Compiler { flags: same_code::OPTIMISED, ..*compiler };
    let added: Vec<Added> = added.chain(groups.iter().flat_map(|group| group.added.clone())).collect();
    // If only this compilation fails, no mutant is considered equivalent.
    let Ok(translation) = compiler.translate_with(unit, file, &added)? else { return Ok(BTreeMap::new()) };
    let mut all: BTreeMap<SymbolName, BTreeSet<usize>> = BTreeMap::new();
    for group in groups {
        let names: Vec<&str> = group.names.iter().map(String::as_str).collect();
        let same = same_code::same_as_first(&translation.object, &names).into_iter();
        let numbers = same.filter_map(|at| group.numbers.get(at.checked_sub(1)?).copied());
        all.entry(group.symbol.clone()).or_default().extend(numbers);
    }
    Ok(all)
}

/// At most `most` of the edits, spread as evenly as possible.
pub fn spread<T>(edits: Vec<T>, most: usize) -> Vec<T> {
    let count = edits.len();
    if count <= most {
        return edits;
    }
    let chosen: BTreeSet<usize> = (0..most).map(|i| (2 * i + 1) * count / (2 * most)).collect();
    edits.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, edit)| edit).collect()
}

#[cfg(test)]
mod tests;
