use super::digits::{self, Part};
use super::in_driver::{self, InDriver};
use super::rules::for_pointers;
use super::{Code, Direction, Facts, Keys, Notation, ParameterContext, Rules, Safe, Shape, Slot, Typed};
use quote::quote;
use serde_json::Value as Json;

/// A pointer to `len` elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArray {
    pub direction: Direction,
    pub len: usize,
}

/// Largest number of elements that a model may propose.
const LONGEST: usize = 1 << 16;

impl FixedArray {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self { direction: keys.direction()?, len: keys.need("len", keys.len)? })
    }
}

impl Rules for FixedArray {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("arrays of a fixed length"),
            direction: Some(self.direction),
            input_bytes: self.len as u64 * 16,
            ..Facts::of(Ok(Shape::Exactly { len: self.len }))
        }
    }

    fn write(&self, keys: &mut Keys) {
        (keys.direction, keys.len) = (Some(self.direction), Some(self.len));
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        let fits = of.leads_to_numbers() && self.len > 0;
        (fits, "role \"fixed-array\" needs a pointer to numbers, and `len` of at least 1")
    }

    fn propose(&mut self, is_pointer: bool, _: usize) -> Result<(), &'static str> {
        match (1..=LONGEST).contains(&self.len) {
            true => for_pointers(is_pointer),
            false => Err("`len` is between 1 and 65536"),
        }
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let size = in_driver::size_behind(place);
        Some(InDriver::memory(place, self.direction, &format!("{} * {size}", self.len)))
    }

    fn summary(&self) -> String {
        format!("{} array of {}", self.direction.word(), self.len)
    }

    fn describe(&self, _: &ParameterContext) -> String {
        let (kind, compared) = (self.direction.adjective(), self.direction.compared());
        format!("{kind} array of exactly {} elements{compared}", self.len)
    }

    fn expect(&self, place: &ParameterContext, notation: &mut Notation) -> String {
        let elements = notation.elements(place.target());
        format!("a buffer of exactly {} {elements}, which C {}", self.len, self.direction.verb())
    }

    fn example(&self, place: &ParameterContext, notation: &Notation) -> Option<Json> {
        Some(notation.buffer(place.target(), self.len))
    }

    fn digit(&self, slot: &Slot) -> Option<Part> {
        if self.direction == Direction::Out {
            return digits::target(self.direction, &slot.c.kind);
        }
        let Part { points, take } = digits::element(&slot.c.kind)?;
        let points = points.checked_pow(u32::try_from(self.len).ok()?)?;
        Some(Part { points, take: quote!(core::array::from_fn(|_| #take)) })
    }

    fn code(&self, slot: &Slot) -> Code {
        let (element, len) = (slot.element(), self.len);
        Code { rank: 1, show: quote!(show_slice(value)), ..Code::of(quote!([#element; #len]), slot) }
    }

    fn safe(&self, slot: &Slot) -> Option<Safe> {
        let (name, target, len, region) = (slot.name, &slot.target, self.len, slot.region());
        let why = "the harness allocates the array";
        Some(match self.direction {
            Direction::In => Safe {
                ty: syn::parse_quote!(&[#target; #len]),
                // C may be given null where it does not look at it.
                of_c: quote!((#name as *const [#target; #len]).as_ref().unwrap_or(const { &unsafe { core::mem::zeroed::<[#target; #len]>() } })),
                to_c: quote!(#name.as_ptr() as _),
                argument: quote!(<&[_; _]>::try_from(#region.slice()).expect(#why)),
            },
            Direction::Out | Direction::InOut => Safe {
                ty: syn::parse_quote!(&mut [#target; #len]),
                of_c: quote!(&mut *(#name as *mut [#target; #len])),
                to_c: quote!(#name.as_mut_ptr() as _),
                argument: quote!(<&mut [_; _]>::try_from(#region.slice_mut()).expect(#why)),
            },
        })
    }
}
