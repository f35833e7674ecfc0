//! Mutants of C functions: what a harness that is worth its name tells from the original. Each is a copy of the function
//! with one small change, behind the unit that defines it; no file of the library is touched.
//!
//! Here they are made, and the compiler says which of them are C; how they are run and what is concluded from it is
//! decided above.

mod edits;
mod operators;
mod same_code;
mod saturating;

pub use operators::others;
pub use saturating::SATURATING;

use super::cursor::{Location, TranslationUnit};
use super::flags::clang_arguments;
use super::keeper::Tools;
use super::translate::{Compiler, PLAIN};
use super::workers;
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{Function, Library, Linkage, RelPath, SymbolName, Unit};
use camino::Utf8Path;
use clang_sys::{CXCursor_FunctionDecl, CXCursor_MacroExpansion};
use edits::{Edit, edits};
use saturating::saturating;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One mutant of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mutant {
    /// The same as long as its line and the change are, wherever the line stands: contracts name it.
    pub id: String,
    /// Of the function's file.
    pub line: u32,
    /// What stands there, and what in its place.
    pub what: String,
}

/// What is made of a function beside its small changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    Nothing,
    /// The whole function, saturating where C's unsigned arithmetic wraps: one mutant more, behind all others.
    Saturating,
}

/// The mutants of some functions, as the C side is built with them.
#[derive(Debug, Clone, Default)]
pub struct Mutants {
    /// By symbol, in the order of the table that the C side offers. The table has one entry more, in front: the
    /// function's text as it is, which must not differ from the function.
    pub of: BTreeMap<SymbolName, Vec<Mutant>>,
    /// Numbers in that table of mutants that are compiled to the function's own code.
    pub same: BTreeMap<SymbolName, BTreeSet<usize>>,
    /// Numbers in that table of what [`Plant`] asked for, where it is C and not compiled to the function's own code; it is the last
    /// of the function's mutants, too.
    pub planted: BTreeMap<SymbolName, usize>,
    /// Functions of which no mutant can be made, and why.
    pub without: BTreeMap<SymbolName, String>,
    /// What stands behind each unit, after its other lines.
    pub lines: BTreeMap<RelPath, Vec<String>>,
}

/// The table of a function's mutants in the C side.
pub fn table(name: &SymbolName) -> String {
    format!("implfuzz_mutants_{name}")
}

/// Coverage is that of the original; sanitizers stay.
const QUIET: &str = "#if defined(__clang__)\n\
    #define IMPLFUZZ_MUTANT __attribute__((no_sanitize(\"coverage\")))\n\
    #elif defined(__GNUC__) && __GNUC__ >= 12\n\
    #define IMPLFUZZ_MUTANT __attribute__((no_sanitize_coverage))\n\
    #else\n#define IMPLFUZZ_MUTANT\n#endif";

/// A copy of a function behind its unit.
struct Copy {
    symbol: SymbolName,
    /// None for the text as it is.
    mutant: Option<Mutant>,
    name: String,
    text: String,
}

