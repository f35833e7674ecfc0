use super::in_driver::{self, InDriver};
use super::parameter_context::names;
use super::{
    Code, Facts, Keys, Notation, ParameterContext, Part, Rules, Safe, Shape, Slot, Typed, buffers_of,
    elements_of,
};
use crate::symbol::{CType, TypeKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Value as Json, json};

/// Largest buffer or string, unless the C text has a larger relevant constant.
pub const MAX: usize = 4096;
/// The most elements of a long input.
pub const LONGEST: usize = 70_000;
/// How much longer an output may be than what it is made from.
pub(super) const ROOM: usize = 4;

/// The length of the buffers that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length;

impl Length {
    pub(super) fn read(_: &Keys) -> Result<Self, String> {
        Ok(Self)
    }

    /// The largest length of the buffers that share the parameter.
    pub fn max(slot: &Slot) -> usize {
        let buffers = buffers_of(slot.params, slot.label).filter_map(|param| param.role.buffer());
        buffers.map(|buffer| buffer.max).min().unwrap_or(0)
    }

    /// Whether an input has a number for it: one that buffers share, or one for null.
    fn is_decoded(slot: &Slot) -> bool {
        let buffers = || buffers_of(slot.params, slot.label);
        buffers().count() > 1 || buffers().any(|buffer| buffer.role.is_nullable())
    }

    fn is_signed(ty: &CType) -> bool {
        matches!(ty.kind, TypeKind::Int { signed: true, .. })
    }

    fn local(slot: &Slot) -> TokenStream {
        let length = format_ident!("{}_length", slot.name);
        quote!(#length)
    }
}

impl Rules for Length {
    fn facts(&self) -> Facts<'_> {
        Facts::of(Ok(Shape::Elsewhere))
    }

    fn write(&self, _: &mut Keys) {}

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        let counts = |ty: &CType| matches!(ty.kind, TypeKind::Int { .. });
        (
            counts(of.ty) || of.target().is_some_and(counts),
            "role \"length\" needs an integer, or a pointer to one",
        )
    }

    fn propose(&mut self, _: bool, _: usize) -> Result<(), &'static str> {
        Ok(())
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let name = in_driver::variable(&place.param.name);
        let is_behind = matches!(place.ty.kind, TypeKind::Pointer(_));
        // What a pointer leads to must have the very type.
        let ty = if is_behind {
            in_driver::variable_type(place.target()).to_owned()
        } else {
            in_driver::scalar(place.ty)
        };
        let variable = if is_behind { format!("{name}_value") } else { name.clone() };
        Some(InDriver {
            before: vec![
                format!("size_t {name}_count = {};", in_driver::count(place)),
                format!("{ty} {variable} = ({ty}){name}_count;"),
            ],
            argument: if is_behind { format!("&{variable}") } else { variable },
            ..InDriver::default()
        })
    }

    fn summary(&self) -> String {
        "length".into()
    }

    fn describe(&self, place: &ParameterContext) -> String {
        let name = &place.param.name;
        if let Some(of) = elements_of(place.params, name).next() {
            let is_size = of.role.elements().is_some_and(|elements| elements.size == *name);
            let what = if is_size { "the size of an element" } else { "the number of elements" };
            return format!("{what} of `{}`", of.name);
        }
        let mut text = format!("the length of {}", names(buffers_of(place.params, name)));
        if place.is_safe {
            text += "; no parameter of its own in Rust";
        }
        match (Self::is_signed(place.ty), place.is_safe) {
            (true, true) => text += "; where it is negative in C, the slice is empty",
            (true, false) => text += "; may be negative",
            (false, _) => {}
        }
        text
    }

    fn expect(&self, place: &ParameterContext, _: &mut Notation) -> String {
        let name = &place.param.name;
        if elements_of(place.params, name).next().is_some() {
            return format!("follows from {}; leave it out", names(elements_of(place.params, name)));
        }
        let mut text = format!("the length of {}; leave it out", names(buffers_of(place.params, name)));
        if buffers_of(place.params, name).any(|buffer| buffer.role.is_nullable()) {
            text += ", but give the number where all of them are null";
        }
        if Self::is_signed(place.ty) {
            text += "; or a number below zero, -1 minus the length of the buffers";
        }
        text
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        None
    }

    fn empty(&self, _: &ParameterContext) -> Option<Json> {
        Some(json!(0))
    }

    /// Its buffer's size, or its own value where the buffer is null; also negative where the type is signed.
    fn digit(&self, slot: &Slot) -> Option<Part> {
        let mut buffers = buffers_of(slot.params, slot.label).filter_map(|param| param.role.buffer());
        let buffer = buffers.next()?;
        if buffers.next().is_some() {
            return None;
        }
        let own = if buffer.nullable { (buffer.max as u64).checked_add(1)? } else { 1 };
        let below = if Self::is_signed(slot.c) { 2u64 } else { 1 };
        let take = quote!((__digits.below(#below) == 1, __digits.below(#own) as usize));
        Some(Part { points: below.checked_mul(own)?, take })
    }

    fn number(&self, slot: &Slot) -> Option<TokenStream> {
        let length = Self::local(slot);
        Some(quote!((#length as i128)))
    }

    /// It holds whether the length is negative (signed types), and its value where the buffer is null. In the text
    /// for the parent process it stays open until its buffers are known.
    fn code(&self, slot: &Slot) -> Code {
        let (max, around, length, region) =
            (Self::max(slot), slot.around(), Self::local(slot), slot.region());
        let (signed, is_decoded) = (Self::is_signed(slot.c), Self::is_decoded(slot));
        let below = if signed { quote!(__reader.array::<1>()[0] == 0xfe) } else { quote!(false) };
        let own = if is_decoded { quote!(__reader.length(#max)) } else { quote!(0) };
        let put_below = signed.then(|| quote!(writer.put(&[if value.0 { 0xfe } else { 0 }]);));
        let put_own = is_decoded.then(|| quote!(writer.length(value.1, #max);));
        Code {
            decode: quote!((#below, #own)),
            encode: quote!(#put_below #put_own),
            show: quote!(#length.to_string()),
            read: quote!((false, 0)),
            plain: quote!(#length.plain()),
            boundaries: quote! {
                boundary_lengths(#max, #around).into_iter()
                    .flat_map(|n| [(false, n), (#signed && n % 4 == 1, n)]).collect::<Vec<_>>()
            },
            argument: if slot.is_behind() { quote!(#region.ptr() as _) } else { quote!(#length as _) },
            ..Code::of(quote!((bool, usize)), slot)
        }
    }

    fn safe(&self, _: &Slot) -> Option<Safe> {
        None
    }
}

/// The largest element count that the type of a length, or of its target, can hold.
pub fn most(ty: Option<&CType>) -> usize {
    let kind = ty.map(|ty| match &ty.kind {
        TypeKind::Pointer(to) => &to.kind,
        kind => kind,
    });
    match kind {
        Some(TypeKind::Int { signed, bits, .. }) if *bits < 32 => (1 << (bits - u16::from(*signed))) - 1,
        _ => usize::MAX,
    }
}
