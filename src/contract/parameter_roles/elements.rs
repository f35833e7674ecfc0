use super::in_driver::{self, InDriver};
use super::rules::for_pointers;
use super::{Code, Direction, Facts, Form, Keys, Notation, ParameterContext, Rules, Slot, Typed};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Value as Json, json};

/// `count` elements of `size` bytes each, at most `max` of them; both name parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elements {
    pub direction: Direction,
    pub count: String,
    pub size: String,
    pub max: usize,
}

/// Largest size of an element, as in the fuzz process.
const WIDEST: usize = 16;

impl Elements {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self {
            direction: keys.direction()?,
            count: keys.need("length", keys.length.clone())?,
            size: keys.need("size", keys.size.clone())?,
            max: keys.max()?,
        })
    }
}

impl Rules for Elements {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("elements of a size"),
            direction: Some(self.direction),
            needs_c: true,
            lengths: vec![&self.count, &self.size],
            input_bytes: self.max as u64 * 16 + 64,
            ..Facts::of(Err("it takes elements of any size"))
        }
    }

    fn write(&self, keys: &mut Keys) {
        (keys.direction, keys.max) = (Some(self.direction), Some(self.max as i64));
        (keys.length, keys.size) = (Some(self.count.clone()), Some(self.size.clone()));
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.leads_to_numbers(), "role \"elements\" needs a pointer to memory")
    }

    fn propose(&mut self, is_pointer: bool, most: usize) -> Result<(), &'static str> {
        self.max = self.max.max(most);
        for_pointers(is_pointer)
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let [count, size] = [&self.count, &self.size].map(|name| in_driver::length(place, name));
        Some(InDriver::memory(place, self.direction, &format!("{} * {}", count?, size?)))
    }

    fn summary(&self) -> String {
        let (direction, Self { count, size, max, .. }) = (self.direction.word(), self);
        format!("{direction} `{count}` elements of `{size}` bytes, at most {max}")
    }

    fn describe(&self, _: &ParameterContext) -> String {
        let (kind, compared) = (self.direction.adjective(), self.direction.compared());
        let Self { count, size, max, .. } = self;
        format!(
            "{kind} memory of `{count}` elements of `{size}` bytes each, at most {max} elements of at most {WIDEST} bytes; never null{compared}"
        )
    }

    fn expect(&self, _: &ParameterContext, notation: &mut Notation) -> String {
        notation.uses(Form::Bytes);
        let (max, verb) = (self.max, self.direction.verb());
        format!(
            "{{\"size\": s, \"bytes\": <buffer>}}, elements of s bytes (1 to {WIDEST}), {max} at most, which C {verb}"
        )
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        Some(json!({"size": 2, "bytes": {"hex": "010002000300"}}))
    }

    fn element(&self, _: &Slot) -> TokenStream {
        quote!(u8)
    }

    fn counted(&self, slot: &Slot, length: &str) -> Option<TokenStream> {
        let elements = slot.name;
        let count = (self.count == length).then(|| quote!(Some(args.#elements.1.len() / args.#elements.0)));
        count.or_else(|| (self.size == length).then(|| quote!(Some(args.#elements.0))))
    }

    fn memory(&self, _: &Slot, is_c: bool) -> TokenStream {
        if is_c { quote!(Region::<u8>::whole(&value.1)) } else { quote!(Region::<u8>::aligned(&value.1)) }
    }

    fn unchanged(&self) -> TokenStream {
        quote!(m.slice() == value.1)
    }

    fn code(&self, slot: &Slot) -> Code {
        let max = self.max;
        Code {
            rank: 3,
            decode: quote!(crate::runtime::callback::decode_elements(__reader, #max)),
            encode: quote!(crate::runtime::callback::encode_elements(writer, value, #max);),
            show: quote!(format!("elements of {} bytes: {}", value.0, show_slice(&value.1))),
            read: slot.read(&quote!(crate::runtime::plain::elements)),
            plain: quote!(crate::runtime::plain::plain_elements(value)),
            boundaries: quote!(crate::runtime::callback::boundary_elements(#max)),
            ..Code::of(quote!((usize, Vec<u8>)), slot)
        }
    }
}
