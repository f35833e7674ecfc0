//! The generated C table of functions: what the judge knows of each.

use crate::c::entries::Entries;
use crate::c::mutants::{Mutants, table};
use crate::symbol::{CType, Function, Library, TypeKind};
use std::fmt::Write as _;

/// Bytes of arguments on the stack that every call gets: more than most functions have.
const STACK: u64 = 128;
/// As in `in_place.h`.
const MOST: usize = 64;

/// Why calls of a function are not judged, whatever a driver does.
pub fn why_not(function: &Function) -> Option<&'static str> {
    if function.is_variadic {
        return Some("variadic");
    }
    match &function.ret.kind {
        TypeKind::Record(_) => Some("it returns a struct by value"),
        TypeKind::Unsupported(_) => Some("its result is no type that is compared"),
        _ => None,
    }
}

/// How a result is compared, as a constant of `in_place.h`.
fn result(ty: &CType) -> &'static str {
    let of_bits = |bits: u16| match bits {
        8 => "RESULT_1",
        16 => "RESULT_2",
        32 => "RESULT_4",
        64 => "RESULT_8",
        128 => "RESULT_16",
        _ => "RESULT_UNKNOWN",
    };
    match &ty.kind {
        TypeKind::Void => "RESULT_NONE",
        TypeKind::Bool => "RESULT_1",
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => of_bits(*bits),
        TypeKind::Float { bits: 32 } => "RESULT_FLOAT",
        TypeKind::Float { bits: 64 } => "RESULT_DOUBLE",
        TypeKind::Pointer(_) | TypeKind::Array { .. } | TypeKind::Function { .. } => "RESULT_8",
        TypeKind::Float { .. } | TypeKind::Record(_) | TypeKind::Unsupported(_) => "RESULT_UNKNOWN",
    }
}

/// An upper bound for the bytes of arguments on the stack: structs by value are there, and what registers hold is
/// counted too.
fn stack_bytes(library: &Library, function: &Function) -> u64 {
    let size = |ty: &CType| match &ty.kind {
        TypeKind::Record(key) => {
            library.records.get(key).map_or(0, |record| record.size.next_multiple_of(16))
        }
        _ => 16,
    };
    let all: u64 = function.params.iter().map(|param| size(&param.ty)).sum();
    all.next_multiple_of(16).max(STACK)
}

/// The text of the table; functions have their positions in the library as numbers.
pub(super) fn text(library: &Library, entries: &Entries, mutants: &Mutants) -> String {
    let mut text = "#include \"in_place.h\"\n\n".to_owned();
    let write = |text: &mut String, line: std::fmt::Arguments| {
        text.write_fmt(line).expect("a String takes all text");
    };
    for name in entries.of.values().flatten() {
        write(&mut text, format_args!("extern unsigned char {name}[];\n"));
    }
    let judged = |function: &Function| why_not(function).is_none() && entries.of.contains_key(&function.key);
    let candidates = |function: &Function| {
        mutants.of.get(&function.name).filter(|_| judged(function)).map(|list| (list.len() + 1).min(MOST))
    };
    for function in library.functions.iter().filter(|function| candidates(function).is_some()) {
        write(&mut text, format_args!("extern void *const {}[];\n", table(&function.name)));
    }
    text += "\nconst struct implfuzz_function implfuzz_functions[] = {\n";
    for function in &library.functions {
        let (table, count) = match candidates(function) {
            Some(count) => (table(&function.name), count),
            None => ("0".to_owned(), 0),
        };
        let (result, bytes) = (result(&function.ret), stack_bytes(library, function));
        let name = &function.name;
        write(&mut text, format_args!("    {{\"{name}\", {result}, {bytes}, {table}, {count}}},\n"));
    }
    write(
        &mut text,
        format_args!(
            "}};\nconst size_t implfuzz_function_count = {};\n\nconst struct implfuzz_entry implfuzz_entries[] = {{\n",
            library.functions.len()
        ),
    );
    let mut count = 0;
    for (number, function) in library.functions.iter().enumerate() {
        for name in entries.of.get(&function.key).into_iter().flatten() {
            count += 1;
            write(&mut text, format_args!("    {{{number}, {name}}},\n"));
        }
    }
    write(&mut text, format_args!("}};\nconst size_t implfuzz_entry_count = {count};\n"));
    text
}
