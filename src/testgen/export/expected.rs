//! Comparisons of the port's effects with C's: number by number, floats by their bits, without padding.

use super::json::{Whole, shown};
use super::literals::{Types, array, byte_array, bytes, is_byte, number, zero};
use crate::contract::parameter_roles::pointee;
use crate::rust::globals::identifier;
use crate::rust::signature::number as number_type;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::{format_ident, quote};
use serde_json::Value;

/// Prefix of loop variables over elements.
pub(super) const EACH: &str = "each_";

/// The subject of a comparison, in words, with the path to a part of it.
#[derive(Debug, Clone)]
pub(super) struct Label {
    what: String,
    path: String,
    function: String,
}

impl Label {
    /// The label of a parameter, or of a variable of the library.
    pub fn named(name: &str, function: &str) -> Self {
        Self { what: name.to_owned(), path: String::new(), function: function.to_owned() }
    }

    pub fn returned(function: &str) -> Self {
        Self::named("", function)
    }

    fn part(&self, part: &str) -> Self {
        Self { path: format!("{}{part}", self.path), ..self.clone() }
    }

    /// The message of an assertion. C names have no braces, so any braces are placeholders for loop variables.
    pub fn text(&self) -> String {
        let Self { what, path, function } = self;
        match (what.is_empty(), path.is_empty()) {
            (true, true) => format!("return value of {function}"),
            (true, false) => format!("`{path}` of the return value of {function}"),
            (false, _) => format!("`{what}{path}` after {function}"),
        }
    }
}

