//! The Rust type of a C type in `ffi.rs`, for items for which bindgen gives only a value.

use crate::symbol::{CType, Record, TypeKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeMap;

/// A Rust type with the C layout; `None` if there is no faithful one.
pub(super) fn rust_type(ty: &CType, records: &BTreeMap<String, Record>) -> Option<TokenStream> {
    Some(match &ty.kind {
        TypeKind::Void => quote!(::core::ffi::c_void),
        TypeKind::Bool => quote!(bool),
        TypeKind::Int { plain_char: true, .. } => quote!(::core::ffi::c_char),
        TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => integer(*signed, *bits)?,
        TypeKind::Float { bits: 32 } => quote!(f32),
        TypeKind::Float { bits: 64 } => quote!(f64),
        TypeKind::Pointer(to) => match &to.kind {
            TypeKind::Function { params, ret, variadic } => {
                let params: Vec<_> = params.iter().map(|p| rust_type(p, records)).collect::<Option<_>>()?;
                let dots = variadic.then(|| quote!(, ...));
                let ret = match ret.kind {
                    TypeKind::Void => None,
                    _ => {
                        let ret = rust_type(ret, records)?;
                        Some(quote!(-> #ret))
                    }
                };
                quote!(::core::option::Option<unsafe extern "C" fn(#(#params),* #dots) #ret>)
            }
            _ => {
                let target = rust_type(to, records)?;
                if to.is_const { quote!(*const #target) } else { quote!(*mut #target) }
            }
        },
        TypeKind::Array { of, len } => {
            let element = rust_type(of, records)?;
            let len = usize::try_from((*len)?).ok()?;
            quote!([#element; #len])
        }
        TypeKind::Record(key) => {
            let name = &records.get(key)?.rust_name;
            let name = syn::parse_str::<syn::Ident>(name).ok()?;
            quote!(#name)
        }
        TypeKind::Float { .. } | TypeKind::Function { .. } | TypeKind::Unsupported(_) => return None,
    })
}

fn integer(signed: bool, bits: u16) -> Option<TokenStream> {
    let letter = if signed { 'i' } else { 'u' };
    let name = format_ident!("{letter}{bits}");
    matches!(bits, 8 | 16 | 32 | 64).then(|| quote!(#name))
}
