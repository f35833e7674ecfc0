//! The number of inputs that a contract allows, and the input for each number, for the exhaustive enumerator.
//!
//! Each part of the arguments is a digit with its own base. There is no enumeration where a part is too large or
//! unbounded: buffers of usual size, numbers of 64 bits without limits, structs, buffers that share a length.

use super::Emitter;
pub use crate::contract::parameter_roles::MOST;
use crate::contract::parameter_roles::{Part, Slot};
use crate::contract::types::Contract;
use crate::rust::shims::Bound;
use proc_macro2::TokenStream;
use quote::quote;

/// The number of inputs that the contract allows, if it is at most [`MOST`]. It includes inputs that preconditions
/// exclude. With outputs it is doubled, for two contents that they may have before the call.
pub fn points(bound: &Bound, contract: &Contract) -> Option<u64> {
    let slots = bound.slots(contract);
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
        let outputs = self.has_outputs();
        quote! {
            const OUTPUTS: bool = #outputs;
            fn point(__digits: &mut Digits) -> Option<Args> { #(#takes)* Some(Args { #(#names),* }) }
        }
    }

    fn space(&self) -> Option<(u64, Vec<Part>)> {
        let is_more_than_arguments =
            !self.contract.globals.is_empty() || self.contract.chance || self.contract.sequence.is_some();
        if is_more_than_arguments || !self.contract.harness.is_inferred() {
            return None;
        }
        let part = |slot: &Slot| {
            let part = slot.role.digit(slot)?;
            if slot.nullable() { part.or_null() } else { Some(part) }
        };
        let parts: Vec<Part> = self.slots.iter().map(part).collect::<Option<_>>()?;
        let fills = if self.has_outputs() { 2 } else { 1 };
        let total = parts.iter().try_fold(fills, |total: u64, part| total.checked_mul(part.points))?;
        (total <= MOST).then_some((total, parts))
    }

    /// Whether there is memory whose content before the call is not part of the input.
    fn has_outputs(&self) -> bool {
        self.slots.iter().any(|slot| slot.role.is_output())
    }
}
