use super::in_driver::{self, InDriver};
use super::{Code, Facts, Form, Keys, Notation, ParameterContext, Rules, Slot, Typed, field_ident};
use crate::symbol::TypeKind;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Value as Json, json};

/// A struct of the caller's that C may keep; `of` is its name in `ffi.rs`. `pointers` are the fields that point to
/// bytes, each with its length fields; `numbers` are the other fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    pub of: String,
    pub pointers: Vec<(String, Vec<String>)>,
    pub numbers: Vec<String>,
    pub nullable: bool,
}

/// The constant that describes the layout of a lent struct.
fn form(slot: &Slot) -> Ident {
    format_ident!("FORM_{}", slot.at)
}

impl Lent {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self {
            of: keys.need("of", keys.of.clone())?,
            pointers: keys.pointers.clone(),
            numbers: keys.numbers.clone(),
            nullable: keys.nullable,
        })
    }

    /// The layout, as a constant.
    pub fn layout(&self, slot: &Slot) -> TokenStream {
        let of = format_ident!("{}", self.of);
        let at = |field: &str| {
            let field = field_ident(field);
            quote!(core::mem::offset_of!(ffi::#of, #field))
        };
        let width = |field: &str| {
            let field = field_ident(field);
            quote!(size_behind(|s: &ffi::#of| &raw const s.#field))
        };
        let numbers = self.numbers.iter().map(|field| {
            let (at, width) = (at(field), width(field));
            quote!((#field, #at, #width))
        });
        let pointers = self.pointers.iter().map(|(field, lengths)| {
            let place = at(field);
            let lengths = lengths.iter().map(|length| {
                let (at, width) = (at(length), width(length));
                quote!((#at, #width))
            });
            quote!(Pointer { name: #field, at: #place, lengths: &[#(#lengths),*] })
        });
        let form = form(slot);
        quote! {
            static #form: Form = Form {
                size: size_of::<ffi::#of>(),
                numbers: &[#(#numbers),*],
                pointers: &[#(#pointers),*],
            };
        }
    }
}

impl Rules for Lent {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("structs with memory of their own"),
            is_nullable: self.nullable,
            needs_c: true,
            input_bytes: 1024,
            ..Facts::of(Err("it is lent a struct"))
        }
    }

    fn write(&self, keys: &mut Keys) {
        keys.of = Some(self.of.clone());
        (keys.pointers, keys.numbers) = (self.pointers.clone(), self.numbers.clone());
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        let to_struct = of.target().is_some_and(|to| matches!(to.kind, TypeKind::Record(_)));
        (to_struct, "role \"lent\" needs a pointer to a struct")
    }

    fn propose(&mut self, _: bool, _: usize) -> Result<(), &'static str> {
        Err("handles cannot be proposed")
    }

    /// The struct lives until the run ends.
    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        let (name, ty) = (in_driver::variable(&place.param.name), in_driver::variable_type(place.ty));
        let mut before =
            vec![format!("{ty} {name} = driver_zeros(sizeof *{name});"), format!("if (!{name}) break;")];
        for (field, lengths) in &self.pointers {
            let count = format!("{name}_{field}");
            before.push(format!("size_t {count} = driver_count({});", super::length::MAX));
            before.push(format!("{name}->{field} = driver_block({count});"));
            before.extend(lengths.iter().map(|length| format!("{name}->{length} = {count};")));
        }
        before.extend(
            self.numbers
                .iter()
                .map(|field| format!("driver_fill(&{name}->{field}, sizeof {name}->{field});")),
        );
        Some(InDriver { before, argument: name.clone(), ..InDriver::default() })
    }

    fn summary(&self) -> String {
        let names: Vec<&str> = self.pointers.iter().map(|(name, _)| name.as_str()).collect();
        format!("struct that is lent, with memory behind {}", names.join(", "))
    }

    fn describe(&self, place: &ParameterContext) -> String {
        format!(
            "a struct of the caller that may be kept until the handle ends, with its memory{}; it is compared with all that it points to",
            place.null()
        )
    }

    fn expect(&self, _: &ParameterContext, notation: &mut Notation) -> String {
        notation.uses(Form::Bytes);
        let pointers = self.pointers.iter().map(|(name, _)| format!("`{name}` a buffer of bytes or null"));
        let numbers = self.numbers.iter().map(|name| format!("`{name}` a number of 32 bits"));
        let fields: Vec<String> = pointers.chain(numbers).collect();
        format!("an object, what is left out is null or 0: {}", fields.join("; "))
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        let pointers = self.pointers.iter().map(|(name, _)| (name.clone(), Notation::text(Notation::FEW)));
        let numbers = self.numbers.iter().map(|name| (name.clone(), json!(1)));
        Some(Json::Object(pointers.chain(numbers).collect()))
    }

    fn object(&self, slot: &Slot) -> Option<TokenStream> {
        let (name, handle, form) = (slot.name, slot.handle(), form(slot));
        Some(match self.nullable {
            true => quote!(let #handle = match &args.#name {
                None => core::ptr::null_mut(),
                Some(lent) => world.lend(lent, &#form),
            };),
            false => quote!(let #handle = world.lend(&args.#name, &#form);),
        })
    }

    fn code(&self, slot: &Slot) -> Code {
        let (form, handle) = (form(slot), slot.handle());
        Code {
            rank: 1,
            decode: quote!(Lent::decode(__reader, &#form)),
            show: quote!(value.show(&#form)),
            read: slot.read(&quote!(|plain| Lent::of_plain(plain, &#form))),
            plain: quote!(value.plain(&#form)),
            boundaries: quote!(Lent::boundaries(&#form)),
            argument: quote!(#handle as _),
            ..Code::of(quote!(Lent), slot)
        }
    }
}
