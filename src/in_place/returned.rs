//! How a function returns its result, and how that is compared.

use super::passing::{self, IN_REGISTERS, is_in_memory};
use crate::symbol::{CType, Library, TypeKind};

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
        TypeKind::Pointer(to) if to.is_char() => Ok("RESULT_TEXT"),
        TypeKind::Pointer(_) | TypeKind::Array { .. } | TypeKind::Function { .. } => Ok("RESULT_POINTER"),
        // Then it is a part of the memory that is compared.
        TypeKind::Record(_) if is_in_memory(library, ty) => Ok("RESULT_NONE"),
        TypeKind::Record(_) => match words(library, ty) {
            Some(IN_REGISTERS) => Ok("RESULT_PAIR"),
            Some(8) => Ok("RESULT_WORD"),
            _ if passing::result(library, ty).is_some() => Ok("RESULT_PARTS"),
            _ => Err("it returns a small struct by value, and it is not known in which registers"),
        },
        TypeKind::Float { .. } | TypeKind::Unsupported(_) => Err(UNKNOWN),
    }
}

const UNKNOWN: &str = "its result is no type that is compared";

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