/// Makes at most `most` mutants of each of `functions`, spread evenly over its text, and what is to be planted beside them.
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
    let cc = (tools.programs)()?.cc;
    let scratch = tools.scratch.join("mutants");
    fs_err::create_dir_all(&scratch)?;
    let scratch = fs_err::canonicalize(&scratch)?;
    let compiler = Compiler { root, cc: &cc, scratch: &scratch, flags: PLAIN, interrupt: tools.interrupt };
    let answers = workers::map(&work, |(unit, functions)| {
        tools.interrupt.check()?;
        of_unit(&compiler, library, unit, functions, (most, plant))
    })?;
    let mut all = Mutants::default();
    for answer in answers {
        let own = answer?;
        all.of.extend(own.of);
        all.same.extend(own.same);
        all.planted.extend(own.planted);
        all.without.extend(own.without);
        all.lines.extend(own.lines);
    }
    drop(std::fs::remove_dir_all(&scratch));
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
    let found = copies_of(compiler.root, unit, functions, wanted)?;
    for (function, found) in functions.iter().zip(found) {
        match found {
            Ok(found) => copies.extend(found),
            Err(why) => drop(without.insert(function.name.clone(), why)),
        }
    }
    let before = library.alias_lines.get(&unit.file).map(Vec::as_slice).unwrap_or_default();
    let texts =
        before.iter().map(String::as_str).chain([QUIET]).chain(copies.iter().map(|c| c.text.as_str()));
    let translation = compiler.translate(unit, &texts.collect::<Vec<_>>())?;
    let translation = match translation {
        Ok(translation) => translation,
        // One file less to measure; the others are.
        Err(why) => {
            let why = format!("{}: the mutants' unit does not compile: {why}", unit.file);
            without.extend(functions.iter().map(|function| (function.name.clone(), why.clone())));
            return Ok(Mutants { without, ..Mutants::default() });
        }
    };
    let first = before.len() + 1;
    let refused: BTreeSet<usize> =
        translation.refused.keys().filter_map(|at| at.checked_sub(first)).collect();
    // A copy that is no C is no mutant; without the plain copy nothing can be said of the others.
    let is_plain_lost = |symbol: &SymbolName| {
        refused.iter().any(|at| copies.get(*at).is_some_and(|c| c.symbol == *symbol && c.mutant.is_none()))
    };
    let (mut of, mut tables, mut lines) = (BTreeMap::new(), BTreeMap::new(), vec![QUIET.to_owned()]);
    for function in functions.iter().filter(|f| !without.contains_key(&f.name)).copied().collect::<Vec<_>>() {
        if is_plain_lost(&function.name) {
            let why = "a copy of its text does not compile behind the file that it comes from";
            without.insert(function.name.clone(), why.to_owned());
            continue;
        }
        let kept =
            copies.iter().enumerate().filter(|(at, c)| c.symbol == function.name && !refused.contains(at));
        let kept: Vec<&Copy> = kept.map(|(_, copy)| copy).collect();
        let mutants: Vec<Mutant> = kept.iter().filter_map(|copy| copy.mutant.clone()).collect();
        if mutants.is_empty() {
            without.insert(function.name.clone(), "its text has nothing to change".to_owned());
            continue;
        }
        lines.extend(kept.iter().map(|copy| copy.text.clone()));
        let names: Vec<String> = kept.iter().map(|copy| format!("(void *){}", copy.name)).collect();
        lines.push(format!("void *const {}[] = {{ {} }};", table(&function.name), names.join(", ")));
        of.insert(function.name.clone(), mutants);
        tables.insert(function.name.clone(), kept.into_iter().map(|copy| copy.name.clone()).collect());
    }
    let same = same_code(compiler, unit, before.iter().chain(&lines), &tables)?;
    let planted = planted(&of, &same);
    Ok(Mutants { of, same, planted, without, lines: BTreeMap::from([(unit.file.clone(), lines)]) })
}

/// Where in each table the cheat stands.
fn planted(
    of: &BTreeMap<SymbolName, Vec<Mutant>>,
    same: &BTreeMap<SymbolName, BTreeSet<usize>>,
) -> BTreeMap<SymbolName, usize> {
    let number = |(name, list): (&SymbolName, &Vec<Mutant>)| {
        let is_last = list.last().is_some_and(|mutant| mutant.id == SATURATING);
        let is_same = same.get(name).is_some_and(|same| same.contains(&list.len()));
        (is_last && !is_same).then(|| (name.clone(), list.len()))
    };
    of.iter().filter_map(number).collect()
}

/// Which of the mutants in each table are the function itself for an optimising compiler.
fn same_code<'l>(
    compiler: &Compiler,
    unit: &Unit,
    lines: impl Iterator<Item = &'l String>,
    tables: &BTreeMap<SymbolName, Vec<String>>,
) -> Result<BTreeMap<SymbolName, BTreeSet<usize>>> {
    let compiler = Compiler { flags: same_code::OPTIMISED, ..*compiler };
    let lines: Vec<&str> = lines.map(String::as_str).collect();
    // A compiler that fails here where it did not above tells nothing of any mutant.
    let Ok(translation) = compiler.translate(unit, &lines)? else { return Ok(BTreeMap::new()) };
    let of = |names: &Vec<String>| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        same_code::same_as_first(&translation.object, &names).into_iter().collect()
    };
    Ok(tables.iter().map(|(name, names)| (name.clone(), of(names))).collect())
}

