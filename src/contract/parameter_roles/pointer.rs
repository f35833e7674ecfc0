use super::digits::{self, Part};
use super::in_driver::{self, InDriver};
use super::{Code, Direction, Facts, Keys, Notation, ParameterContext, Rules, Safe, Shape, Slot, Typed};
use crate::symbol::TypeKind;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value as Json;

/// A pointer to one number or flat struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    pub direction: Direction,
    pub nullable: bool,
}

impl Pointer {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self { direction: keys.direction()?, nullable: keys.nullable })
    }
}

impl Rules for Pointer {
    fn facts(&self) -> Facts<'_> {
        let is_output = self.direction == Direction::Out;
        Facts {
            kind: Some(if is_output { "out-parameters" } else { "pointers to single values" }),
            direction: Some(self.direction),
            is_nullable: self.nullable,
            ..Facts::of(Ok(Shape::One))
        }
    }

    fn nullable(&mut self) -> Option<&mut bool> {
        Some(&mut self.nullable)
    }

    fn write(&self, keys: &mut Keys) {
        keys.direction = Some(self.direction);
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.leads_to_numbers(), "role \"pointer\" needs a pointer to a number, or to a struct of numbers")
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        // One byte may be the first of several, such as those that a callee writes.
        let is_byte = matches!(place.target().kind, TypeKind::Int { bits: 8, .. });
        if self.direction != Direction::Out && is_byte {
            let bytes = if place.target().is_const { 256 } else { 16384 };
            return Some(InDriver::pointer(place, &format!("driver_some({bytes})")));
        }
        Some(InDriver::memory(place, self.direction, &in_driver::size_behind(place)))
    }

    fn summary(&self) -> String {
        format!("{} pointer to one", self.direction.word())
    }

    fn describe(&self, place: &ParameterContext) -> String {
        format!("{} value{}{}", self.direction.adjective(), place.null(), self.direction.compared())
    }

    fn expect(&self, place: &ParameterContext, notation: &mut Notation) -> String {
        format!("what it points to, which C {}: {}", self.direction.verb(), notation.value(place.target()))
    }

    fn example(&self, place: &ParameterContext, notation: &Notation) -> Option<Json> {
        Some(notation.example(place.target()))
    }

    fn digit(&self, slot: &Slot) -> Option<Part> {
        digits::target(self.direction, &slot.c.kind)
    }

    fn memory(&self, slot: &Slot, is_c: bool) -> TokenStream {
        slot.region_of(is_c, &quote!(core::slice::from_ref(value)))
    }

    fn unchanged(&self) -> TokenStream {
        quote!(m.slice()[0].same(value))
    }

    /// Of a struct that other functions make, half of the inputs use one that C made, as real callers do; the
    /// others decode arbitrary bytes.
    fn code(&self, slot: &Slot) -> Code {
        let plain = Code { rank: 1, ..Code::of(slot.element(), slot) };
        let count = slot.param.made_by.len();
        if count == 0 {
            return plain;
        }
        let makers = slot.param.made_by.iter().enumerate().map(|(at, maker)| {
            let (at, maker) = (Literal::usize_suffixed(at), format_ident!("{}", maker.as_str()));
            quote!(#at => super::#maker::made(__reader))
        });
        let decode = quote!({
            let made = match usize::from(__reader.array::<1>()[0]) {
                way if way < 0x80 => match way % #count { #(#makers,)* _ => None },
                _ => None,
            };
            made.unwrap_or_else(|| Value::decode(__reader))
        });
        Code { decode, encode: quote!(writer.put(&[0xff]); value.encode(writer);), ..plain }
    }

    fn safe(&self, slot: &Slot) -> Option<Safe> {
        let (name, target) = (slot.name, &slot.target);
        Some(match (self.direction, self.nullable) {
            (Direction::In, nullable) => Safe {
                ty: slot.optional(syn::parse_quote!(&#target)),
                of_c: match nullable {
                    true => quote!((#name as *const #target).as_ref()),
                    // C may be given null where it does not look at it.
                    false => {
                        quote!((#name as *const #target).as_ref().unwrap_or(const { &unsafe { core::mem::zeroed::<#target>() } }))
                    }
                },
                to_c: slot.pointer(
                    &quote!(),
                    &quote!(|r| core::ptr::from_ref(r)),
                    &quote!(core::ptr::from_ref(#name)),
                ),
                argument: slot.borrowed(false, quote!(&m.slice()[0])),
            },
            (Direction::Out | Direction::InOut, nullable) => Safe {
                ty: slot.optional(syn::parse_quote!(&mut #target)),
                of_c: match nullable {
                    true => quote!((#name as *mut #target).as_mut()),
                    false => quote!(&mut *(#name as *mut #target)),
                },
                to_c: slot.pointer(
                    &quote!(.as_deref_mut()),
                    &quote!(|r| core::ptr::from_mut(r)),
                    &quote!(core::ptr::from_mut(#name)),
                ),
                argument: slot.borrowed(true, quote!(&mut m.slice_mut()[0])),
            },
        })
    }
}
