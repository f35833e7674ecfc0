//! State of a function besides its arguments: the library's variables that it reaches, or the reason why a harness
//! cannot set and compare them.

use super::c_words::identifiers;
use super::flat::{flat, size};
use super::types::{Contract, Direction, GlobalUse, Parameter};
use crate::libc_facts::{is_answered, only_computes};
use crate::symbol::{CType, Function, Global, Library, LibraryIndex, SymbolKey, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Size in bytes up to which a variable gets values from the input. Larger ones keep C's values, because they would
/// fill the input alone.
const VARIED: u64 = 4096;
/// Size in bytes up to which a variable is compared: each execution sets and reads both copies.
const COMPARED: u64 = 1 << 20;

/// The variables of `function` and of all functions that it reaches, in name order, including comparison functions
/// that it passes to `qsort`. `Err` names state that no harness can set.
pub fn globals(
    library: &Library,
    index: &LibraryIndex,
    function: &Function,
) -> Result<Vec<GlobalUse>, String> {
    globals_where(library, index, function, |_| false)
}

/// As [`globals`], but calls of functions that `allowed` accepts are no error.
pub(super) fn globals_where(
    library: &Library,
    index: &LibraryIndex,
    function: &Function,
    allowed: fn(&str) -> bool,
) -> Result<Vec<GlobalUse>, String> {
    let mut used = BTreeMap::new();
    for callee in index.reached(function) {
        let via = match callee.key == function.key {
            true => String::new(),
            false => format!(" (through `{}`)", callee.c_name),
        };
        if let Some(own) = variables(index, callee).find(|global| global.local_to.is_some()) {
            return Err(format!("keeps state in the local static `{}`{via}", own.c_name));
        }
        if let Some(name) = lent_to_variadic(index, function, callee) {
            return Err(format!(
                "calls `{}`, a variadic function that uses the variable `{name}`: no shim can pass the port's value on",
                callee.c_name
            ));
        }
        if let Some(name) = callee.foreign_globals.first() {
            return Err(format!("depends on `{name}`{via}, a variable that the library does not define"));
        }
        for external in &callee.externs {
            if !only_computes(external) && !is_answered(external) && !allowed(external) {
                return Err(format!("calls `{external}`{via}, which has side effects or is unknown"));
            }
        }
        for global in variables(index, callee) {
            if let Some(why) = in_the_way(library, global) {
                return Err(format!("depends on the mutable global `{}`{via}: {why}", global.c_name));
            }
            let direction = direction(callee, &global.key);
            used.entry(&global.name)
                .and_modify(|found: &mut GlobalUse| found.direction = both(found.direction, direction))
                .or_insert_with(|| described(library, global, (direction, reason(callee, global))));
        }
    }
    Ok(used.into_values().collect())
}

/// Why C's initial values are not enough: the function reads a variable that gets no values from the input, but that others
/// fill, or that it fills itself for its next call.
pub(super) fn unfilled(
    library: &Library,
    index: &LibraryIndex,
    (function, used): (&Function, &[GlobalUse]),
) -> Option<String> {
    let reached: BTreeSet<&SymbolKey> = index.reached(function).map(|callee| &callee.key).collect();
    let is_filled = |global: &Global| {
        let mut others = library.functions.iter().filter(|other| !reached.contains(&other.key));
        others.any(|other| other.globals_written.contains(&global.key))
    };
    let kept = used.iter().filter(|used| !used.vary && !used.functions && used.direction != Direction::Out);
    let named = |used: &'_ GlobalUse| library.globals.iter().find(|global| global.name == used.name);
    let mut kept = kept.filter_map(|used| Some((named(used)?, used.direction == Direction::InOut)));
    let (global, is_by_others) = kept.find_map(|(global, fills_itself)| {
        let is_by_others = is_filled(global);
        (is_by_others || fills_itself).then_some((global, is_by_others))
    })?;
    let who = if is_by_others { "which other functions fill" } else { "which it fills itself" };
    let why = match size(library, &global.ty) {
        bytes if bytes > VARIED => format!("its {bytes} bytes are too many for an input"),
        _ => "no input can give it values".to_owned(),
    };
    Some(format!("depends on the mutable global `{}`, {who}: {why}", global.c_name))
}

/// A variable that a callee with a variable number of arguments uses. It stays C, and a port calls it without a shim, which
/// would give C the values of the port's variables.
fn lent_to_variadic<'a>(
    index: &LibraryIndex<'a>,
    function: &Function,
    callee: &'a Function,
) -> Option<&'a str> {
    let is_other = callee.is_variadic && callee.key != function.key;
    let mut used = index.reached(callee).flat_map(|reached| variables(index, reached));
    used.next().filter(|_| is_other).map(|global| global.c_name.as_str())
}

/// The variables that C code reached from here may change and whose bytes mean the same on both sides. A shim that
/// calls C keeps both copies equal.
pub fn shared<'a>(library: &Library, index: &LibraryIndex<'a>, function: &Function) -> Vec<&'a Global> {
    let mut all: BTreeMap<_, &Global> = BTreeMap::new();
    for callee in index.reached(function) {
        let found = variables(index, callee).filter(|global| in_the_way(library, global).is_none());
        all.extend(found.map(|global| (&global.name, global)));
    }
    all.into_values().collect()
}

