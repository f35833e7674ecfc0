//! The structs and unions that a type leads to.

use crate::symbol::{CType, Library, TypeKind};
use std::collections::BTreeSet;

/// Collects the keys of the records in a type, itself included.
pub fn records_of(library: &Library, ty: &CType, found: &mut BTreeSet<String>) {
    match &ty.kind {
        TypeKind::Pointer(target) => records_of(library, target, found),
        TypeKind::Array { of, .. } => records_of(library, of, found),
        TypeKind::Record(key) if found.insert(key.clone()) => {
            for field in library.records.get(key).into_iter().flat_map(|r| &r.fields) {
                records_of(library, &field.ty, found);
            }
        }
        _ => {}
    }
}
