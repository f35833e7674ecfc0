//! Boundary inputs.

use super::codec::{bound, form, likely, limited, texts};
use super::{Emitter, literals};
use crate::contract::types::{Direction, Role};
use crate::harness::plan::Slot;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// Each part cycles through its own boundary values at its own pace, so that many combinations occur.
    pub(super) fn boundaries(&self) -> TokenStream {
        let around: Vec<usize> = self.contract.interesting.clone();
        let lists = self.slots.iter().map(|slot| {
            let (name, ty, element) = (slot.name, slot.ty, slot.element());
            let list = match slot.role {
                Role::Value { min, max } if limited(slot) => {
                    let (min, max) = (bound(*min), bound(*max));
                    quote!(boundaries_within::<#ty>(#min, #max))
                }
                Role::Value { .. } if likely(slot).is_some() => {
                    let likely = likely(slot);
                    quote!(boundaries_likely::<#ty>(#likely))
                }
                Role::Value { .. } => quote!(<#ty as Value>::boundaries()),
                Role::Handle { .. } => quote!(vec![0u8, 0, 0, 1]),
                Role::OneOf { values } => {
                    let values = literals(values);
                    quote!({ let list: Vec<#ty> = vec![#(#values as _),*]; list })
                }
                Role::Length => {
                    let max = self.max_of(slot);
                    let signed = slot.signed;
                    quote! {
                        boundary_lengths(#max, &[#(#around),*]).into_iter()
                            .flat_map(|n| [(false, n), (#signed && n % 4 == 1, n)]).collect::<Vec<_>>()
                    }
                }
                Role::Buffer { direction: Direction::Out, max, .. } => quote! {
                    boundary_lengths(#max, &[#(#around),*]).into_iter().rev().map(|n| (n, [0x5a, 0x5a, 0x5a, 0x5a])).collect::<Vec<_>>()
                },
                Role::Buffer { max, .. } => quote!(boundary_buffers::<#element>(#max, &[#(#around),*])),
                Role::CString { max, .. } => {
                    let texts = texts(slot);
                    let looked_for = quote!(#texts.into_iter().map(|t| t.as_bytes().to_vec()));
                    quote!(#looked_for.chain(boundary_strings(#max, &[#(#around),*])).collect::<Vec<_>>())
                }
                Role::Pointer { .. } => quote!(<#element as Value>::boundaries()),
                Role::Room { direction: Direction::Out, .. } => {
                    quote!(vec![[0x5au8, 0x5a, 0x5a, 0x5a], [0; 4]])
                }
                Role::Room { len, .. } => quote!({
                    let mut list = boundary_buffers::<#element>(#len, &[]);
                    list.iter_mut().for_each(|value| fit(value, #len));
                    list
                }),
                Role::FixedArray { len, .. } => quote!(<[#element; #len] as Value>::boundaries()),
                Role::Elements { max, .. } => quote!(crate::runtime::callback::boundary_elements(#max)),
                Role::Callback { order: true, .. } => quote!((0..8u8).map(|n| vec![n]).collect::<Vec<_>>()),
                Role::Callback { .. } => quote!(crate::runtime::callback::boundary_answers()),
                Role::UserData => quote!(vec![()]),
                Role::Given { max, .. } => quote!(boundary_buffers::<u8>(#max, &[])),
                Role::Lent { .. } => {
                    let form = form(slot);
                    quote!(Lent::boundaries(&#form))
                }
            };
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
        let fits = self.slots.iter().filter(|slot| slot.shared).map(|slot| {
            let (name, length) = (slot.name, slot.length);
            let fit = match slot.role {
                Role::Buffer { direction: Direction::Out, .. } => quote!(value.0 = args.#length.1),
                _ => quote!(fit(value, args.#length.1)),
            };
            match slot.nullable() {
                true => quote!(if let Some(value) = &mut args.#name { #fit }),
                false => quote!({ let value = &mut args.#name; #fit }),
            }
        });
        let alike = self.alike();
        quote! {
            #(#lists)*
            #globals
            #chance
            let longest = [#(#names.len()),*].into_iter().max().unwrap_or(1).max(64);
            let pick = |i: usize, stride: usize, n: usize| (i * stride + i / n.max(1)) % n.max(1);
            let mut all: Vec<Args> = (0..longest * 2)
                .map(|__turn| {
                    let mut args = Args { #(#names: #names[pick(__turn, #strides, #names.len())].clone()),* };
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
        let is_text = |slot: &&Slot| matches!(slot.role, Role::CString { .. }) && !slot.nullable();
        let mut texts = self.slots.iter().filter(is_text);
        let (first, second) = (texts.next()?.name, texts.next()?.name);
        Some(quote! {
            let more = all.iter().enumerate().map(|(turn, args)| Args {
                #second: alike(&args.#first, turn),
                ..args.clone()
            });
            let more: Vec<Args> = more.collect();
            all.extend(more);
        })
    }
}
