//! What lies at a place, by the types of the pointers that lead there.

use super::padding::is_known;
use crate::symbol::{CType, Field, Library, Record, TypeKind};

/// What lies at a place.
pub(super) enum Spot<'l> {
    /// A value of this type, with its path, so many bytes into it.
    Field {
        path: String,
        ty: &'l CType,
        into: u64,
    },
    Padding,
    Unknown,
}

/// What lies so many bytes behind a pointer of this name.
pub(super) fn behind<'l>(library: &'l Library, name: &str, ty: &'l CType, offset: u64) -> Spot<'l> {
    let TypeKind::Pointer(pointer) = &ty.kind else { return Spot::Unknown };
    let key = match &pointer.kind {
        TypeKind::Record(key) => key,
        TypeKind::Bool
        | TypeKind::Int { .. }
        | TypeKind::Enum { .. }
        | TypeKind::Float { .. }
        | TypeKind::Pointer(_) => {
            let size = library.size_of(pointer).unwrap_or(1).max(1);
            let path = format!("{name}[{}]", offset / size);
            return Spot::Field { path, ty: pointer, into: offset % size };
        }
        _ => return Spot::Unknown,
    };
    let Some(record) = library.records.get(key) else { return Spot::Unknown };
    if !is_known(record) {
        return match is_plain_union(library, record, offset) {
            true => Spot::Field { path: format!("*{name}"), ty: pointer, into: offset },
            false => Spot::Unknown,
        };
    }
    // Behind the first one may lie others, or something else.
    match offset < record.size {
        true => within(library, record, offset, format!("{name}->")),
        false => Spot::Unknown,
    }
}

/// Whether all members of a union are numbers or pointers that cover a byte.
fn is_plain_union(library: &Library, record: &Record, offset: u64) -> bool {
    let covers = |field: &Field| {
        let is_plain = !matches!(field.ty.kind, TypeKind::Record(_) | TypeKind::Array { .. });
        is_plain && field.bits.is_none() && library.size_of(&field.ty).is_some_and(|size| offset < size)
    };
    record.is_union && record.complete && record.fields.iter().all(covers)
}

pub(super) fn within<'l>(library: &'l Library, record: &'l Record, offset: u64, before: String) -> Spot<'l> {
    for field in &record.fields {
        let Some(start) = field.offset.map(|bits| bits / 8) else { return Spot::Unknown };
        if let Some(bits) = field.bits {
            let end = (start * 8 + field.offset.unwrap_or(0) % 8 + u64::from(bits)).div_ceil(8);
            if (start..end).contains(&offset) {
                return Spot::Unknown;
            }
            continue;
        }
        let Some(size) = library.size_of(&field.ty) else { return Spot::Unknown };
        if (start..start + size).contains(&offset) {
            let path = format!("{before}{}", field.name);
            let (ty, into, path) = match &field.ty.kind {
                TypeKind::Array { of, .. } => {
                    let size = library.size_of(of).unwrap_or(1).max(1);
                    (&**of, (offset - start) % size, format!("{path}[{}]", (offset - start) / size))
                }
                _ => (&field.ty, offset - start, path),
            };
            return match &ty.kind {
                TypeKind::Record(key) => match library.records.get(key) {
                    Some(inner) if is_known(inner) => within(library, inner, into, format!("{path}.")),
                    Some(inner) if is_plain_union(library, inner, into) => Spot::Field { path, ty, into },
                    Some(_) | None => Spot::Unknown,
                },
                _ => Spot::Field { path, ty, into },
            };
        }
    }
    Spot::Padding
}
