use super::digits::{self, Part};
use super::in_driver::{self, InDriver};
use super::length::{LONGEST, MAX};
use super::rules::for_pointers;
use super::{
    Code, Direction, Extent, Facts, Form, Keys, Notation, ParameterContext, Rules, Safe, Shape, Slot, Typed,
};
use crate::symbol::TypeKind;
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Value as Json, json};

/// A NUL-terminated input string of at most `max` bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CString {
    pub max: usize,
    pub nullable: bool,
}

impl CString {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self { max: keys.max()?, nullable: keys.nullable })
    }
}

impl Rules for CString {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("strings"),
            direction: Some(Direction::In),
            is_nullable: self.nullable,
            input_bytes: self.max as u64 + 64,
            elements_read: Some(self.max),
            ..Facts::of(Ok(Shape::Text))
        }
    }

    fn nullable(&mut self) -> Option<&mut bool> {
        Some(&mut self.nullable)
    }

    fn write(&self, keys: &mut Keys) {
        keys.max = Some(self.max as i64);
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        let to_void = of.target().is_some_and(|to| to.kind == TypeKind::Void);
        (of.leads_to_bytes() || to_void, "role \"c-string\" needs a pointer to `char`")
    }

    fn propose(&mut self, is_pointer: bool, most: usize) -> Result<(), &'static str> {
        self.max = self.max.max(most);
        for_pointers(is_pointer)
    }

    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let texts = in_driver::texts(&place.param.texts);
        Some(InDriver::pointer(place, &format!("driver_text({}, {texts})", self.max)))
    }

    fn summary(&self) -> String {
        format!("string of at most {} bytes", self.max)
    }

    fn describe(&self, place: &ParameterContext) -> String {
        format!(
            "NUL-terminated string of at most {} bytes, any bytes but 0, seldom valid UTF-8{}",
            self.max,
            place.null()
        )
    }

    fn expect(&self, _: &ParameterContext, notation: &mut Notation) -> String {
        notation.uses(Form::Bytes);
        format!("a text: a buffer of 0 to {} bytes, none of them 0; C gets a 0 behind it", self.max)
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        Some(Notation::text(self.max))
    }

    fn empty(&self, place: &ParameterContext) -> Option<Json> {
        Some(json!(place.param.texts.first().map_or("", String::as_str)))
    }

    fn element(&self, _: &Slot) -> TokenStream {
        quote!(u8)
    }

    fn digit(&self, _: &Slot) -> Option<Part> {
        digits::buffer(Part { points: 255, take: quote!(__digits.below(255) as u8 + 1) }, self.max)
    }

    fn extent(&self, slot: &Slot) -> Option<Extent> {
        let longest = (self.max == slot.inferred_max.min(MAX)).then_some(LONGEST);
        Some(Extent { max: self.max, longest, is_output: false })
    }

    fn fit(&self, place: &TokenStream, n: &TokenStream) -> Option<TokenStream> {
        Some(quote!(fit_text(#place, #n)))
    }

    fn memory(&self, slot: &Slot, is_c: bool) -> TokenStream {
        slot.region_of(is_c, &quote!(&[&value[..], &[0]].concat()))
    }

    fn unchanged(&self) -> TokenStream {
        quote!(m.slice().strip_suffix(&[0]) == Some(&value[..]))
    }

    fn code(&self, slot: &Slot) -> Code {
        let (max, last, around, texts) = (self.max, slot.last, slot.around(), slot.texts());
        let (decode, encode) = match slot.handle_of {
            Some(_) => (
                quote!(decode_text(__reader, #texts, #max)),
                quote!(encode_text(writer, value, #texts, #max);),
            ),
            None => (
                quote!(decode_string(__reader, #max, #last)),
                quote!(encode_string(writer, value, #max, #last);),
            ),
        };
        let looked_for = quote!(#texts.into_iter().map(|t| t.as_bytes().to_vec()));
        Code {
            decode,
            encode,
            show: quote!(format!("{} and NUL", show_slice(value))),
            boundaries: quote!(#looked_for.chain(boundary_strings(#max, #around)).collect::<Vec<_>>()),
            ..Code::elements(slot)
        }
    }

    fn safe(&self, slot: &Slot) -> Option<Safe> {
        let name = slot.name;
        let text = quote!(core::ffi::CStr::from_bytes_with_nul(m.slice()).expect("the harness ends strings"));
        let read = quote!(core::ffi::CStr::from_ptr(#name as *const _));
        Some(Safe {
            ty: slot.optional(syn::parse_quote!(&core::ffi::CStr)),
            of_c: match slot.nullable() {
                true => slot.unless_null(read),
                // C may be given null where it does not look at it.
                false => quote!(if #name.is_null() { <&core::ffi::CStr>::default() } else { #read }),
            },
            to_c: slot.pointer(&quote!(), &quote!(|s| s.as_ptr()), &quote!(#name.as_ptr())),
            argument: slot.borrowed(false, text),
        })
    }
}
