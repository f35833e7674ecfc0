//! Parts whose length an input can choose after decoding: how long they may become, and how they get there.

use super::Emitter;
use crate::contract::parameter_roles::{Length, Slot};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

impl Emitter<'_> {
    /// `extents` and `resize` of a case, where there is such a part.
    pub(super) fn extents(&self) -> TokenStream {
        let groups = self.slots.iter().filter(|slot| slot.role.length().is_some()).filter_map(|length| {
            let has_it = |slot: &&Slot| slot.length.is_some_and(|(name, _)| name == length.name);
            let group: Vec<&Slot> =
                self.slots.iter().filter(|slot| slot.is_shared()).filter(has_it).collect();
            let name = length.name;
            let fits = group.iter().filter_map(|slot| resized(slot));
            let resize = quote!(args.#name.1 = n; #(#fits)*);
            let first = group.first()?;
            Some((first.role.extent(first)?, Length::max(length), resize))
        });
        let alone = self.slots.iter().filter(|slot| !slot.is_shared()).filter_map(|slot| {
            let extent = slot.role.extent(slot)?;
            let max = extent.max;
            Some((extent, max, resized(slot)?))
        });
        let parts: Vec<_> = groups.chain(alone).collect();
        if parts.is_empty() {
            return TokenStream::new();
        }
        // What a person or a type limits stays within that.
        let extents = parts.iter().map(|(extent, max, _)| {
            let (longest, is_output) = (extent.longest.unwrap_or(*max), extent.is_output);
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
}

/// Gives the part `n` elements.
fn resized(slot: &Slot) -> Option<TokenStream> {
    let name = slot.name;
    let place =
        if slot.nullable() { quote!(args.#name.get_or_insert_default()) } else { quote!((&mut args.#name)) };
    let fit = slot.role.fit(&place, &quote!(n))?;
    let is_not_negative = |length: &Ident| quote!(args.#length.0 = false;);
    let length = slot.length.map(|(length, _)| is_not_negative(length));
    // An empty buffer gets a zero.
    let change = slot.to_enumerators(&place);
    Some(quote!(#length #fit; #change))
}
