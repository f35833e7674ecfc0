use super::in_driver::{self, InDriver};
use super::{Code, Facts, Keys, Notation, ParameterContext, Rules, Slot, Typed};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value as Json;

/// A pointer that is only passed on to a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserData;

impl UserData {
    pub(super) fn read(_: &Keys) -> Result<Self, String> {
        Ok(Self)
    }
}

impl Rules for UserData {
    fn facts(&self) -> Facts<'_> {
        Facts { needs_c: true, ..Facts::of(Err("it takes a pointer that only a callback reads")) }
    }

    fn write(&self, _: &mut Keys) {}

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.target().is_some(), "role \"token\" needs a pointer")
    }

    fn propose(&mut self, _: bool, _: usize) -> Result<(), &'static str> {
        Err("callbacks, and what they get, cannot be proposed")
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        Some(InDriver::variable(
            place,
            format!("void *{} = driver_token();", in_driver::variable(&place.param.name)),
        ))
    }

    fn summary(&self) -> String {
        "passed on to a callback".into()
    }

    fn describe(&self, _: &ParameterContext) -> String {
        "a pointer that is only handed on to a callback".into()
    }

    fn expect(&self, _: &ParameterContext, _: &mut Notation) -> String {
        "is only handed on; leave it out".into()
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        None
    }

    fn code(&self, slot: &Slot) -> Code {
        let at = slot.at;
        Code {
            rank: 1,
            decode: quote!(()),
            encode: TokenStream::new(),
            show: quote!("a pointer".to_owned()),
            read: quote!(()),
            boundaries: quote!(vec![()]),
            argument: quote!(crate::runtime::callback::token(#at) as _),
            ..Code::of(quote!(()), slot)
        }
    }
}
