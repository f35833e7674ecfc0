//! The number of inputs that a contract allows, and the input for each number, for the exhaustive enumerator.
//!
//! Each part of the arguments is a digit with its own base. There is no enumeration where a part is too large or
//! unbounded: buffers of usual size, numbers of 64 bits without limits, structs, buffers that share a length.

use super::{Emitter, literals};
use crate::contract::types::{Contract, Direction, Role};
use crate::harness::plan::{Slot, slots};
use crate::rust::shims::Bound;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// Largest number of inputs that is enumerated.
pub const MOST: u64 = 1 << 32;

/// One part of the arguments.
struct Part {
    points: u64,
    /// Code that takes the part from `digits`.
    take: TokenStream,
}

/// The number of inputs that the contract allows, if it is at most [`MOST`]. It includes inputs that preconditions
/// exclude. With outputs it is doubled, for two contents that they may have before the call.
pub fn points(bound: &Bound, contract: &Contract) -> Option<u64> {
    let slots = slots(bound, contract);
    Emitter { bound, contract, slots: &slots }.space().map(|(points, _)| points)
}

impl Emitter<'_> {
    /// `Case::point`, where the inputs can be enumerated.
    pub(super) fn point(&self) -> TokenStream {
        let Some((_, parts)) = self.space() else { return TokenStream::new() };
        let takes = self.slots.iter().zip(parts).map(|(slot, part)| {
            let (name, take) = (slot.name, part.take);
            quote!(let #name = #take;)
        });
        let names = self.slots.iter().map(|slot| slot.name);
        let outputs = self.slots.iter().any(is_output);
        quote! {
            const OUTPUTS: bool = #outputs;
            fn point(digits: &mut Digits) -> Option<Args> { #(#takes)* Some(Args { #(#names),* }) }
        }
    }

    fn space(&self) -> Option<(u64, Vec<Part>)> {
        let is_more_than_arguments =
            !self.contract.globals.is_empty() || self.contract.chance || self.contract.sequence.is_some();
        if is_more_than_arguments || !self.contract.harness.is_inferred() {
            return None;
        }
        let parts: Vec<Part> =
            self.slots.iter().enumerate().map(|(at, slot)| self.part(at, slot)).collect::<Option<_>>()?;
        let fills = if self.slots.iter().any(is_output) { 2 } else { 1 };
        let total = parts.iter().try_fold(fills, |total: u64, part| total.checked_mul(part.points))?;
        (total <= MOST).then_some((total, parts))
    }

    fn part(&self, at: usize, slot: &Slot) -> Option<Part> {
        let kind = &self.bound.function.params[at].ty.kind;
        let part = match slot.role {
            Role::Value { min, max } => value(kind, (*min, *max))?,
            Role::OneOf { values } => {
                let (n, list) = (values.len() as u64, literals(values));
                Part { points: n, take: quote!([#(#list as _),*][digits.below(#n) as usize]) }
            }
            Role::Length => self.length(slot)?,
            _ if slot.shared => return None,
            Role::Buffer { direction: Direction::Out, max, .. } => {
                let n = *max as u64 + 1;
                Part { points: n, take: quote!({ let n = digits.below(#n); digits.outputs(n) }) }
            }
            Role::Buffer { max, .. } => buffer(element(kind)?, *max)?,
            Role::CString { max, .. } => {
                buffer(Part { points: 255, take: quote!(digits.below(255) as u8 + 1) }, *max)?
            }
            Role::Pointer { direction: Direction::Out, .. }
            | Role::FixedArray { direction: Direction::Out, .. } => {
                Part { points: 1, take: quote!(crate::erased::output(digits)) }
            }
            Role::Pointer { .. } => element(kind)?,
            Role::FixedArray { len, .. } => {
                let Part { points, take } = element(kind)?;
                let points = points.checked_pow(u32::try_from(*len).ok()?)?;
                Part { points, take: quote!(core::array::from_fn(|_| #take)) }
            }
            Role::Elements { .. }
            | Role::Callback { .. }
            | Role::UserData
            | Role::Handle { .. }
            | Role::Lent { .. }
            | Role::Given { .. }
            | Role::Room { .. } => return None,
        };
        Some(if slot.nullable() { or_null(part)? } else { part })
    }

    /// A length: its buffer's size, or its own value where the buffer is null; also negative where the type is
    /// signed.
    fn length(&self, slot: &Slot) -> Option<Part> {
        let mut buffers = self.contract.buffers_of(slot.label);
        let first = &buffers.next()?.role;
        let Role::Buffer { nullable, max, .. } = first else { return None };
        if buffers.next().is_some() {
            return None;
        }
        let own = if *nullable { (*max as u64).checked_add(1)? } else { 1 };
        let below = if slot.signed { 2u64 } else { 1 };
        let take = quote!((digits.below(#below) == 1, digits.below(#own) as usize));
        Some(Part { points: below.checked_mul(own)?, take })
    }
}

/// Whether its content before the call is not part of the input.
fn is_output(slot: &Slot) -> bool {
    matches!(
        slot.role,
        Role::Buffer { direction: Direction::Out, .. }
            | Role::Pointer { direction: Direction::Out, .. }
            | Role::FixedArray { direction: Direction::Out, .. }
    )
}

/// A number, within limits.
fn value(kind: &TypeKind, (min, max): (Option<i64>, Option<i64>)) -> Option<Part> {
    let (low, high) = match kind {
        TypeKind::Int { signed: true, bits, .. } if *bits <= 64 => {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        }
        TypeKind::Int { signed: false, bits, .. } if *bits <= 64 => (0, (1i128 << bits) - 1),
        TypeKind::Bool => return Some(Part { points: 2, take: quote!(digits.below(2) == 1) }),
        TypeKind::Float { bits: 32 } => {
            let n = 1u64 << 32;
            return Some(Part { points: n, take: quote!(f32::from_bits(digits.below(#n) as u32)) });
        }
        _ => return None,
    };
    let low = min.map_or(low, |min| low.max(i128::from(min)));
    let high = max.map_or(high, |max| high.min(i128::from(max)));
    let points = u64::try_from(high - low + 1).ok().filter(|n| (1..=MOST).contains(n))?;
    let low = Literal::i128_suffixed(low);
    Some(Part { points, take: quote!((#low + digits.below(#points) as i128) as _) })
}

/// The elements of a pointer or an array.
fn element(kind: &TypeKind) -> Option<Part> {
    let of: &CType = match kind {
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => of,
        _ => return None,
    };
    match of.kind {
        TypeKind::Void => Some(Part { points: 256, take: quote!(digits.below(256) as u8) }),
        ref number => value(number, (None, None)),
    }
}

fn buffer(element: Part, max: usize) -> Option<Part> {
    let Part { points, take } = element;
    let (mut total, mut size) = (1u64, 1u64);
    for _ in 0..max {
        size = size.checked_mul(points)?;
        total = total.checked_add(size).filter(|total| *total <= MOST)?;
    }
    Some(Part { points: total, take: quote!(digits.buffer(#points, #max, |digits| #take)) })
}

fn or_null(part: Part) -> Option<Part> {
    let Part { points, take } = part;
    Some(Part { points: points.checked_add(1)?, take: quote!(digits.nullable(#points, |digits| #take)) })
}
