use super::{Code, Facts, Keys, Notation, ParameterContext, Rules, Shape, Slot, Typed, field_ident};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What a function does to the object behind a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    Makes,
    Uses,
    Ends,
}

/// A handle; with `through`, the struct that this field of the handle points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    pub life: Life,
    pub through: Option<String>,
    pub nullable: bool,
}

impl Handle {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        let life = keys.need("life", keys.life)?;
        Ok(Self { life, through: keys.through.clone(), nullable: keys.nullable })
    }

    /// After the call: what became of the handle.
    pub fn after(&self, slot: &Slot) -> Option<TokenStream> {
        let handle = slot.handle();
        match (self.life, &self.through) {
            (Life::Uses, _) | (_, Some(_)) => None,
            (Life::Makes, None) => Some(quote!(world.made(#handle, NAME);)),
            (Life::Ends, None) => Some(quote!(world.ended(#handle);)),
        }
    }
}

impl Rules for Handle {
    fn facts(&self) -> Facts<'_> {
        Facts { kind: Some("handles"), is_nullable: self.nullable, ..Facts::of(Ok(Shape::Elsewhere)) }
    }

    fn write(&self, keys: &mut Keys) {
        (keys.life, keys.through) = (Some(self.life), self.through.clone());
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.target().is_some(), "role \"handle\" needs a pointer")
    }

    fn propose(&mut self, _: bool, _: usize) -> Result<(), &'static str> {
        Err("handles cannot be proposed")
    }

    fn summary(&self) -> String {
        let of = self.through.as_ref().map_or_else(String::new, |field| format!(", by its field {field}"));
        let life = format!("{:?}", self.life).to_lowercase();
        format!("handle that it {life}{of}")
    }

    fn describe(&self, _: &ParameterContext) -> String {
        let what = match self.life {
            Life::Makes => "a handle that this function makes or sets up",
            Life::Uses => "a handle",
            Life::Ends => "a handle that this function ends",
        };
        let through = self.through.as_ref();
        let through =
            through.map_or_else(String::new, |field| format!("; what its field `{field}` points to"));
        format!("{what}{through}; {}", if self.nullable { "may be null" } else { "never null" })
    }

    fn expect(&self, _: &ParameterContext, _: &mut Notation) -> String {
        let what = match self.life {
            Life::Makes => "the place of a handle that is made here",
            Life::Uses => "a handle that is there",
            Life::Ends => "a handle, which ends here",
        };
        let through = self.through.as_ref();
        let through =
            through.map_or_else(String::new, |field| format!(", by what its field `{field}` points to"));
        format!("{what}{through}: 0 or 1; left out, 0")
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        None
    }

    /// A missing handle skips the call.
    fn object(&self, slot: &Slot) -> Option<TokenStream> {
        let (name, handle, of) = (slot.name, slot.handle(), format_ident!("{}", slot.handle_of?));
        let found = match (self.life, &self.through) {
            (Life::Makes, _) => quote!(world.vacant(which)),
            (_, None) => quote!(world.uses(which)),
            (_, Some(field)) => {
                let field = field_ident(field);
                quote!(world.through(which, core::mem::offset_of!(ffi::#of, #field)))
            }
        };
        let found = quote!(match #found { Some(at) => at, None => return Ok(None) });
        Some(match self.nullable {
            true => {
                quote!(let #handle = match args.#name { None => core::ptr::null_mut(), Some(which) => #found };)
            }
            false => quote!(let #handle = { let which = args.#name; #found };),
        })
    }

    /// In the text for the parent process, a handle that is left out is the first one.
    fn code(&self, slot: &Slot) -> Code {
        let (label, handle) = (slot.label, slot.handle());
        let read = quote!(__fields.read_or(#label, || 0, crate::runtime::plain::handle)?);
        Code {
            show: quote!(format!("handle {}", *value & 1)),
            read: match self.nullable {
                true => quote! {
                    match __fields.get(#label) {
                        Some(Plain::Null) => None,
                        _ => Some(#read),
                    }
                },
                false => read,
            },
            plain: quote!((*value & 1).plain()),
            boundaries: quote!(vec![0u8, 0, 0, 1]),
            argument: quote!(#handle as _),
            ..Code::of(quote!(u8), slot)
        }
    }
}
