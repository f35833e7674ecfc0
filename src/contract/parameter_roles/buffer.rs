use super::digits::{self, Part};
use super::in_driver::{self, InDriver};
use super::length::{LONGEST, ROOM};
use super::rules::for_pointers;
use super::{
    Code, Direction, Extent, Facts, Form, Keys, Notation, ParameterContext, Rules, Safe, Shape, Slot, Typed,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Value as Json, json};

/// At most `max` elements; `length` names the parameter with their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    pub direction: Direction,
    pub length: String,
    pub max: usize,
    pub nullable: bool,
}

impl Buffer {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self {
            direction: keys.direction()?,
            length: keys.need("length", keys.length.clone())?,
            max: keys.max()?,
            nullable: keys.nullable,
        })
    }

    fn is_output(&self) -> bool {
        self.direction == Direction::Out
    }

    /// Whether C reads it.
    pub fn is_input(&self) -> bool {
        self.direction != Direction::Out
    }
}

impl Rules for Buffer {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("buffers with their length"),
            direction: Some(self.direction),
            is_nullable: self.nullable,
            lengths: vec![&self.length],
            input_bytes: self.max as u64 + 64,
            elements_read: (!self.is_output()).then_some(self.max),
            ..Facts::of(Ok(Shape::Counted { length: &self.length }))
        }
    }

    fn nullable(&mut self) -> Option<&mut bool> {
        Some(&mut self.nullable)
    }

    fn write(&self, keys: &mut Keys) {
        keys.direction = Some(self.direction);
        (keys.length, keys.max) = (Some(self.length.clone()), Some(self.max as i64));
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.leads_to_numbers(), "this role needs a pointer to numbers, or to structs of numbers")
    }

    fn propose(&mut self, is_pointer: bool, most: usize) -> Result<(), &'static str> {
        self.max = self.max.max(most);
        for_pointers(is_pointer)
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let (length, size) = (in_driver::length(place, &self.length)?, in_driver::size_behind(place));
        Some(InDriver::buffer(place, self.direction, &format!("{length} * {size}")))
    }

    fn summary(&self) -> String {
        let (direction, length) = (self.direction.word(), &self.length);
        format!("{direction} buffer of `{length}` elements, at most {}", self.max)
    }

    fn describe(&self, place: &ParameterContext) -> String {
        let shared = if place.is_shared(&self.length) { ", as of all that have it" } else { "" };
        let of = if place.is_safe { "the slice's length is C's" } else { "its length is" };
        let (kind, compared) = (self.direction.adjective(), self.direction.compared());
        let (max, length, null) = (self.max, &self.length, place.null());
        format!("{kind} buffer of 0 to {max} elements; {of} `{length}`{shared}{null}{compared}")
    }

    fn expect(&self, place: &ParameterContext, notation: &mut Notation) -> String {
        let (max, length) = (self.max, &self.length);
        let length = match place.is_shared(length) {
            false => format!("; its length is `{length}`"),
            true => format!("; as long as all buffers with the length `{length}`"),
        };
        if self.is_output() {
            notation.uses(Form::Room);
            return format!("room for 0 to {max} elements, which C writes{length}");
        }
        let (elements, verb) = (notation.elements(place.target()), self.direction.verb());
        format!("a buffer of 0 to {max} {elements}, which C {verb}{length}")
    }

    fn example(&self, place: &ParameterContext, notation: &Notation) -> Option<Json> {
        let few = Notation::FEW.min(self.max);
        Some(if self.is_output() { json!(few) } else { notation.buffer(place.target(), few) })
    }

    fn empty(&self, _: &ParameterContext) -> Option<Json> {
        Some(if self.is_output() { json!({"room": 0}) } else { json!([]) })
    }

    fn digit(&self, slot: &Slot) -> Option<Part> {
        if slot.is_shared() {
            return None;
        }
        if self.is_output() {
            let n = self.max as u64 + 1;
            return Some(Part {
                points: n,
                take: quote!({ let n = __digits.below(#n); __digits.outputs(n) }),
            });
        }
        digits::buffer(digits::element(&slot.c.kind)?, self.max)
    }

    fn counted(&self, slot: &Slot, length: &str) -> Option<TokenStream> {
        let buffer = slot.name;
        let size = if self.is_output() { quote!(b.0) } else { quote!(b.len()) };
        (self.length == length).then(|| match self.nullable {
            true => quote!(args.#buffer.as_ref().map(|b| #size)),
            false => quote!({ let b = &args.#buffer; Some(#size) }),
        })
    }

    fn extent(&self, slot: &Slot) -> Option<Extent> {
        let times = if self.is_output() { ROOM } else { 1 };
        let of_type = slot.length.map_or(usize::MAX, |(_, most)| most);
        let longest = (self.max == slot.inferred_max).then(|| (LONGEST * times).min(of_type));
        Some(Extent { max: self.max, longest, is_output: self.is_output() })
    }

    fn fit(&self, place: &TokenStream, n: &TokenStream) -> Option<TokenStream> {
        Some(if self.is_output() { quote!(#place.0 = #n) } else { quote!(self::fit(#place, #n)) })
    }

    fn memory(&self, slot: &Slot, is_c: bool) -> TokenStream {
        let element = slot.element();
        match self.is_output() {
            true => slot.region_of(is_c, &quote!(&self::fill::<#element>(value.0, value.1))),
            false => slot.region_of(is_c, &quote!(value)),
        }
    }

    fn code(&self, slot: &Slot) -> Code {
        let (element, max, last, around) = (slot.element(), self.max, slot.last, slot.around());
        let shared = slot.length.filter(|_| slot.is_shared()).map(|(length, _)| length);
        if self.is_output() {
            let lengths = quote!(boundary_lengths(#max, #around).into_iter().rev());
            return Code {
                rank: 2,
                decode: match shared {
                    Some(length) => quote!((#length.1, __reader.array())),
                    None => quote!(decode_output(__reader, #max)),
                },
                encode: match shared {
                    Some(_) => quote!(writer.put(&value.1);),
                    None => quote!(writer.length(value.0, #max); writer.put(&value.1);),
                },
                show: quote!(show_slice(&self::fill::<#element>(value.0, value.1))),
                read: slot.read(&quote!(crate::runtime::plain::output)),
                plain: quote!(crate::runtime::plain::plain_output(value.0, value.1)),
                boundaries: quote!(#lengths.map(|n| (n, [0x5a, 0x5a, 0x5a, 0x5a])).collect::<Vec<_>>()),
                ..Code::of(quote!((usize, [u8; 4])), slot)
            };
        }
        Code {
            decode: match shared {
                Some(length) => quote!(<#element as Value>::decode_many(__reader, #length.1)),
                None => quote!(decode_buffer::<#element>(__reader, #max, #last)),
            },
            encode: match shared {
                Some(_) => quote!(for element in value {
                    element.encode(writer);
                }),
                None => quote!(encode_buffer(writer, value, #max, #last);),
            },
            boundaries: quote!(boundary_buffers::<#element>(#max, #around)),
            ..Code::elements(slot)
        }
    }

    fn safe(&self, slot: &Slot) -> Option<Safe> {
        let (name, target, (length, _)) = (slot.name, &slot.target, slot.length?);
        let below = format_ident!("{length}_length");
        // A negative length becomes an empty slice for a safe port, as in the C-ABI shim.
        let take = quote!(usize::try_from(#below).unwrap_or(0).min(m.slice().len()));
        let count = quote!(usize::try_from(#length).unwrap_or(0));
        Some(match self.direction {
            Direction::In => Safe {
                ty: slot.optional(syn::parse_quote!(&[#target])),
                of_c: slot.unless_null(quote!(implfuzz_slice(#name as *const #target, #count))),
                to_c: slot.pointer(&quote!(), &quote!(|b| b.as_ptr()), &quote!(#name.as_ptr())),
                argument: slot.borrowed(false, quote!({ let n = #take; &m.slice()[..n] })),
            },
            Direction::Out | Direction::InOut => Safe {
                ty: slot.optional(syn::parse_quote!(&mut [#target])),
                of_c: slot.unless_null(quote!(implfuzz_slice_mut(#name as *mut #target, #count))),
                to_c: slot.pointer(
                    &quote!(.as_deref_mut()),
                    &quote!(|b| b.as_mut_ptr()),
                    &quote!(#name.as_mut_ptr()),
                ),
                argument: slot.borrowed(true, quote!({ let n = #take; &mut m.slice_mut()[..n] })),
            },
        })
    }
}
