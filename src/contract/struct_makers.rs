//! Structs behind pointers: which functions fill them, and which need one that was filled.

use super::parameter_roles;
use super::types::{Contract, Direction, Parameter, Role};
use crate::symbol::{CType, Function, Library, TypeKind};

/// The output parameter through which a function fills a struct, provided that it takes no other struct of that
/// type and has no other effects.
pub fn maker(function: &Function, contract: &Contract) -> Option<usize> {
    let has_more = contract.sequence.is_some()
        || !contract.harness.is_inferred()
        || !contract.globals.is_empty()
        || contract.chance
        || contract.hands_over();
    let is_out = |role: &Role| {
        matches!(role, Role::Pointer(parameter_roles::Pointer { direction: Direction::Out, nullable: false }))
    };
    let at = contract.params.iter().position(|param| is_out(&param.role)).filter(|_| !has_more)?;
    let record = pointed(&function.params[at].ty)?;
    let others = function.params.iter().filter(|param| pointed(&param.ty).as_ref() == Some(&record));
    (others.count() == 1).then_some(at)
}

/// The struct behind a parameter that should come from another function: it has a buffer and an integer, perhaps
/// the number of elements in use, and random bytes rarely form a consistent pair.
pub fn taken(library: &Library, param: &Parameter, ty: &CType) -> Option<String> {
    if !matches!(
        param.role,
        Role::Pointer(parameter_roles::Pointer { direction: Direction::In | Direction::InOut, .. })
    ) {
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
