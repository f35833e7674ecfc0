//! A parameter in generated code.

use super::{Parameter, Role, buffers_of};
use crate::c::bindgen_names::bindgen_name;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// One parameter in generated code.
pub struct Slot<'a> {
    /// All parameters of the function, and this one with its position.
    pub params: &'a [Parameter],
    pub param: &'a Parameter,
    pub at: usize,
    pub role: &'a Role,
    /// The name shown to people.
    pub label: &'a str,
    pub name: &'a Ident,
    /// Its type in C.
    pub c: &'a CType,
    /// The same in Rust, and its target type.
    pub ty: &'a syn::Type,
    pub target: syn::Type,
    /// Its length parameter, by its name in Rust, and the most elements that this parameter can count.
    pub length: Option<(&'a Ident, usize)>,
    /// The only part of variable length that needs no length in the input.
    pub last: bool,
    /// Lengths around which behaviour may change.
    pub interesting: &'a [usize],
    /// The `max` that inference gives to buffers.
    pub inferred_max: usize,
    /// For functions in a call sequence: the struct behind the handle.
    pub handle_of: Option<&'a str>,
}

impl Slot<'_> {
    /// Whether it shares its length with another buffer.
    pub fn is_shared(&self) -> bool {
        self.role.buffer().is_some_and(|buffer| buffers_of(self.params, &buffer.length).count() > 1)
    }

    /// Whether it is an integer that limits can fold.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self.c.kind, TypeKind::Int { bits, .. } if bits <= 64)
    }

    /// Whether it is a length behind a pointer, which the call may change.
    pub fn is_behind(&self) -> bool {
        self.role.length().is_some() && matches!(self.c.kind, TypeKind::Pointer(_))
    }

    /// Whether the function may write through it, so that its content is compared after the call.
    pub fn is_effect(&self) -> bool {
        self.role.is_effect(self.c)
    }

    /// Whether it is memory.
    pub fn is_memory(&self) -> bool {
        self.role.direction().is_some() || self.is_behind()
    }

    /// Whether null is tried.
    pub fn nullable(&self) -> bool {
        self.role.is_nullable()
    }

    /// Its code over `value`, what the input holds for it; of null, nothing.
    pub fn over_value(&self, code: TokenStream) -> TokenStream {
        let name = self.name;
        match self.nullable() {
            true => quote!(if let Some(value) = &args.#name { #code }),
            false => quote!({ let value = &args.#name; #code }),
        }
    }

    /// The local variable for a handle, a lent struct or a given block.
    pub fn handle(&self) -> Ident {
        format_ident!("{}_handle", self.name)
    }

    /// The local variable for one side's memory.
    pub fn region(&self) -> Ident {
        format_ident!("{}_memory", self.name)
    }

    /// Memory for one side with these elements.
    pub(super) fn region_of(&self, is_c: bool, elements: &TokenStream) -> TokenStream {
        let (element, make) = (self.element(), format_ident!("{}", if is_c { "exact" } else { "padded" }));
        quote!(Region::<#element>::#make(#elements))
    }

    /// A safe argument from the memory: `code` over `m`, which is borrowed uniquely.
    pub(super) fn borrowed(&self, is_unique: bool, code: TokenStream) -> TokenStream {
        let region = self.region();
        match (self.nullable(), is_unique) {
            (true, true) => quote!(#region.as_mut().map(|m| #code)),
            (true, false) => quote!(#region.as_ref().map(|m| #code)),
            (false, _) => quote!({ let m = &mut #region; #code }),
        }
    }

    /// The values of the enum that its memory holds, if it is memory for an enum or for several.
    pub fn enumerators(&self) -> Option<Vec<Literal>> {
        let (TypeKind::Pointer(of) | TypeKind::Array { of, .. }) = &self.c.kind else { return None };
        let TypeKind::Enum { values, .. } = &of.kind else { return None };
        let is_held = match self.role {
            // What C only writes begins with any bytes: with a value of the enum, a port that writes nothing could be equal.
            Role::Pointer(_) | Role::FixedArray(_) | Role::Buffer(_) | Role::Room(_) => {
                !self.role.is_output()
            }
            _ => false,
        };
        let values = values.iter().map(|(_, value)| Literal::i128_suffixed(*value));
        Some(values.collect()).filter(|values: &Vec<Literal>| is_held && !values.is_empty())
    }

    /// Code that turns each number in `place`, a reference to what an input holds for it, into one of those values: with
    /// others, C may do anything.
    pub fn to_enumerators(&self, place: &TokenStream) -> Option<TokenStream> {
        let list = self.enumerators()?;
        let change = quote!({
            let number = *value as usize;
            self::to_enumerator(value, number, &[#(#list as _),*]);
        });
        Some(match self.role {
            Role::Pointer(_) => quote!({ let value = #place; #change }),
            _ => quote!(#place.iter_mut().for_each(|value| #change);),
        })
    }

    /// The type of the elements of its memory.
    pub fn element(&self) -> TokenStream {
        self.role.element(self)
    }

    /// A safe type that is an `Option` where null is allowed.
    pub(super) fn optional(&self, ty: syn::Type) -> syn::Type {
        if self.nullable() { syn::parse_quote!(Option<#ty>) } else { ty }
    }

    /// An expression for a safe argument that is not null.
    pub(super) fn unless_null(&self, code: TokenStream) -> TokenStream {
        let name = self.name;
        if self.nullable() { quote!(if #name.is_null() { None } else { Some(#code) }) } else { code }
    }

    /// The inner function's argument as a pointer: `of_some` after `borrow` where null is allowed, else `plain`.
    pub(super) fn pointer(
        &self,
        borrow: &TokenStream,
        of_some: &TokenStream,
        plain: &TokenStream,
    ) -> TokenStream {
        let name = self.name;
        match (self.nullable(), borrow.is_empty()) {
            (true, true) => quote!(#name.map_or(core::ptr::null(), #of_some) as _),
            (true, false) => quote!(#name #borrow.map_or(core::ptr::null_mut(), #of_some) as _),
            (false, _) => quote!(#plain as _),
        }
    }

    /// Reads it with the function `make` from the fields of the text exchanged with the parent process.
    pub(super) fn read(&self, make: &TokenStream) -> TokenStream {
        let label = self.label;
        match self.nullable() {
            true => quote!(__fields.read_nullable(#label, #make)?),
            false => quote!(__fields.read(#label, #make)?),
        }
    }

    /// The lengths around which behaviour may change, as code.
    pub(super) fn around(&self) -> TokenStream {
        let around = self.interesting;
        quote!(&[#(#around),*])
    }

    /// The texts that C compares with.
    pub(super) fn texts(&self) -> TokenStream {
        let texts = if self.handle_of.is_some() { &self.param.texts[..] } else { &[] };
        quote!({ let texts: &[&str] = &[#(#texts),*]; texts })
    }
}

/// The target type of a pointer; `void` counts as bytes.
pub fn pointee(ty: &syn::Type) -> syn::Type {
    let syn::Type::Ptr(pointer) = ty else { return ty.clone() };
    let is_void = quote!(#pointer).to_string().ends_with("c_void");
    if is_void { syn::parse_quote!(u8) } else { (*pointer.elem).clone() }
}

/// The name of a C field in Rust.
pub fn field_ident(name: &str) -> Ident {
    format_ident!("{}", bindgen_name(name))
}

/// Numbers as code.
pub fn literals(values: &[i64]) -> Vec<Literal> {
    values.iter().map(|value| Literal::i64_suffixed(*value)).collect()
}
