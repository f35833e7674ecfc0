//! Types whose values are nothing but numbers: what an input can decode and two sides can compare.

use crate::symbol::{CType, Library, TypeKind};

/// Numbers, enums, and structs and arrays of them: no pointers, unions, bit-fields.
pub fn flat(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. } => true,
        TypeKind::Enum { values, .. } => !values.is_empty(),
        TypeKind::Array { of, len: Some(len) } => *len > 0 && flat(library, of),
        TypeKind::Record(key) => library.records.get(key).is_some_and(|record| {
            record.complete
                && !record.opaque
                && !record.rust_name.is_empty()
                && !record.is_union
                && !record.fields.is_empty()
                && record.fields.iter().all(|f| {
                    f.bits.is_none() && is_plain(&f.name) && !enum_array(&f.ty) && flat(library, &f.ty)
                })
        }),
        _ => false,
    }
}

/// A name that Rust takes as it stands.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An array of enums: its elements are plain integers in Rust, which would take any value.
fn enum_array(ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Array { of, .. } => matches!(of.kind, TypeKind::Enum { .. }) || enum_array(of),
        _ => false,
    }
}

/// Bytes that a value of a flat type has; 0 for what is not flat.
pub fn size(library: &Library, ty: &CType) -> u64 {
    match &ty.kind {
        TypeKind::Bool => 1,
        TypeKind::Int { bits, .. } | TypeKind::Float { bits } | TypeKind::Enum { bits, .. } => {
            u64::from(bits / 8)
        }
        TypeKind::Array { of, len: Some(len) } => size(library, of).saturating_mul(*len),
        TypeKind::Record(key) => library.records.get(key).map_or(0, |record| record.size),
        _ => 0,
    }
}