/// The copies of each function, the plain one first; the inner error says why there are none.
fn copies_of(
    root: &Utf8Path,
    unit: &Unit,
    functions: &[&Function],
    (most, plant): (usize, Plant),
) -> Result<Vec<std::result::Result<Vec<Copy>, String>>> {
    let parsed = TranslationUnit::parse(root.join(&unit.file.0).as_str(), &clang_arguments(root, unit));
    let parsed = parsed
        .ok_or_else(|| Error::new(ErrorKind::C, format!("{}: clang cannot parse it at all", unit.file)))?;
    let items = parsed.items();
    let definitions = items.iter().filter(|c| c.kind() == CXCursor_FunctionDecl && c.is_definition());
    let definitions: BTreeMap<(String, usize), _> =
        definitions.map(|c| ((c.name(), c.start().offset), *c)).collect();
    let expansions: Vec<(Location, Location)> = match plant {
        Plant::Nothing => Vec::new(),
        Plant::Saturating => {
            let all = items.iter().filter(|c| c.kind() == CXCursor_MacroExpansion);
            all.map(|c| (c.start(), c.end())).collect()
        }
    };
    Ok(functions
        .iter()
        .map(|function| {
            let definition = definitions
                .get(&(function.c_name.clone(), function.place.start))
                .ok_or("its definition is not where it was read: run `cargo implfuzz init`")?;
            let at = definition.at().offset.checked_sub(definition.start().offset);
            let name = at.map(|at| at..at + function.c_name.len());
            let name = name
                .filter(|name| function.text.get(name.clone()) == Some(function.c_name.as_str()))
                .ok_or("its name comes out of a macro")?;
            let edits = edits(*definition, &function.text);
            let ids = ids(function, &edits);
            let mut edits = spread(edits.into_iter().zip(ids).collect(), most);
            if plant == Plant::Saturating {
                let cheat = saturating(*definition, &function.text, &expansions);
                edits.extend(cheat.map(|edit| (edit, SATURATING.to_owned())));
            }
            let plain = copy(function, &name, 0, None);
            let mutants =
                edits.iter().enumerate().map(|(at, edit)| copy(function, &name, at + 1, Some(edit)));
            Ok(std::iter::once(plain).chain(mutants).collect())
        })
        .collect())
}

/// At most `most`, as evenly spread as can be.
pub fn spread<T>(edits: Vec<T>, most: usize) -> Vec<T> {
    let count = edits.len();
    if count <= most {
        return edits;
    }
    let chosen: BTreeSet<usize> = (0..most).map(|i| (2 * i + 1) * count / (2 * most)).collect();
    edits.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, edit)| edit).collect()
}

/// A name for each edit that stays when something else changes.
fn ids(function: &Function, edits: &[Edit]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let id = |edit: &Edit| {
        let line = function.text[..edit.range.start].rfind('\n').map_or(0, |at| at + 1);
        let line = function.text[line..].lines().next().unwrap_or_default().trim();
        let what = of_parts([line, edit.what.as_str()]);
        let nth = seen.entry(what.clone()).or_default();
        *nth += 1;
        of_parts([what.as_str(), &nth.to_string()])[..8].to_owned()
    };
    edits.iter().map(id).collect()
}

fn copy(
    function: &Function,
    name: &std::ops::Range<usize>,
    number: usize,
    edit: Option<&(Edit, String)>,
) -> Copy {
    let copy_name = format!("implfuzz_mutant_{}_{number}", function.name);
    let mut text = function.text.clone();
    // The body stands behind the name, so the later place is changed first.
    if let Some((edit, _)) = edit {
        text.replace_range(edit.range.clone(), &edit.by);
    }
    text.replace_range(name.clone(), &copy_name);
    let specifiers = &function.text[..name.start];
    let has_storage =
        specifiers.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|w| w == "extern");
    let storage = if function.linkage == Linkage::External && !has_storage { "static " } else { "" };
    let mutant = edit.map(|(edit, id)| Mutant { id: id.clone(), line: edit.line, what: edit.what.clone() });
    Copy {
        symbol: function.name.clone(),
        mutant,
        name: copy_name,
        text: format!("IMPLFUZZ_MUTANT {storage}{text}"),
    }
}

#[cfg(test)]
mod tests;
