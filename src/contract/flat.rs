//! Flat types: their values consist of numbers alone, so that an input can decode them and both sides can be
//! compared.

use crate::symbol::{CType, Library, TypeKind};

/// Whether the type is a number, an enum, or a struct or array of them, without pointers, unions and bit-fields.
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

/// Whether what a pointer leads to may be longer than its type: a struct that ends in an array of one element, for which
/// programs may allocate more (the struct hack of C90).
pub fn may_be_longer(library: &Library, ty: &CType) -> bool {
    let record = ty.record_key().and_then(|key| library.records.get(key));
    let last = record.and_then(|record| record.fields.last());
    last.is_some_and(|field| matches!(field.ty.kind, TypeKind::Array { len: Some(1), .. }))
}

/// Whether Rust takes the field name unchanged.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether it is an array of enums, whose elements are plain integers in Rust and could get any value.
fn enum_array(ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Array { of, .. } => matches!(of.kind, TypeKind::Enum { .. }) || enum_array(of),
        _ => false,
    }
}

/// Size in bytes of a value of a flat type; 0 for a type that is not flat.
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
