use super::in_driver::{self, InDriver};
use super::{
    Code, Facts, Keys, Notation, ParameterContext, Part, Rules, Shape, Slot, Typed, digits, literals,
};
use crate::symbol::TypeKind;
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Value as Json, json};

/// A number or a struct by value; `min` and `max` limit numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

impl Value {
    /// Any value of its type.
    pub const ANY: Self = Self { min: None, max: None };

    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self { min: keys.min, max: keys.max })
    }

    fn is_limited(&self, slot: &Slot) -> bool {
        slot.is_integer() && *self != Self::ANY
    }

    fn limits(&self) -> [TokenStream; 2] {
        [self.min, self.max].map(|limit| limit.map_or(quote!(None), |limit| quote!(Some(#limit))))
    }

    /// Values that the C text compares with, for an integer parameter in a call sequence.
    fn likely(&self, slot: &Slot) -> Option<TokenStream> {
        let is_tried = slot.handle_of.is_some() && slot.is_integer() && !self.is_limited(slot);
        let likely = literals(&slot.param.likely);
        is_tried.then(|| quote!(&[#(#likely),*]))
    }

    /// The limits, within those of the type.
    fn range(&self, signed: bool, bits: u16) -> (i128, i128) {
        let values = 1_i128 << bits;
        let (least, most) = if signed { (-values / 2, values / 2 - 1) } else { (0, values - 1) };
        (self.min.map_or(least, i128::from).max(least), self.max.map_or(most, i128::from).min(most))
    }

    /// Zero, moved into the limits; without limits, the first likely value if there is one.
    fn plainest(&self, likely: &[i64], signed: bool, bits: u16) -> i128 {
        if *self == Self::ANY {
            return likely.first().copied().unwrap_or(0).into();
        }
        let (low, high) = self.range(signed, bits);
        match low > high || (low..=high).contains(&0) {
            true => 0,
            false => low + (-low).rem_euclid(high - low + 1),
        }
    }
}

impl Rules for Value {
    fn facts(&self) -> Facts<'_> {
        Facts { kind: Some("values"), ..Facts::of(Ok(Shape::Value)) }
    }

    fn write(&self, keys: &mut Keys) {
        (keys.min, keys.max) = (self.min, self.max);
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        let is_number = of.is_integer() || matches!(of.ty.kind, TypeKind::Bool | TypeKind::Float { .. });
        match *self == Self::ANY {
            true => (of.is_flat(), "role \"value\" needs a number, or a struct of numbers"),
            false => (is_number, "`min` and `max` need a number"),
        }
    }

    fn propose(&mut self, is_pointer: bool, _: usize) -> Result<(), &'static str> {
        match (*self == Self::ANY, is_pointer) {
            (true, false) => Ok(()),
            (true, true) => Err("a pointer cannot have the role `value`"),
            (false, _) => Err("no value may be ruled out: leave out `min` and `max`"),
        }
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let (name, ty) = (in_driver::variable(&place.param.name), in_driver::scalar(place.ty));
        let value = match (&place.ty.kind, &*place.param.likely) {
            (TypeKind::Bool, _) => "driver_number(1) & 1".to_owned(),
            (TypeKind::Int { .. } | TypeKind::Enum { .. }, []) if *self == Self::ANY => {
                format!("driver_any(sizeof({ty}))")
            }
            (TypeKind::Int { .. } | TypeKind::Enum { .. }, likely) if *self == Self::ANY => {
                format!("driver_likely(sizeof({ty}), {})", in_driver::numbers(likely))
            }
            (TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. }, _) if *bits <= 64 => {
                let (low, high) = self.range(*signed, *bits);
                let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).unwrap_or(i64::MAX));
                format!(
                    "driver_between(sizeof({ty}), {}, {})",
                    in_driver::number(low),
                    in_driver::number(high)
                )
            }
            _ => {
                let fill = format!("{ty} {name}; driver_fill(&{name}, sizeof {name});");
                return Some(InDriver::variable(place, fill));
            }
        };
        Some(InDriver::variable(place, format!("{ty} {name} = ({ty})({value});")))
    }

    fn summary(&self) -> String {
        let bound = |bound: Option<i64>| bound.map_or_else(|| "…".to_owned(), |n| n.to_string());
        match *self == Self::ANY {
            true => "any value".into(),
            false => format!("value from {} to {}", bound(self.min), bound(self.max)),
        }
    }

    fn describe(&self, _: &ParameterContext) -> String {
        match (self.min, self.max) {
            (None, None) => "any value of its type".into(),
            (Some(min), None) => format!("any value from {min}"),
            (None, Some(max)) => format!("any value up to {max}"),
            (Some(min), Some(max)) => format!("any value from {min} to {max}"),
        }
    }

    fn expect(&self, place: &ParameterContext, notation: &mut Notation) -> String {
        match Notation::limits(&place.ty.kind).filter(|_| *self != Self::ANY) {
            Some((least, most)) => {
                let least = self.min.map_or(least, |min| least.max(i128::from(min)));
                let most = self.max.map_or(most, |max| most.min(i128::from(max)));
                format!("a number, {least} to {most}")
            }
            None => notation.value(place.ty),
        }
    }

    fn example(&self, place: &ParameterContext, notation: &Notation) -> Option<Json> {
        Some(match *self == Self::ANY {
            true => notation.example(place.ty),
            false => json!(1.max(self.min.unwrap_or(1)).min(self.max.unwrap_or(i64::MAX))),
        })
    }

    fn empty(&self, place: &ParameterContext) -> Option<Json> {
        let TypeKind::Int { signed, bits, .. } = place.ty.kind else { return None };
        (bits <= 64).then(|| {
            let number = self.plainest(&place.param.likely, signed, bits);
            json!(truncated(number, signed, bits).to_string())
        })
    }

    fn digit(&self, slot: &Slot) -> Option<Part> {
        digits::number(&slot.c.kind, (self.min, self.max))
    }

    fn conditions(&self, slot: &Slot) -> Vec<TokenStream> {
        let name = slot.name;
        let least = self.min.map(|min| quote!(args.#name as i128 >= #min as i128));
        let most = self.max.map(|max| quote!(args.#name as i128 <= #max as i128));
        least.into_iter().chain(most).collect()
    }

    fn number(&self, slot: &Slot) -> Option<TokenStream> {
        let name = slot.name;
        Some(quote!((args.#name as i128)))
    }

    fn code(&self, slot: &Slot) -> Code {
        let (ty, name, [min, max]) = (slot.ty, slot.name, self.limits());
        let plain = Code { argument: quote!(args.#name), ..Code::of(quote!(#ty), slot) };
        match self.likely(slot) {
            _ if self.is_limited(slot) => Code {
                decode: quote!(self::within(Value::decode(__reader), #min, #max)),
                boundaries: quote!(boundaries_within::<#ty>(#min, #max)),
                ..plain
            },
            Some(likely) => Code {
                decode: quote!(decode_likely(__reader, #likely)),
                encode: quote!(encode_likely(writer, *value, #likely);),
                boundaries: quote!(boundaries_likely::<#ty>(#likely)),
                ..plain
            },
            None => plain,
        }
    }
}

/// The number as so many bits have it.
fn truncated(number: i128, signed: bool, bits: u16) -> i128 {
    let bits = 128 - u32::from(bits);
    match signed {
        true => number << bits >> bits,
        false => (number.cast_unsigned() << bits >> bits).cast_signed(),
    }
}
