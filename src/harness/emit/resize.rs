//! Parts whose length an input can choose after decoding: how long they may become, and how they get there.

use super::Emitter;
use crate::contract::lengths::{LONGEST, is_inferred_max, most};
use crate::contract::types::{Direction, Role};
use crate::harness::plan::Slot;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// How much longer an output may be than what it is made from.
const ROOM: usize = 4;

impl Emitter<'_> {
    /// `extents` and `resize` of a case, where there is such a part.
    pub(super) fn extents(&self) -> TokenStream {
        let groups = self.slots.iter().filter(|slot| *slot.role == Role::Length).filter_map(|length| {
            let group: Vec<&Slot> =
                self.slots.iter().filter(|slot| slot.shared && slot.length == Some(length.name)).collect();
            let name = length.name;
            let fits = group.iter().filter_map(|slot| resized(slot));
            let resize = quote!(args.#name.1 = n; #(#fits)*);
            Some((*group.first()?, self.max_of(length), resize))
        });
        let alone = self.slots.iter().filter(|slot| !slot.shared).filter_map(|slot| match slot.role {
            Role::Buffer { max, .. } | Role::CString { max, .. } => Some((slot, *max, resized(slot)?)),
            _ => None,
        });
        let parts: Vec<_> = groups.chain(alone).collect();
        if parts.is_empty() {
            return TokenStream::new();
        }
        let extents = parts.iter().map(|(slot, max, _)| {
            let is_output = matches!(slot.role, Role::Buffer { direction: Direction::Out, .. });
            let longest = self.longest(slot, *max, if is_output { ROOM } else { 1 });
            quote!(Extent { max: #max, longest: #longest, is_output: #is_output })
        });
        let arms = parts.iter().enumerate().map(|(at, (_, _, resize))| quote!(#at => { #resize }));
        quote! {
            fn extents() -> &'static [Extent] { &[#(#extents),*] }
            fn resize(args: &mut Args, part: usize, n: usize) {
                match part { #(#arms)* _ => {} }
            }
        }
    }

    /// What a person or a type limits stays within that.
    fn longest(&self, slot: &Slot, max: usize, times: usize) -> usize {
        if !is_inferred_max(self.contract, slot.role) {
            return max;
        }
        let of_type = match slot.role {
            Role::Buffer { length, .. } => most(self.bound.function, length),
            _ => usize::MAX,
        };
        (LONGEST * times).min(of_type)
    }
}

/// Gives the part `n` elements.
fn resized(slot: &Slot) -> Option<TokenStream> {
    let name = slot.name;
    let place =
        if slot.nullable() { quote!(args.#name.get_or_insert_default()) } else { quote!((&mut args.#name)) };
    let fit = match slot.role {
        Role::Buffer { direction: Direction::Out, .. } => quote!(#place.0 = n;),
        Role::Buffer { .. } => quote!(fit(#place, n);),
        Role::CString { .. } => quote!(fit_text(#place, n);),
        _ => return None,
    };
    let is_not_negative = |length: &Ident| quote!(args.#length.0 = false;);
    let length = slot.length.map(is_not_negative);
    Some(quote!(#length #fit))
}
