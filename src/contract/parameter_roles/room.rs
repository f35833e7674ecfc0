use super::in_driver::{self, InDriver};
use super::{Code, Direction, Facts, Keys, Notation, ParameterContext, Rules, Shape, Slot, Typed};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Value as Json, json};

/// A pointer to memory of unknown size: the harness gives `len` elements, meant to be more than C needs. An input on
/// which C goes beyond them counts as one on which C crashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    pub direction: Direction,
    pub len: usize,
    pub nullable: bool,
}

/// How many elements a driver gives at least: what the objects of other calls hold may decide how many C needs.
const IN_DRIVER: usize = 1024;

impl Room {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        let direction = keys.direction()?;
        let len = keys.need("len", keys.len.filter(|len| (1..=1 << 24).contains(len)))?;
        Ok(Self { direction, len, nullable: keys.nullable })
    }

    fn is_output(&self) -> bool {
        self.direction == Direction::Out
    }
}

impl Rules for Room {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("memory that nothing measures"),
            direction: Some(self.direction),
            is_nullable: self.nullable,
            needs_c: true,
            input_bytes: self.len as u64 * 8,
            elements_read: (!self.is_output()).then_some(self.len),
            ..Facts::of(Ok(Shape::Room { len: self.len }))
        }
    }

    fn nullable(&mut self) -> Option<&mut bool> {
        Some(&mut self.nullable)
    }

    fn write(&self, keys: &mut Keys) {
        (keys.direction, keys.len) = (Some(self.direction), Some(self.len));
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.leads_to_numbers(), "this role needs a pointer to numbers, or to structs of numbers")
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let size = in_driver::size_behind(place);
        let bytes = format!("{} * {size}", self.len.max(IN_DRIVER));
        // C that gets no length may look for a NUL.
        let is_text = place.target().is_char();
        let make = if is_text { "driver_chars" } else { "driver_some" };
        Some(match self.is_output() {
            true => InDriver::memory(place, self.direction, &bytes),
            false => InDriver::pointer(place, &format!("{make}({bytes})")),
        })
    }

    fn summary(&self) -> String {
        format!("{} memory of unknown size, {} elements", self.direction.word(), self.len)
    }

    fn describe(&self, place: &ParameterContext) -> String {
        format!(
            "{} memory of which nothing says how much there is; do not go beyond what C touches{}{}",
            self.direction.adjective(),
            place.null(),
            self.direction.compared()
        )
    }

    fn expect(&self, place: &ParameterContext, notation: &mut Notation) -> String {
        if self.is_output() {
            return "memory that C writes: {\"fill\": {\"hex\": \"5a5a5a5a\"}}, the four bytes that stand there, over and over, before \
                    the call"
                .into();
        }
        let (len, verb) = (self.len, self.direction.verb());
        let elements = notation.elements(place.target());
        format!("a buffer of at most {len} {elements}, which C {verb}; the rest of it is zero")
    }

    fn example(&self, place: &ParameterContext, notation: &Notation) -> Option<Json> {
        Some(match self.is_output() {
            true => json!({"fill": {"hex": "5a5a5a5a"}}),
            false => notation.buffer(place.target(), Notation::FEW.min(self.len)),
        })
    }

    fn memory(&self, slot: &Slot, is_c: bool) -> TokenStream {
        let (element, len) = (slot.element(), self.len);
        match self.is_output() {
            true => slot.region_of(is_c, &quote!(&self::fill::<#element>(#len, *value))),
            false => slot.region_of(is_c, &quote!(value)),
        }
    }

    fn code(&self, slot: &Slot) -> Code {
        let (element, len) = (slot.element(), self.len);
        if self.is_output() {
            let text = format!("room for {len} elements");
            return Code {
                rank: 3,
                decode: quote!(__reader.array()),
                encode: quote!(writer.put(value);),
                show: quote!({ let _ = value; #text.to_owned() }),
                read: slot.read(&quote!(crate::runtime::plain::room)),
                plain: quote!(crate::runtime::plain::plain_room(*value)),
                boundaries: quote!(vec![[0x5au8, 0x5a, 0x5a, 0x5a], [0; 4]]),
                ..Code::of(quote!([u8; 4]), slot)
            };
        }
        Code {
            decode: quote!(<#element as Value>::decode_many(__reader, #len)),
            encode: quote!(for element in value {
                element.encode(writer);
            }),
            read: slot.read(&quote!(|plain| self::filled::<#element>(plain, #len))),
            boundaries: quote!({
                let mut list = boundary_buffers::<#element>(#len, &[]);
                list.iter_mut().for_each(|value| self::fit(value, #len));
                list
            }),
            ..Code::elements(slot)
        }
    }
}
