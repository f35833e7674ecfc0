//! The arguments of a call: decoded from an input, encoded, shown, and the boundary inputs.

use super::{Emitter, literals};
use crate::contract::types::{Direction, Role};
use crate::harness::plan::Slot;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// The struct of everything that an input decides.
    pub(super) fn args_struct(&self) -> TokenStream {
        let fields = self.slots.iter().map(|slot| {
            let (name, ty, element) = (slot.name, slot.ty, slot.element());
            let plain = match slot.role {
                Role::Value { .. } | Role::OneOf { .. } => quote!(#ty),
                Role::Handle { .. } => quote!(u8),
                // Whether the length is negative (signed types), and its value where the buffer is null.
                Role::Length => return quote!(#name: (bool, usize)),
                Role::Buffer { direction: Direction::Out, .. } => quote!((usize, [u8; 4])),
                Role::Buffer { .. } | Role::CString { .. } => quote!(Vec<#element>),
                Role::Pointer { .. } => quote!(#element),
                Role::Room { direction: Direction::Out, .. } => quote!([u8; 4]),
                Role::Room { .. } => quote!(Vec<#element>),
                Role::FixedArray { len, .. } => quote!([#element; #len]),
                Role::Elements { .. } => quote!((usize, Vec<u8>)),
                // The callback's results; the block's content.
                Role::Callback { .. } | Role::Given { .. } => quote!(Vec<u8>),
                Role::UserData => quote!(()),
                Role::Lent { .. } => quote!(Lent),
            };
            if slot.nullable() { quote!(#name: Option<#plain>) } else { quote!(#name: #plain) }
        });
        let globals = self.globals_field("Chosen");
        let chance = self.chance_bytes();
        quote!(#[derive(Clone)] struct Args { #globals #chance #(#fields),* })
    }

    /// Orders fixed-size parts first, so that a mutation of a buffer moves nothing else.
    fn order(&self) -> Vec<&Slot<'_>> {
        let rank = |slot: &&Slot| match slot.role {
            Role::Value { .. } | Role::OneOf { .. } | Role::Length | Role::Handle { .. } => 0,
            Role::Pointer { .. }
            | Role::FixedArray { .. }
            | Role::Callback { order: true, .. }
            | Role::UserData
            | Role::Lent { .. } => 1,
            Role::Buffer { direction: Direction::Out, .. } | Role::Callback { .. } => 2,
            _ if !slot.last => 3,
            _ => 4,
        };
        let mut order: Vec<_> = self.slots.iter().collect();
        order.sort_by_key(rank);
        order
    }

    pub(super) fn decode(&self) -> TokenStream {
        let nulls = self.slots.iter().filter(|s| s.nullable()).map(|slot| {
            let flag = format_ident!("{}_null", slot.name);
            quote!(let #flag = __reader.array::<1>()[0] == 0xff;)
        });
        let lets = self.order().into_iter().map(|slot| {
            let (name, element) = (slot.name, slot.element());
            let last = slot.last;
            let value = match slot.role {
                Role::Value { min, max } if limited(slot) => {
                    let (min, max) = (bound(*min), bound(*max));
                    quote!(within(Value::decode(__reader), #min, #max))
                }
                Role::Value { .. } if likely(slot).is_some() => {
                    let likely = likely(slot);
                    quote!(decode_likely(__reader, #likely))
                }
                Role::Value { .. } | Role::Handle { .. } => quote!(Value::decode(__reader)),
                Role::OneOf { values } => {
                    let values = literals(values);
                    quote!(choose(__reader, &[#(#values as _),*]))
                }
                Role::Length => {
                    let max = self.max_of(slot);
                    let below =
                        if slot.signed { quote!(__reader.array::<1>()[0] == 0xfe) } else { quote!(false) };
                    let group = self.contract.buffers_of(slot.label).count() > 1;
                    let null = self
                        .contract
                        .buffers_of(slot.label)
                        .any(|b| matches!(b.role, Role::Buffer { nullable: true, .. }));
                    let length = if group || null { quote!(__reader.length(#max)) } else { quote!(0) };
                    quote!((#below, #length))
                }
                Role::Buffer { direction: Direction::Out, max, .. } if !slot.shared => {
                    quote!(decode_output(__reader, #max))
                }
                Role::Buffer { direction, .. } if slot.shared => {
                    let length = slot.length;
                    match direction {
                        Direction::Out => quote!((#length.1, __reader.array())),
                        _ => quote!(<#element as Value>::decode_many(__reader, #length.1)),
                    }
                }
                Role::Buffer { max, .. } => quote!(decode_buffer::<#element>(__reader, #max, #last)),
                Role::CString { max, .. } if slot.step.is_some() => {
                    let texts = texts(slot);
                    quote!(decode_text(__reader, #texts, #max))
                }
                Role::CString { max, .. } => quote!(decode_string(__reader, #max, #last)),
                Role::Room { direction: Direction::Out, .. } => quote!(__reader.array()),
                Role::Room { len, .. } => quote!(<#element as Value>::decode_many(__reader, #len)),
                Role::Pointer { .. } if !slot.made_by.is_empty() => made(slot),
                Role::Pointer { .. } | Role::FixedArray { .. } => quote!(Value::decode(__reader)),
                Role::Elements { max, .. } => {
                    quote!(crate::runtime::callback::decode_elements(__reader, #max))
                }
                Role::Callback { order: true, .. } => quote!(__reader.array::<1>().to_vec()),
                Role::Callback { .. } => {
                    quote!(decode_buffer::<u8>(__reader, crate::runtime::callback::ANSWERS, false))
                }
                Role::UserData => quote!(()),
                Role::Given { max, .. } => quote!(decode_buffer::<u8>(__reader, #max, false)),
                Role::Lent { .. } => {
                    let form = form(slot);
                    quote!(Lent::decode(__reader, &#form))
                }
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
        let puts = self.order().into_iter().map(|slot| {
            let name = slot.name;
            let last = slot.last;
            let put = match slot.role {
                Role::Value { .. } if likely(slot).is_some() => {
                    let likely = likely(slot);
                    quote!(encode_likely(writer, *value, #likely);)
                }
                Role::Room { direction: Direction::Out, .. } => quote!(writer.put(value);),
                Role::Room { .. } => quote!(for element in value {
                    element.encode(writer);
                }),
                Role::Pointer { .. } if !slot.made_by.is_empty() => {
                    quote!(writer.put(&[0xff]); value.encode(writer);)
                }
                Role::Value { .. }
                | Role::Pointer { .. }
                | Role::FixedArray { .. }
                | Role::Handle { .. }
                | Role::Lent { .. } => {
                    quote!(value.encode(writer);)
                }
                Role::OneOf { values } => {
                    let values = literals(values);
                    quote!(choice(writer, &[#(#values as _),*], value);)
                }
                Role::Length => {
                    let max = self.max_of(slot);
                    let below = slot.signed.then(|| quote!(writer.put(&[if value.0 { 0xfe } else { 0 }]);));
                    let group = self.contract.buffers_of(slot.label).count() > 1;
                    let null = self
                        .contract
                        .buffers_of(slot.label)
                        .any(|b| matches!(b.role, Role::Buffer { nullable: true, .. }));
                    let length = (group || null).then(|| quote!(writer.length(value.1, #max);));
                    quote!(#below #length)
                }
                Role::Buffer { direction: Direction::Out, .. } if slot.shared => {
                    quote!(writer.put(&value.1);)
                }
                Role::Buffer { direction: Direction::Out, max, .. } => {
                    quote!(writer.length(value.0, #max); writer.put(&value.1);)
                }
                Role::Buffer { .. } if slot.shared => quote!(for element in value {
                    element.encode(writer);
                }),
                Role::Elements { max, .. } => {
                    quote!(crate::runtime::callback::encode_elements(writer, value, #max);)
                }
                Role::Callback { order: true, .. } => quote!(writer.put(&value[..1]);),
                Role::Callback { .. } => {
                    quote!(encode_buffer(writer, value, crate::runtime::callback::ANSWERS, false);)
                }
                Role::UserData => quote!(),
                Role::Given { max, .. } => quote!(encode_buffer(writer, value, #max, false);),
                Role::Buffer { max, .. } => quote!(encode_buffer(writer, value, #max, #last);),
                Role::CString { max, .. } if slot.step.is_some() => {
                    let texts = texts(slot);
                    quote!(encode_text(writer, value, #texts, #max);)
                }
                Role::CString { max, .. } => quote!(encode_string(writer, value, #max, #last);),
            };
            if slot.nullable() {
                quote!(if let Some(value) = &args.#name { #put })
            } else {
                quote!({ let value = &args.#name; #put })
            }
        });
        let globals = self.encode_globals();
        let chance = self.encode_chance();
        quote!(#globals #chance #(#nulls)* #(#puts)*)
    }

    /// The largest length of the buffers that share a length parameter.
    pub(super) fn max_of(&self, slot: &Slot) -> usize {
        let maxima = self.contract.buffers_of(slot.label).filter_map(|b| match b.role {
            Role::Buffer { max, .. } => Some(max),
            _ => None,
        });
        maxima.min().unwrap_or(0)
    }

    pub(super) fn show(&self) -> TokenStream {
        let lengths = self.lengths();
        let parts = self.slots.iter().map(|slot| {
            let (name, label, element) = (slot.name, slot.label, slot.element());
            let text = match slot.role {
                Role::Length => {
                    let length = format_ident!("{name}_length");
                    return quote!((#label.to_owned(), #length.to_string()));
                }
                Role::Value { .. } | Role::OneOf { .. } | Role::Pointer { .. } => quote!(value.show()),
                Role::Handle { .. } => quote!(format!("handle {}", *value & 1)),
                Role::Room { direction: Direction::Out, len, .. } => {
                    let text = format!("room for {len} elements");
                    quote!({ let _ = value; #text.to_owned() })
                }
                Role::Room { .. } => quote!(show_slice(value)),
                Role::FixedArray { .. } => quote!(show_slice(value)),
                Role::Buffer { direction: Direction::Out, .. } => {
                    quote!(show_slice(&fill::<#element>(value.0, value.1)))
                }
                Role::Buffer { .. } => quote!(show_slice(value)),
                Role::CString { .. } => quote!(format!("{} and NUL", show_slice(value))),
                Role::Elements { .. } => {
                    quote!(format!("elements of {} bytes: {}", value.0, show_slice(&value.1)))
                }
                Role::Callback { order: true, .. } => quote!(format!("order {}", value[0] & 7)),
                Role::Callback { .. } => quote!(format!("answers {}", show_slice(value))),
                Role::UserData => quote!("a pointer".to_owned()),
                Role::Given { .. } => quote!(format!("a block with {}", show_slice(value))),
                Role::Lent { .. } => {
                    let form = form(slot);
                    quote!(value.show(&#form))
                }
            };
            if slot.nullable() {
                quote!((#label.to_owned(), args.#name.as_ref().map_or("NULL".to_owned(), |value| #text)))
            } else {
                quote!((#label.to_owned(), { let value = &args.#name; #text }))
            }
        });
        let (globals, chance) = (self.show_globals(), self.show_chance());
        quote!(#lengths let mut parts: Parts = vec![#(#parts),*]; #globals #chance parts)
    }
}

/// Values that the C text compares with, for an integer parameter in a call sequence.
pub(super) fn likely(slot: &Slot) -> Option<TokenStream> {
    let (likely, _) = slot.step.filter(|_| slot.integer && !limited(slot))?;
    let likely = literals(likely);
    Some(quote!(&[#(#likely),*]))
}

pub(super) fn texts(slot: &Slot) -> TokenStream {
    let texts = slot.step.map_or(&[][..], |(_, texts)| texts);
    quote!({ let texts: &[&str] = &[#(#texts),*]; texts })
}

/// The constant that describes the layout of a lent struct.
pub(super) fn form(slot: &Slot) -> proc_macro2::Ident {
    format_ident!("FORM_{}", slot.at)
}

pub(super) fn limited(slot: &Slot) -> bool {
    slot.integer && !matches!(slot.role, Role::Value { min: None, max: None })
}

pub(super) fn bound(limit: Option<i64>) -> TokenStream {
    match limit {
        Some(limit) => quote!(Some(#limit)),
        None => quote!(None),
    }
}

/// Decodes a struct: half of the inputs use one that C made, as real callers do; the others decode arbitrary bytes.
fn made(slot: &Slot) -> TokenStream {
    let makers = slot.made_by.iter().enumerate().map(|(at, maker)| {
        let (at, maker) = (Literal::usize_suffixed(at), format_ident!("{}", maker.as_str()));
        quote!(#at => super::#maker::made(__reader))
    });
    let (count, makers) = (slot.made_by.len(), makers.collect::<Vec<_>>());
    quote!({
        let made = match usize::from(__reader.array::<1>()[0]) {
            way if way < 0x80 => match way % #count { #(#makers,)* _ => None },
            _ => None,
        };
        made.unwrap_or_else(|| Value::decode(__reader))
    })
}
