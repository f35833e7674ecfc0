//! Memory that a caller lends to a function on handles where the signature does not describe it: structs with
//! pointers, and memory of unknown size.

use super::flat::size;
use super::length_names::length_like;
use super::parameter_roles;
use super::pointer_facts::{Facts, direction};
use super::types::{Direction, Role};
use crate::symbol::{Field, Library, Param, TypeKind, UseKind};

/// Sizes, in bytes, for pointers of unknown extent: an output that C fills, memory that C walks along, anything
/// else.
const FILLED: usize = 1 << 16;
const WALKED: usize = 1 << 11;
const TOUCHED: usize = 1 << 7;

/// The role of a struct that has only numbers and pointers to bytes.
pub(super) fn structure(library: &Library, param: &Param, facts: &Facts) -> Option<Role> {
    let known = library.records.get(param.ty.target()?.record_key()?)?;
    let is_number = |f: &&Field| matches!(f.ty.kind, TypeKind::Int { .. } | TypeKind::Bool);
    let is_pointer = |f: &&Field| matches!(&f.ty.kind, TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Int { bits: 8, .. }));
    let is_other = |f: &Field| f.bits.is_some() || !(is_number(&f) || is_pointer(&f)) || !flat_name(&f.name);
    let usable = known.complete && !known.opaque && !known.is_union && !known.rust_name.is_empty();
    if !usable || known.fields.iter().any(is_other) {
        return None;
    }
    let (mut pointers, mut numbers): (Vec<(String, Vec<String>)>, Vec<String>) = Default::default();
    for field in &known.fields {
        match pointers.last_mut() {
            _ if is_pointer(&field) => pointers.push((field.name.clone(), Vec::new())),
            // A length field belongs to the last pointer field before it.
            Some((_, lengths)) if length_like(&field.name) => lengths.push(field.name.clone()),
            _ => numbers.push(field.name.clone()),
        }
    }
    let of = known.rust_name.clone();
    (!pointers.is_empty()).then_some(Role::Lent(parameter_roles::Lent {
        of,
        pointers,
        numbers,
        nullable: facts.null_checked,
    }))
}

fn flat_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The role of memory of unknown size, for numbers or `void`. A `void *` that C casts is assumed to be walked.
pub(super) fn room(library: &Library, param: &Param, facts: &Facts) -> Option<Role> {
    let to = param.ty.target()?;
    let size = match to.kind {
        TypeKind::Void => 1,
        TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Bool => size(library, to).max(1) as usize,
        _ => return None,
    };
    let casts = param.uses.iter().filter_map(|used| match &used.kind {
        UseKind::Cast { to } if to.contains('*') => Some(to.as_str()),
        _ => None,
    });
    let casts: Vec<&str> = casts.collect();
    if facts.string || facts.freed || facts.returned || casts.iter().any(|to| is_record(library, to)) {
        return None;
    }
    let is_void = to.kind == TypeKind::Void;
    let direction = match (to.is_const, is_void && !casts.is_empty()) {
        (true, _) if !facts.writes => Direction::In,
        (_, true) => Direction::InOut,
        _ => direction(facts),
    };
    let walks = facts.walks || is_void && !casts.is_empty();
    let bytes = match direction {
        _ if !walks && facts.several => WALKED,
        _ if !walks => TOUCHED,
        Direction::Out => FILLED,
        Direction::In | Direction::InOut => WALKED,
    };
    Some(Role::Room(parameter_roles::Room { direction, len: bytes / size, nullable: facts.null_checked }))
}

/// Whether a pointer type names a struct with other fields than numbers, another pointer, or an unknown type.
fn is_record(library: &Library, pointer: &str) -> bool {
    let name = pointer.replace("const", "").replace("struct", "").replace("union", "");
    let name = name.trim().trim_end_matches('*').trim();
    let mut named = library.records.values().filter(|r| r.c_name == name || r.rust_name == name).peekable();
    if named.peek().is_none() {
        return name.contains('*') || !is_number(name);
    }
    named.any(|r| !r.complete || r.fields.iter().any(|f| !matches!(f.ty.kind, TypeKind::Int { .. })))
}

/// Whether a type's name is that of a number, by its last word: `uint8_t`, `BYTE`, `LZ4_u32`, `unsigned long`.
fn is_number(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split([' ', '_']).filter(|word| !word.is_empty() && *word != "t");
    let Some(last) = words.next_back() else { return false };
    let bits = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = bits.strip_prefix(['u', 's', 'i']).filter(|rest| NUMBERS.contains(rest)).unwrap_or(bits);
    NUMBERS.contains(&plain) || bits.len() < last.len() && matches!(bits, "u" | "s" | "i")
}

const NUMBERS: [&str; 13] = [
    "char", "int", "short", "long", "byte", "bytef", "word", "size", "ssize", "float", "double", "unsigned",
    "signed",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_numbers_are_told_from_those_of_structs() {
        for yes in [
            "unsigned char", "uint8_t", "BYTE", "U32", "LZ4_u32", "size_t", "Bytef", "uInt", "i64",
            "long long",
        ] {
            assert!(is_number(yes), "{yes}");
        }
        for no in ["point", "point_t", "printer", "state", "u", "charset", "void", ""] {
            assert!(!is_number(no), "{no}");
        }
    }
}
