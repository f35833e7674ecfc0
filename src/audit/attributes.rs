//! The attributes that a reply may contain, at any place.

use super::std_api;
use crate::rust::item::plain;
use quote::ToTokens;

/// The reason why an attribute may not stand in a port, if it may not.
pub(super) fn refusal(attr: &syn::Attribute) -> Option<String> {
    let name = attr.path().to_token_stream().to_string().replace(' ', "");
    let is_ok = match name.as_str() {
        "doc" => is_text(&attr.meta),
        "derive" => derives(attr).is_some_and(|names| names.iter().all(|n| std_api::is_plain_derive(n))),
        _ => std_api::is_plain_attribute(&name) && matches!(attr.style, syn::AttrStyle::Outer),
    };
    if is_ok {
        return None;
    }
    let text = attr.meta.to_token_stream().to_string();
    let why = std_api::attribute_refusal(&text);
    Some(format!("`#[{}]` is not allowed in a port: {why}", text.replace(' ', "")))
}

/// A doc comment, and not a macro that reads a file.
fn is_text(meta: &syn::Meta) -> bool {
    match meta {
        syn::Meta::NameValue(meta) => matches!(meta.value, syn::Expr::Lit(_)),
        _ => false,
    }
}

fn derives(attr: &syn::Attribute) -> Option<Vec<String>> {
    let list = syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
    let paths = attr.parse_args_with(list).ok()?;
    paths.iter().map(|path| path.get_ident().map(plain)).collect()
}
