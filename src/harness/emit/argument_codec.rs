//! The arguments of a call: decoded from an input, encoded and shown.

use super::Emitter;
use crate::contract::parameter_roles::Slot;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// The struct of everything that an input decides.
    pub(super) fn args_struct(&self) -> TokenStream {
        let fields = self.slots.iter().map(|slot| {
            let (name, held) = (slot.name, slot.role.code(slot).held);
            if slot.nullable() { quote!(#name: Option<#held>) } else { quote!(#name: #held) }
        });
        let globals = self.globals_field("Chosen");
        let chance = self.chance_bytes();
        quote!(#[derive(Clone)] struct Args { #globals #chance #(#fields),* })
    }

    /// Orders fixed-size parts first, so that a mutation of a buffer moves nothing else.
    fn order(&self) -> Vec<&Slot<'_>> {
        let mut order: Vec<_> = self.slots.iter().collect();
        order.sort_by_cached_key(|slot| slot.role.code(slot).rank);
        order
    }

    pub(super) fn decode(&self) -> TokenStream {
        let nulls = self.slots.iter().filter(|s| s.nullable()).map(|slot| {
            let flag = format_ident!("{}_null", slot.name);
            quote!(let #flag = __reader.array::<1>()[0] == 0xff;)
        });
        let lets = self.order().into_iter().map(|slot| {
            let (name, code) = (slot.name, slot.role.code(slot));
            let (held, value) = (code.held, code.decode);
            let value = match slot.to_enumerators(&quote!((&mut value))) {
                Some(change) => quote!({ let mut value: #held = #value; #change value }),
                None => value,
            };
            if slot.nullable() {
                let flag = format_ident!("{}_null", slot.name);
                quote!(let #name = if #flag { None } else { Some(#value) };)
            } else {
                quote!(let #name = #value;)
            }
        });
        let names = self.slots.iter().map(|s| s.name);
        let globals = self.decode_globals();
        let field = (!self.contract.globals.is_empty()).then(|| quote!(__globals,));
        let (chance, drawn) = (self.decode_chance(), self.chance_name().map(|name| quote!(#name,)));
        quote!(#globals #chance #(#nulls)* #(#lets)* Args { #field #drawn #(#names),* })
    }

    pub(super) fn encode(&self) -> TokenStream {
        let nulls = self.slots.iter().filter(|s| s.nullable()).map(|slot| {
            let name = slot.name;
            quote!(writer.put(&[if args.#name.is_none() { 0xff } else { 0 }]);)
        });
        let puts = self.order().into_iter().map(|slot| slot.over_value(slot.role.code(slot).encode));
        let globals = self.encode_globals();
        let chance = self.encode_chance();
        quote!(#globals #chance #(#nulls)* #(#puts)*)
    }

    pub(super) fn show(&self) -> TokenStream {
        let lengths = self.lengths();
        let parts = self.slots.iter().map(|slot| {
            let (name, label, text) = (slot.name, slot.label, slot.role.code(slot).show);
            if slot.role.length().is_some() {
                quote!((#label.to_owned(), #text))
            } else if slot.nullable() {
                quote!((#label.to_owned(), args.#name.as_ref().map_or("NULL".to_owned(), |value| #text)))
            } else {
                quote!((#label.to_owned(), { let value = &args.#name; #text }))
            }
        });
        let (globals, chance) = (self.show_globals(), self.show_chance());
        quote!(#lengths let mut parts: Parts = vec![#(#parts),*]; #globals #chance parts)
    }
}
