//! `Value` implementations for the flat structs of a library: field by field, never padding.

use crate::symbol::{CType, Library, TypeKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// Keys of the records that a type is made of, itself included.
pub fn records_of(library: &Library, ty: &CType, found: &mut BTreeSet<String>) {
    match &ty.kind {
        TypeKind::Pointer(target) => records_of(library, target, found),
        TypeKind::Array { of, .. } => records_of(library, of, found),
        TypeKind::Record(key) if found.insert(key.clone()) => {
            for field in library.records.get(key).into_iter().flat_map(|r| &r.fields) {
                records_of(library, &field.ty, found);
            }
        }
        _ => {}
    }
}

/// The implementation for one flat record.
pub fn implementation(library: &Library, key: &str) -> Option<TokenStream> {
    let record = library.records.get(key)?;
    let name = format_ident!("{}", record.rust_name);
    let mut parts = Parts::default();
    for (at, field) in record.fields.iter().enumerate() {
        parts.field(field_ident(&field.name), &field.name, &field.ty, at);
    }
    let Parts { width, decode, encode, same, show, boundary } = parts;
    let shown = format!("{} {{{{ {} }}}}", record.rust_name, vec!["{}"; show.len()].join(", "));
    Some(quote! {
        impl Value for ffi::#name {
            const WIDTH: usize = 0 #(+ #width)*;
            fn decode(reader: &mut Reader) -> Self {
                // SAFETY: all fields are numbers, for which zero is a value.
                let mut value: Self = unsafe { core::mem::zeroed() };
                #(#decode)*
                value
            }
            fn encode(&self, writer: &mut Writer) { #(#encode)* }
            fn same(&self, other: &Self) -> bool { true #(&& #same)* }
            fn show(&self) -> String { format!(#shown, #(#show),*) }
            fn boundaries() -> Vec<Self> {
                (0..40usize).map(|i| {
                    // SAFETY: as above.
                    let mut value: Self = unsafe { core::mem::zeroed() };
                    #(#boundary)*
                    value
                }).collect()
            }
        }
    })
}

fn field_ident(name: &str) -> syn::Ident {
    // bindgen appends `_` to names that are keywords.
    syn::parse_str(name).unwrap_or_else(|_| format_ident!("{name}_"))
}

#[derive(Default)]
struct Parts {
    width: Vec<TokenStream>,
    decode: Vec<TokenStream>,
    encode: Vec<TokenStream>,
    same: Vec<TokenStream>,
    show: Vec<TokenStream>,
    boundary: Vec<TokenStream>,
}

impl Parts {
    fn field(&mut self, ident: syn::Ident, label: &str, ty: &CType, at: usize) {
        let label = format!("{label}: {{}}");
        let stride = 2 * at + 1;
        if let TypeKind::Enum { values, .. } = &ty.kind {
            let values: Vec<_> =
                values.iter().map(|(_, v)| proc_macro2::Literal::i128_unsuffixed(*v)).collect();
            self.width.push(quote!(2));
            self.decode.push(quote!(value.#ident = choose(reader, &[#(#values as _),*]);));
            self.encode.push(quote!(choice(writer, &[#(#values as _),*], &self.#ident);));
            self.boundary.push(quote! {
                let list = [#(#values as _),*];
                value.#ident = list[i * #stride % list.len()];
            });
        } else {
            self.width.push(quote!(width_of(|v: &Self| &v.#ident)));
            self.decode.push(quote!(value.#ident = Value::decode(reader);));
            self.encode.push(quote!({ let field = self.#ident; field.encode(writer) };));
            self.boundary.push(quote! {
                let list = boundaries_like(&value.#ident);
                value.#ident = list[i * #stride % list.len()];
            });
        }
        self.same.push(quote!({ let (a, b) = (self.#ident, other.#ident); a.same(&b) }));
        self.show.push(quote!(format!(#label, { let field = self.#ident; field.show() })));
    }
}
