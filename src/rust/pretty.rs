//! Formats generated tokens as Rust; only for files that the tool generates whole.

use proc_macro2::TokenStream;

/// Formats whole generated items.
pub fn pretty(tokens: TokenStream) -> String {
    let file: syn::File = syn::parse2(tokens).expect("generated code is Rust");
    prettyplease::unparse(&file)
}
