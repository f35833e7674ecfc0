//! What a caller lends to a function on handles, where the signature alone does not say what it is: structs with pointers
//! of their own, and room that nothing measures.

use super::constructors::{record, target};
use super::facts::Facts;
use super::infer::{direction, length_like};
use super::types::{Direction, Role};
use crate::symbol::{Field, Library, Param, TypeKind};

/// Elements of an output that nothing measures: what C writes beyond them makes the input one on which C breaks.
const ROOM: usize = 1 << 16;

/// The role of a parameter that points to such memory.
pub(super) fn role(library: &Library, param: &Param, facts: &Facts) -> Option<Role> {
    structure(library, param, facts).or_else(|| room(param, facts))
}

/// A struct of numbers and of pointers to bytes.
fn structure(library: &Library, param: &Param, facts: &Facts) -> Option<Role> {
    let known = library.records.get(record(target(&param.ty)?)?)?;
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
            // Up to the next pointer, lengths are those of the last one.
            Some((_, lengths)) if length_like(&field.name) => lengths.push(field.name.clone()),
            _ => numbers.push(field.name.clone()),
        }
    }
    let of = known.rust_name.clone();
    (!pointers.is_empty()).then_some(Role::Lent { of, pointers, numbers, nullable: facts.null_checked })
}

fn flat_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An output of bytes.
fn room(param: &Param, facts: &Facts) -> Option<Role> {
    let to = target(&param.ty)?;
    let is_bytes = matches!(to.kind, TypeKind::Int { bits: 8, .. });
    let is_out = facts.writes && !facts.string && !facts.stored && !facts.freed && !facts.returned;
    let direction = direction(to, facts);
    (is_bytes && is_out && direction == Direction::Out).then_some(Role::FixedArray { direction, len: ROOM })
}
