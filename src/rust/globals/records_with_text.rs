//! Which C types hold a `const char *`, and the names of structs with one in `globals.rs`.

use crate::symbol::{CType, Record, TypeKind};
use std::collections::BTreeMap;

/// Whether the type is `const char *` or `char *const`. The target is checked together with the value.
pub(super) fn is_text(ty: &CType) -> bool {
    let TypeKind::Pointer(to) = &ty.kind else { return false };
    (to.is_const || ty.is_const) && to.is_char()
}

/// Whether a value of this type contains a `const char *`.
pub(super) fn holds_text(records: &BTreeMap<String, Record>, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Pointer(_) => is_text(ty),
        TypeKind::Array { of, .. } => holds_text(records, of),
        // No struct contains itself by value, so the recursion ends.
        TypeKind::Record(key) => records.get(key).is_some_and(|record| has_text(records, record)),
        _ => false,
    }
}

fn has_text(records: &BTreeMap<String, Record>, record: &Record) -> bool {
    record.fields.iter().any(|field| holds_text(records, &field.ty))
}

/// The path of a struct in `globals.rs`: its copy with strings there, else bindgen's.
pub(super) fn path(records: &BTreeMap<String, Record>, record: &Record) -> String {
    match has_text(records, record) {
        true => record.rust_name.clone(),
        false => format!("crate::ffi::{}", record.rust_name),
    }
}
