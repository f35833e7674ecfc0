use super::in_driver::{self, InDriver};
use super::{Code, Facts, Keys, Notation, ParameterContext, Part, Rules, Shape, Slot, Typed, literals};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Value as Json, json};

/// One of these values (C enums).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOf {
    pub values: Vec<i64>,
}

impl OneOf {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        let values = keys.values.clone().filter(|values| !values.is_empty());
        Ok(Self { values: keys.need("values", values)? })
    }
}

impl Rules for OneOf {
    fn facts(&self) -> Facts<'_> {
        Facts { kind: Some("values"), ..Facts::of(Ok(Shape::Value)) }
    }

    fn write(&self, keys: &mut Keys) {
        keys.values = Some(self.values.clone());
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        let fits = of.is_integer() && !self.values.is_empty();
        (fits, "role \"one-of\" needs `values` of an integer or an enum")
    }

    fn propose(&mut self, _: bool, _: usize) -> Result<(), &'static str> {
        Err("no value may be ruled out: `one-of` is not for proposals")
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let (name, ty) = (in_driver::variable(&place.param.name), in_driver::scalar(place.ty));
        let value = format!("driver_one_of({})", in_driver::numbers(&self.values));
        Some(InDriver::variable(place, format!("{ty} {name} = ({ty}){value};")))
    }

    fn summary(&self) -> String {
        format!("one of {:?}", self.values)
    }

    fn describe(&self, _: &ParameterContext) -> String {
        let values: Vec<String> = self.values.iter().map(i64::to_string).collect();
        format!("one of {}", values.join(", "))
    }

    fn expect(&self, place: &ParameterContext, _: &mut Notation) -> String {
        Notation::listed(place.ty, &self.values)
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        Some(json!(self.values.first().copied().unwrap_or(0)))
    }

    fn empty(&self, _: &ParameterContext) -> Option<Json> {
        Some(json!(self.values.first()))
    }

    fn digit(&self, _: &Slot) -> Option<Part> {
        let (points, list) = (self.values.len() as u64, literals(&self.values));
        Some(Part { points, take: quote!([#(#list as _),*][__digits.below(#points) as usize]) })
    }

    fn number(&self, slot: &Slot) -> Option<TokenStream> {
        let name = slot.name;
        Some(quote!((args.#name as i128)))
    }

    fn code(&self, slot: &Slot) -> Code {
        let (ty, name, values) = (slot.ty, slot.name, literals(&self.values));
        Code {
            decode: quote!(self::choose(__reader, &[#(#values as _),*])),
            encode: quote!(self::choice(writer, &[#(#values as _),*], value);),
            boundaries: quote!({ let list: Vec<#ty> = vec![#(#values as _),*]; list }),
            argument: quote!(args.#name),
            ..Code::of(quote!(#ty), slot)
        }
    }
}
