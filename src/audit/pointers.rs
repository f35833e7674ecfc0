//! Function pointers that come out of other memory: `transmute`, casts of data pointers, aliases that hide the type.

use super::Rule;
use super::own_crate::mentions;
use super::scope::{Meaning, Space};
use super::walk::Walker;
use crate::rust::item::plain;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;

const FN_TYPE: &str = "a reply with `unsafe` may not name function pointer types, nor use functions or closures as values (in \
    arrays, tuples, fields, branches), because memory could be read as one: call functions by name, or pass them as arguments \
    to `impl Fn(…)` or to the type from the bindings";

impl Walker<'_, '_, '_> {
    /// Refuses `path`, which means `meaning`, when it is a `transmute` that could make a function pointer.
    pub(super) fn transmute(&mut self, path: &syn::Path, meaning: &Meaning) {
        let Meaning::Path(full) = meaning else { return };
        let is_it = full.get(1).is_some_and(|m| m == "mem")
            && matches!(full.last().map(String::as_str), Some("transmute" | "transmute_copy"));
        let types: Vec<&syn::Type> = match path.segments.last().map(|s| &s.arguments) {
            Some(syn::PathArguments::AngleBracketed(list)) => list.args.iter().filter_map(as_type).collect(),
            _ => Vec::new(),
        };
        if is_it && !types.get(1).is_some_and(|target| self.is_data(target)) {
            let reason = "`transmute` only with both types written out, and never to a function pointer or to a type of \
                the reply: `transmute::<From, To>(…)`";
            self.refuse(Rule::FnPointer, path.span(), reason);
        }
    }

    /// Whether a type holds plain data for certain.
    fn is_data(&self, ty: &syn::Type) -> bool {
        match ty {
            syn::Type::Array(ty) => self.is_data(&ty.elem),
            syn::Type::Slice(ty) => self.is_data(&ty.elem),
            syn::Type::Paren(ty) => self.is_data(&ty.elem),
            syn::Type::Ptr(ty) => self.is_data(&ty.elem),
            syn::Type::Reference(ty) => self.is_data(&ty.elem),
            syn::Type::Tuple(ty) => ty.elems.iter().all(|ty| self.is_data(ty)),
            syn::Type::Path(ty) if ty.qself.is_none() => {
                let names: Vec<String> = ty.path.segments.iter().map(|s| plain(&s.ident)).collect();
                let meaning = self.scopes.resolve(&names, false, Space::Type);
                let hides_fn = mentions(ty.to_token_stream(), &["fn", "dyn"])
                    || names.iter().any(|name| self.names_fn_type(name));
                !hides_fn && matches!(meaning, Meaning::Prelude | Meaning::Path(_))
            }
            _ => false,
        }
    }

    /// Where memory can be read and written as anything, a type makes a function pointer of it, and a value can be replaced.
    pub(super) fn fn_types_beside_unsafe(&mut self) {
        if self.has_unsafe {
            for span in std::mem::take(&mut self.fn_type_spans) {
                self.refuse(Rule::FnPointer, span, FN_TYPE);
            }
        }
    }

    /// Whether this is a type of the bindings or of the reply that is a function pointer.
    fn names_fn_type(&self, name: &str) -> bool {
        self.scopes.allowed.ffi.callbacks.contains(name) || self.fn_types.contains(name)
    }

    /// Whether a type has a function pointer in it.
    pub(super) fn is_fn_type(&self, tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "fn" || self.names_fn_type(&plain(&ident)),
            TokenTree::Group(group) => self.is_fn_type(group.stream()),
            _ => false,
        })
    }
}

fn as_type(argument: &syn::GenericArgument) -> Option<&syn::Type> {
    match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
