//! Boundary inputs.

use super::Emitter;
use crate::contract::parameter_roles::Slot;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// Each part cycles through its own boundary values at its own pace, so that many combinations occur.
    pub(super) fn boundaries(&self) -> TokenStream {
        let lists = self.slots.iter().map(|slot| {
            let (name, list) = (slot.name, boundaries_of(slot));
            if slot.nullable() {
                quote!(let #name: Vec<Option<_>> = #list.into_iter().map(Some).chain([None]).collect();)
            } else {
                quote!(let #name = #list;)
            }
        });
        let state = format_ident!("__globals");
        let (drawn, chance) = (self.chance_name(), self.chance_boundaries());
        let own = (!self.contract.globals.is_empty()).then_some(&state);
        let globals = own.map(|_| quote!(let __globals = __state().boundaries();));
        let names: Vec<_> = self.slots.iter().map(|s| s.name).chain(own).chain(drawn.as_ref()).collect();
        let strides: Vec<usize> =
            [1, 3, 7, 11, 17, 23, 29, 37, 41, 43].into_iter().cycle().take(names.len()).collect();
        if names.is_empty() {
            return quote!(vec![Args {}]);
        }
        // The decoder gives buffers that share a length that common length.
        let fits = self.slots.iter().filter(|slot| slot.is_shared()).filter_map(|slot| {
            let (name, (length, _)) = (slot.name, slot.length?);
            let fit = slot.role.fit(&quote!(value), &quote!(args.#length.1))?;
            let change = slot.to_enumerators(&quote!(value));
            Some(match slot.nullable() {
                true => quote!(if let Some(value) = &mut args.#name { #fit; #change }),
                false => quote!({ let value = &mut args.#name; #fit; #change }),
            })
        });
        let alike = self.alike();
        quote! {
            #(#lists)*
            #globals
            #chance
            let __longest = [#(#names.len()),*].into_iter().max().unwrap_or(1).max(64);
            let __pick = |i: usize, stride: usize, n: usize| (i * stride + i / n.max(1)) % n.max(1);
            let mut all: Vec<Args> = (0..__longest * 2)
                .map(|__turn| {
                    let mut args = Args { #(#names: #names[__pick(__turn, #strides, #names.len())].clone()),* };
                    #(#fits)*
                    args
                })
                .collect();
            #alike
            all
        }
    }

    /// Functions that compare two strings behave trivially on unrelated strings, so this adds inputs with similar
    /// ones.
    fn alike(&self) -> Option<TokenStream> {
        let is_text = |slot: &&Slot| slot.role.c_string().is_some() && !slot.nullable();
        let mut texts = self.slots.iter().filter(is_text);
        let (first, second) = (texts.next()?.name, texts.next()?.name);
        Some(quote! {
            let more = all.iter().enumerate().map(|(turn, args)| Args {
                #second: self::alike(&args.#first, turn),
                ..args.clone()
            });
            let more: Vec<Args> = more.collect();
            all.extend(more);
        })
    }
}

/// The values at the edges of one part.
fn boundaries_of(slot: &Slot) -> TokenStream {
    let code = slot.role.code(slot);
    let (held, list) = (code.held, code.boundaries);
    match (slot.role.pointer(), slot.enumerators(), slot.to_enumerators(&quote!(value))) {
        (Some(_), Some(values), _) => quote!({ let list: Vec<#held> = vec![#(#values as _),*]; list }),
        (None, _, Some(change)) => quote!({
            let mut list: Vec<#held> = #list;
            for value in &mut list { #change }
            list
        }),
        _ => list,
    }
}
