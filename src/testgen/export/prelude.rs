//! The helper functions before the tests, as far as the tests use them.

use crate::rust::globals::identifier;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// Names in the file that no test may have.
pub(super) const NAMES: [&str; 15] = [
    "errno_place", "clear_errno", "last_errno", "text_at", "joined", "exact", "alone", "to_the_end",
    "at_exit", "atexit", "_exit", "capi", "ffi", "globals", "libc",
];

/// The helpers; each module is included if its name occurs.
const HELPERS: &str = include_str!("../../../templates/testgen/prelude.rs");

/// The items that `tests` use, and the items that these use; `variables` are those of the library that the tests
/// may change.
pub(super) fn prelude(tests: &[TokenStream], variables: &[&str]) -> Vec<TokenStream> {
    let kept = variables.iter().map(|name| format!("Kept::of(&raw mut globals::{})", identifier(name)));
    let text = HELPERS.replace("[VARIABLES]", &format!("[{}]", kept.collect::<Vec<_>>().join(", ")));
    let file: syn::File = syn::parse_str(&text).expect("the template is Rust");
    let modules = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Mod(syn::ItemMod { ident, content: Some((_, items)), .. }) => {
            Some((ident.to_string(), quote!(#(#items)*)))
        }
        _ => None,
    });
    let modules: Vec<(String, TokenStream)> = modules.collect();
    let named = |word: &str| tests.iter().any(|test| mentions(test, word));
    let is_used = |name: &str| {
        let by_others = || modules.iter().any(|(other, items)| named(other) && mentions(items, name));
        named(name) || by_others()
    };
    modules.iter().filter(|(name, _)| is_used(name)).map(|(_, items)| items.clone()).collect()
}

/// Whether an identifier occurs in these tokens.
fn mentions(tokens: &TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(&group.stream(), word),
        TokenTree::Ident(ident) => ident == word,
        _ => false,
    })
}
