//! That a function is there with C's types, and how large they are: what the compiler and the linker say.

use super::{KeptTest, Source};
use crate::rust::signature::ident;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

/// What such a test does. Its comparisons are few: most of it is that it compiles and links.
pub(super) fn statements(source: &Source, test: &KeptTest) -> Result<Vec<TokenStream>, String> {
    match test.input.get("check").and_then(Value::as_str) {
        Some("signature") => Ok(vec![signature(source)]),
        Some("layout") => layout(source, test).map(|statement| vec![statement]),
        _ => Err(format!("`{}` is no check that there is", test.input)),
    }
}

fn signature(source: &Source) -> TokenStream {
    let (name, c) = (ident(source.bound.function), source.bound.c);
    let params = c.params.iter().map(|(_, ty)| ty);
    let ret = c.ret.iter();
    quote! {
        let function: unsafe extern "C" fn(#(#params),*) #(-> #ret)* = capi::#name;
        assert_ne!(function as usize, 0, "the function is linked");
    }
}

fn layout(source: &Source, test: &KeptTest) -> Result<TokenStream, String> {
    let of = test.input.get("of").and_then(Value::as_str).unwrap_or_default();
    let is_known = source.library.records.values().any(|record| record.rust_name == of);
    let number = |name: &str| test.left.get(name).and_then(Value::as_u64).map(Literal::u64_unsuffixed);
    let (Some(size), Some(align), true) = (number("size"), number("align"), is_known) else {
        return Err(format!("`{of}` is no struct with a size and an alignment"));
    };
    let of = format_ident!("{of}");
    Ok(quote! {
        assert_eq!(size_of::<ffi::#of>(), #size, "size");
        assert_eq!(align_of::<ffi::#of>(), #align, "alignment");
    })
}