impl<'a> Types<'a> {
    /// Comparisons of the value at `place`. The value is read, not borrowed, because it may be part of a packed
    /// struct or of a static.
    pub fn same(
        self,
        place: &TokenStream,
        ty: &CType,
        value: &Value,
        label: &Label,
    ) -> Result<Vec<TokenStream>, String> {
        match &ty.kind {
            TypeKind::Array { len: Some(0), .. } => Ok(Vec::new()),
            TypeKind::Array { of, len: Some(len) } => {
                let expected = self.elements(of, value)?;
                has_length(expected.len(), *len)?;
                let expected = array(&expected);
                if is_whole(of) || is_float(of) {
                    return Ok(vec![same_leaf(place, &expected, ty, label)]);
                }
                // One loop instead of one assertion per element, which would take the compiler hours.
                let each = self.alike(place, &quote!(wanted), ty, (label, 0))?;
                Ok(vec![quote!({ let wanted = #expected; #(#each)* })])
            }
            TypeKind::Record(_) => self.same_fields(place, ty, value, label),
            _ => Ok(vec![same_leaf(place, &self.value(ty, value)?, ty, label)]),
        }
    }

    /// Comparisons of two places, one with C's value; `depth` is the number of enclosing loops.
    fn alike(
        self,
        place: &TokenStream,
        wanted: &TokenStream,
        ty: &CType,
        (label, depth): (&Label, usize),
    ) -> Result<Vec<TokenStream>, String> {
        match &ty.kind {
            TypeKind::Array { len: Some(0), .. } => Ok(Vec::new()),
            TypeKind::Array { of, len: Some(len) } if !is_whole(of) && !is_float(of) => {
                let (each, len) = (format_ident!("{EACH}{depth}"), Literal::u64_unsuffixed(*len));
                let part = label.part(&format!("[{{{each}}}]"));
                let (place, wanted) = (quote!(#place[#each]), quote!(#wanted[#each]));
                let same = self.alike(&place, &wanted, of, (&part, depth + 1))?;
                Ok(vec![quote!(for #each in 0..#len { #(#same)* })])
            }
            TypeKind::Record(_) => {
                let mut all = Vec::new();
                for (ident, field) in self.fields(ty)?.1 {
                    let part = label.part(&format!(".{}", field.name));
                    let (place, wanted) = (quote!(#place.#ident), quote!(#wanted.#ident));
                    all.extend(self.alike(&place, &wanted, &field.ty, (&part, depth))?);
                }
                Ok(all)
            }
            _ => Ok(vec![same_leaf(place, &read(wanted), ty, label)]),
        }
    }

    fn same_fields(
        self,
        place: &TokenStream,
        ty: &CType,
        value: &Value,
        label: &Label,
    ) -> Result<Vec<TokenStream>, String> {
        // Rejects values that are not fields of the struct.
        self.value(ty, value)?;
        let (_, fields) = self.fields(ty)?;
        let mut all = Vec::new();
        for (ident, field) in fields {
            let value = match value.get(&field.name) {
                Some(value) => value.clone(),
                None => zero(&field.ty),
            };
            let part = label.part(&format!(".{}", field.name));
            all.extend(self.same(&quote!(#place.#ident), &field.ty, &value, &part)?);
        }
        Ok(all)
    }

    /// Comparisons of the elements in an array `local` with `length` elements; bytes are `u8` there.
    pub fn same_elements(
        self,
        local: &TokenStream,
        (of, length): (&CType, usize),
        value: &Value,
        label: &Label,
    ) -> Result<Vec<TokenStream>, String> {
        if length == 0 {
            return Ok(Vec::new());
        }
        if is_byte(of) {
            let bytes = bytes(value)?;
            has_length(bytes.len(), length as u64)?;
            let (expected, label) = (byte_array(&bytes), label.text());
            let mut tokens = expected.clone().into_iter();
            return Ok(vec![match (tokens.next(), tokens.next()) {
                // A reference to a byte literal is compared by reference.
                (Some(TokenTree::Punct(_)), Some(literal)) => {
                    quote!(assert_eq!(#local.as_slice(), #literal, #label);)
                }
                _ => quote!(assert_eq!(#local, #expected, #label);),
            }]);
        }
        let whole = CType {
            kind: TypeKind::Array { of: Box::new(of.clone()), len: Some(length as u64) },
            ..of.clone()
        };
        self.same(local, &whole, value, label)
    }

    /// Comparisons of a returned table of `length` elements, or of a null pointer, in the local variable
    /// `returned`.
    pub fn same_table(
        self,
        returned: &Ident,
        (pointer, ty, length): (&CType, &syn::Type, usize),
        value: &Value,
        label: &Label,
    ) -> Result<Vec<TokenStream>, String> {
        let text = label.text();
        if value.is_null() {
            return Ok(vec![quote!(assert!(#returned.is_null(), #text);)]);
        }
        let of = pointer.target().ok_or("what returns a table returns no pointer")?;
        let ty = match (is_byte(of), number_type(&of.kind)) {
            (true, _) => syn::parse_quote!(u8),
            (false, Some(number)) => number,
            (false, None) => pointee(ty),
        };
        let (table, size) = (format_ident!("{returned}_table"), Literal::usize_unsuffixed(length));
        let mut all = vec![quote!(assert_eq!(#returned.is_null(), false, #text);)];
        all.push(quote!(let #table = (#returned as *const [#ty; #size]).read_unaligned();));
        all.extend(self.same_elements(&quote!(#table), (of, length), value, label)?);
        Ok(all)
    }

    /// Comparisons of the library's variables with `$globals` of a result.
    pub fn same_globals(self, values: &Value, function: &str) -> Result<Vec<TokenStream>, String> {
        let mut all = Vec::new();
        for (name, value) in globals(values)? {
            let (ident, ty) = self.global(name)?;
            all.extend(self.same(&quote!(globals::#ident), ty, value, &Label::named(name, function))?);
        }
        Ok(all)
    }

    /// Assignments of the `$globals` of an input.
    pub fn set_globals(self, values: &Value) -> Result<Vec<TokenStream>, String> {
        let set = |(name, value): (&String, &Value)| {
            let (ident, ty) = self.global(name)?;
            let value = self.value(ty, value)?;
            Ok(quote!(globals::#ident = #value;))
        };
        globals(values)?.into_iter().map(set).collect()
    }

    fn global(self, name: &str) -> Result<(Ident, &'a CType), String> {
        let found = self.0.globals.iter().find(|global| global.name.as_str() == name);
        let found = found.ok_or_else(|| format!("`{name}` is not a variable of the library"))?;
        Ok((format_ident!("{}", identifier(name)), &found.ty))
    }
}

/// One comparison of a value without parts, or of an array of numbers.
fn same_leaf(place: &TokenStream, expected: &TokenStream, ty: &CType, label: &Label) -> TokenStream {
    let label = label.text();
    match &ty.kind {
        TypeKind::Float { .. } => quote!(assert_eq!(Exact(#place), Exact(#expected), #label);),
        TypeKind::Array { of, .. } if is_float(of) => {
            let place = read(place);
            quote!(assert_eq!(exact(#place), exact(#expected), #label);)
        }
        _ => {
            let place = read(place);
            quote!(assert_eq!(#place, #expected, #label);)
        }
    }
}

/// A place as a value: a part is copied instead of borrowed.
fn read(place: &TokenStream) -> TokenStream {
    if place.clone().into_iter().count() == 1 { place.clone() } else { quote!({ #place }) }
}

fn globals(values: &Value) -> Result<Vec<(&String, &Value)>, String> {
    let values = values.as_object().ok_or_else(|| format!("{} is not a list of variables", shown(values)))?;
    Ok(values.iter().collect())
}

fn has_length(found: usize, wanted: u64) -> Result<(), String> {
    if found as u64 == wanted {
        return Ok(());
    }
    Err(format!("a result has {found} elements where C has {wanted}"))
}

fn is_whole(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Enum { .. })
}

fn is_float(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Float { .. })
}

/// The target of a returned pointer in a result: `None` for null, else the name of a place and the byte offset in
/// it.
pub(super) fn address(value: &Value) -> Result<Option<(&str, usize)>, String> {
    let bad = || format!("{} is no place", shown(value));
    let text = value.as_str().ok_or_else(bad)?;
    if text == "NULL" {
        return Ok(None);
    }
    let (name, bytes) = text.rsplit_once(" + ").ok_or_else(bad)?;
    let bytes = bytes.parse().map_err(|_| bad())?;
    Ok(Some((name.trim_matches('`'), bytes)))
}

/// The comparison of a text, or of a null pointer.
pub(super) fn same_text(returned: &Ident, value: &Value, label: &Label) -> Result<TokenStream, String> {
    let label = label.text();
    let expected = match value {
        Value::Null => quote!(None),
        // Escaped like the output of `text_at`, so that a failure is readable.
        value => {
            let text = bytes(value)?.escape_ascii().to_string();
            quote!(Some(#text))
        }
    };
    Ok(quote!(assert_eq!(text_at(#returned as _).as_deref(), #expected, #label);))
}

/// The comparison of `errno`, which is in the local variable `found`.
pub(super) fn same_errno(found: &Ident, value: &Value, function: &str) -> Result<TokenStream, String> {
    let whole = Whole::read(value)?;
    if !whole.fits(true, 32) {
        return Err(format!("{} is no errno", shown(value)));
    }
    let (expected, label) = (number(whole), format!("errno after {function}"));
    Ok(quote!(assert_eq!(#found, #expected, #label);))
}
