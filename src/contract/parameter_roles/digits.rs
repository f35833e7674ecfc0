//! Parts of an enumeration of all inputs: each is a digit with its own base.

use super::Direction;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// Largest number of inputs that is enumerated.
pub const MOST: u64 = 1 << 32;

/// One part of the arguments.
pub struct Part {
    pub points: u64,
    /// Code that takes the part from `digits`.
    pub take: TokenStream,
}

impl Part {
    /// The part with null as one more value.
    pub fn or_null(self) -> Option<Self> {
        let Self { points, take } = self;
        Some(Self {
            points: points.checked_add(1)?,
            take: quote!(__digits.nullable(#points, |__digits| #take)),
        })
    }
}

/// A number, within limits.
pub(super) fn number(kind: &TypeKind, (min, max): (Option<i64>, Option<i64>)) -> Option<Part> {
    let (low, high) = match kind {
        TypeKind::Int { signed: true, bits, .. } if *bits <= 64 => {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        }
        TypeKind::Int { signed: false, bits, .. } if *bits <= 64 => (0, (1i128 << bits) - 1),
        TypeKind::Bool => return Some(Part { points: 2, take: quote!(__digits.below(2) == 1) }),
        TypeKind::Float { bits: 32 } => {
            let n = 1u64 << 32;
            return Some(Part { points: n, take: quote!(f32::from_bits(__digits.below(#n) as u32)) });
        }
        _ => return None,
    };
    let low = min.map_or(low, |min| low.max(i128::from(min)));
    let high = max.map_or(high, |max| high.min(i128::from(max)));
    let points = u64::try_from(high - low + 1).ok().filter(|n| (1..=MOST).contains(n))?;
    let low = Literal::i128_suffixed(low);
    Some(Part { points, take: quote!((#low + __digits.below(#points) as i128) as _) })
}

/// The elements of a pointer or an array.
pub(super) fn element(kind: &TypeKind) -> Option<Part> {
    let of: &CType = match kind {
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => of,
        _ => return None,
    };
    match of.kind {
        TypeKind::Void => Some(Part { points: 256, take: quote!(__digits.below(256) as u8) }),
        ref kind => number(kind, (None, None)),
    }
}

/// What a pointer leads to; the content of an output before the call is not enumerated.
pub(super) fn target(direction: Direction, kind: &TypeKind) -> Option<Part> {
    match direction {
        Direction::Out => Some(Part { points: 1, take: quote!(crate::erased::output(__digits)) }),
        Direction::In | Direction::InOut => element(kind),
    }
}

/// At most `max` elements.
pub(super) fn buffer(element: Part, max: usize) -> Option<Part> {
    let Part { points, take } = element;
    let (mut total, mut size) = (1u64, 1u64);
    for _ in 0..max {
        size = size.checked_mul(points)?;
        total = total.checked_add(size).filter(|total| *total <= MOST)?;
    }
    Some(Part { points: total, take: quote!(__digits.buffer(#points, #max, |__digits| #take)) })
}
