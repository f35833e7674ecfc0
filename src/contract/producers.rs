//! Structs behind pointers: which functions make them, and which need one that was made.

use super::types::{Contract, Direction, Parameter, Role};
use crate::symbol::{CType, Function, Library, TypeKind};

/// The parameter behind which a function fills a struct, where it takes no other struct like it and leaves nothing else.
pub fn maker(function: &Function, contract: &Contract) -> Option<usize> {
    let has_more = contract.sequence.is_some()
        || !contract.harness.is_inferred()
        || !contract.globals.is_empty()
        || contract.chance
        || contract.hands_over();
    let is_out = |role: &Role| matches!(role, Role::Pointer { direction: Direction::Out, nullable: false });
    let at = contract.params.iter().position(|param| is_out(&param.role)).filter(|_| !has_more)?;
    let record = pointed(&function.params[at].ty)?;
    let others = function.params.iter().filter(|param| pointed(&param.ty).as_ref() == Some(&record));
    (others.count() == 1).then_some(at)
}

/// The struct that a parameter must have been given, with a buffer and a number of what is in it.
pub fn taken(library: &Library, param: &Parameter, ty: &CType) -> Option<String> {
    if !matches!(param.role, Role::Pointer { direction: Direction::In | Direction::InOut, .. }) {
        return None;
    }
    let key = pointed(ty)?;
    let fields = || library.records.get(&key).into_iter().flat_map(|record| &record.fields);
    let is_buffer = |ty: &CType| match &ty.kind {
        TypeKind::Array { of, .. } => matches!(of.kind, TypeKind::Int { .. }),
        _ => false,
    };
    let has_both = fields().any(|field| is_buffer(&field.ty))
        && fields().any(|field| matches!(field.ty.kind, TypeKind::Int { .. }));
    has_both.then_some(key)
}

/// The struct that a type points to.
pub fn pointed(ty: &CType) -> Option<String> {
    match &ty.kind {
        TypeKind::Pointer(to) => match &to.kind {
            TypeKind::Record(key) => Some(key.clone()),
            _ => None,
        },
        _ => None,
    }
}
