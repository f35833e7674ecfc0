//! The attributes that a reply may contain, at any place.

use super::allowed_names;
use crate::rust::item::plain;
use proc_macro2::TokenStream;
use quote::ToTokens;

/// The reason why an attribute with this text may not stand in a port, if it may not. `inner` is `#![…]`.
pub(super) fn refusal(text: TokenStream, inner: bool) -> Option<String> {
    let written = text.to_string();
    let is_ok = match syn::parse2::<syn::Meta>(text) {
        // A macro of the reply may put attributes together.
        Err(_) => false,
        Ok(meta) => {
            let name = meta.path().to_token_stream().to_string().replace(' ', "");
            match name.as_str() {
                "doc" => is_text(&meta),
                "derive" => {
                    derives(&meta).is_some_and(|all| all.iter().all(|n| allowed_names::is_plain_derive(n)))
                }
                _ => allowed_names::is_plain_attribute(&name) && !inner,
            }
        }
    };
    if is_ok {
        return None;
    }
    let why = allowed_names::attribute_refusal(&written);
    Some(format!("`#[{}]` is not allowed in a port: {why}", written.replace(' ', "")))
}

/// A doc comment, and not a macro that reads a file.
fn is_text(meta: &syn::Meta) -> bool {
    match meta {
        syn::Meta::NameValue(meta) => matches!(meta.value, syn::Expr::Lit(_)),
        _ => false,
    }
}

fn derives(meta: &syn::Meta) -> Option<Vec<String>> {
    let syn::Meta::List(list) = meta else { return None };
    let paths = syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
    let paths = list.parse_args_with(paths).ok()?;
    paths.iter().map(|path| path.get_ident().map(plain)).collect()
}
