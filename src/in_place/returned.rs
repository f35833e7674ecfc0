//! How a function returns its result, and how that is compared.

use crate::symbol::{CType, Library, TypeKind};

/// Structs of more bytes are returned in memory of the caller, on x86-64 and aarch64.
const IN_REGISTERS: u64 = 16;

/// How a result is compared, as a constant of `in_place.h`; else why it is not.
pub(super) fn result(library: &Library, ty: &CType) -> Result<&'static str, &'static str> {
    let of_bits = |bits: u16| match bits {
        8 => Ok("RESULT_1"),
        16 => Ok("RESULT_2"),
        32 => Ok("RESULT_4"),
        64 => Ok("RESULT_8"),
        128 => Ok("RESULT_16"),
        _ => Err(UNKNOWN),
    };
    match &ty.kind {
        TypeKind::Void => Ok("RESULT_NONE"),
        TypeKind::Bool => Ok("RESULT_1"),
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => of_bits(*bits),
        TypeKind::Float { bits: 32 } => Ok("RESULT_FLOAT"),
        TypeKind::Float { bits: 64 } => Ok("RESULT_DOUBLE"),
        TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Int { bits: 8, plain_char: true, .. }) => {
            Ok("RESULT_TEXT")
        }
        TypeKind::Pointer(_) | TypeKind::Array { .. } | TypeKind::Function { .. } => Ok("RESULT_POINTER"),
        // Then it is a part of the memory that is compared.
        TypeKind::Record(_) if is_in_memory(library, ty) => Ok("RESULT_NONE"),
        TypeKind::Record(_) => match words(library, ty) {
            Some(IN_REGISTERS) => Ok("RESULT_PAIR"),
            Some(8) => Ok("RESULT_WORD"),
            _ => Err(
                "it returns a small struct by value that is not one or two words of integers and pointers",
            ),
        },
        TypeKind::Float { .. } | TypeKind::Unsupported(_) => Err(UNKNOWN),
    }
}

const UNKNOWN: &str = "its result is no type that is compared";

/// Whether the caller gives the address where the result goes.
pub(super) fn is_in_memory(library: &Library, ty: &CType) -> bool {
    let TypeKind::Record(key) = &ty.kind else { return false };
    library.records.get(key).is_some_and(|record| record.complete && record.size > IN_REGISTERS)
}

/// The bytes of a value that has integers and pointers alone, without padding.
fn words(library: &Library, ty: &CType) -> Option<u64> {
    match &ty.kind {
        TypeKind::Bool => Some(1),
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => Some(u64::from(*bits) / 8),
        TypeKind::Pointer(_) => Some(8),
        TypeKind::Array { of, len } => Some(words(library, of)? * (*len)?),
        TypeKind::Record(key) => {
            let record = library.records.get(key)?;
            let is_plain = record.complete && !record.is_union;
            let mut sum = 0;
            for field in &record.fields {
                sum += words(library, &field.ty).filter(|_| is_plain && field.bits.is_none())?;
            }
            (sum == record.size).then_some(sum)
        }
        TypeKind::Void | TypeKind::Float { .. } | TypeKind::Function { .. } | TypeKind::Unsupported(_) => {
            None
        }
    }
}