/// All state that a call of `function` may leave behind for the next call, by key.
pub fn kept(index: &LibraryIndex, function: &Function) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for callee in index.reached(function) {
        all.extend(variables(index, callee).map(|global| global.key.0.clone()));
    }
    all
}

/// What is wrong with the variables of a hand-written contract, if anything is.
pub fn complaint(
    library: &Library,
    index: &LibraryIndex,
    (function, contract): (&Function, &Contract),
) -> Option<String> {
    for used in &contract.globals {
        let Some(global) = library.globals.iter().find(|g| g.name == used.name && g.is_variable()) else {
            return Some(format!("the library has no variable `{}`", used.name));
        };
        if let Some(why) = in_the_way(library, global) {
            return Some(format!("`{}` cannot be set and compared: {why}", used.name));
        }
        let functions = library.allocators.contains_key(&global.key);
        if functions != used.functions || functions && used.vary {
            let keys = if functions { "`functions = true` and `vary = false`" } else { "no `functions`" };
            return Some(format!("`{}` needs {keys}", used.name));
        }
    }
    // A variable that is not listed would carry state from one execution into the next.
    let wanted = globals(library, index, function).unwrap_or_default();
    let missing = wanted.iter().find(|w| !contract.globals.iter().any(|g| g.name == w.name))?;
    Some(format!(
        "it has no [[global]] for `{}`, which the function reaches ({})",
        missing.name, missing.reason
    ))
}

/// The number of input bytes that a variable may take.
pub fn input_bytes(library: &Library, used: &GlobalUse) -> u64 {
    let global = library.globals.iter().find(|g| g.name == used.name).filter(|_| used.vary);
    global.map_or(0, |global| 1 + size(library, &global.ty))
}

/// The most bytes that an argument takes in an input: elements and structs are wider than the bytes that its role counts.
pub fn argument_bytes(library: &Library, function: &Function, param: &Parameter) -> u64 {
    let facts = param.role.facts();
    let own = function.params.iter().find(|own| own.name == param.name);
    let width = own.map_or(0, |own| match &own.ty.kind {
        TypeKind::Pointer(of) => size(library, of),
        _ => size(library, &own.ty),
    });
    let elements = facts.elements_read.unwrap_or(1) as u64;
    facts.input_bytes.saturating_add(width.saturating_sub(1).saturating_mul(elements))
}

/// The library's variables, without its constants, that the body of `function` mentions.
fn variables<'a>(index: &LibraryIndex<'a>, function: &Function) -> impl Iterator<Item = &'a Global> {
    let keys = function.globals_read.iter().chain(&function.globals_written);
    keys.filter_map(|key| index.global(key)).filter(|global| global.is_variable())
}

/// Why a harness cannot set and compare a variable.
fn in_the_way(library: &Library, global: &Global) -> Option<String> {
    if let Some(reason) = &global.unsupported {
        return Some(reason.clone());
    }
    if global.local_to.is_some() {
        return Some("it is declared inside a function".to_owned());
    }
    // It keeps C's initial value, which is the same on both sides.
    if library.allocators.contains_key(&global.key) {
        return None;
    }
    if !flat(library, &global.ty) {
        return Some(format!("its type `{}` contains more than numbers", global.ty.spelling));
    }
    let bytes = size(library, &global.ty);
    (bytes > COMPARED).then(|| format!("its {bytes} bytes are too many to compare after every call"))
}

fn described(library: &Library, global: &Global, (direction, reason): (Direction, String)) -> GlobalUse {
    // Elements of enum arrays are integers in Rust and could get any value.
    let enums = matches!(global.ty.kind, TypeKind::Array { .. })
        && matches!(global.ty.element().kind, TypeKind::Enum { .. });
    let functions = library.allocators.contains_key(&global.key);
    GlobalUse {
        name: global.name.clone(),
        direction,
        vary: size(library, &global.ty) <= VARIED && !enums && !functions,
        functions,
        values: enum_values(&global.ty),
        reason,
    }
}

fn enum_values(ty: &CType) -> Vec<i64> {
    let TypeKind::Enum { values, .. } = &ty.kind else { return Vec::new() };
    let mut values: Vec<i64> = values.iter().filter_map(|(_, value)| i64::try_from(*value).ok()).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn direction(function: &Function, key: &SymbolKey) -> Direction {
    match (function.globals_read.contains(key), function.globals_written.contains(key)) {
        (true, false) => Direction::In,
        (false, _) => Direction::Out,
        (true, true) => Direction::InOut,
    }
}

fn both(one: Direction, other: Direction) -> Direction {
    if one == other { one } else { Direction::InOut }
}

/// The first line of the body that mentions the variable.
fn reason(function: &Function, global: &Global) -> String {
    let place = &function.place;
    let names_it = |line: &&str| identifiers(line).contains(&global.c_name.as_str());
    let found = function.text.lines().zip(place.line..).find(|(line, _)| names_it(line));
    match found {
        Some((line, number)) => format!("{}:{number}: {}", place.file, line.trim()),
        None => format!("{}:{}: through a macro or a constant", place.file, place.line),
    }
}
