//! Interior mutability: state that a port could keep between calls.

use super::std_api;
use crate::rust::item::{item_name, plain, use_leaves};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;

/// The first type with interior mutability in a token stream; `hidden` are names that stand for such types.
pub(super) fn interior(tokens: TokenStream, hidden: &BTreeSet<String>) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) => {
            Some(plain(&ident)).filter(|name| std_api::is_interior(name) || hidden.contains(name))
        }
        TokenTree::Group(group) => interior(group.stream(), hidden),
        _ => None,
    })
}

/// Names under which a module has types with interior mutability: renamed imports, aliases, and types made of them.
pub(super) fn hidden_interior(items: &[&syn::Item]) -> BTreeSet<String> {
    let mut hidden = BTreeSet::new();
    loop {
        let before = hidden.len();
        for item in items {
            match item {
                syn::Item::Use(i) => {
                    let leaves = use_leaves(i).into_iter().filter(|leaf| {
                        leaf.path.last().is_some_and(|n| std_api::is_interior(n) || hidden.contains(n))
                    });
                    let names: Vec<String> = leaves.filter_map(|leaf| leaf.name).collect();
                    hidden.extend(names);
                }
                syn::Item::Type(_) | syn::Item::Struct(_) | syn::Item::Enum(_) => {
                    let is_interior = interior(item.to_token_stream(), &hidden).is_some();
                    hidden.extend(item_name(item).filter(|_| is_interior));
                }
                _ => {}
            }
        }
        if hidden.len() == before {
            return hidden;
        }
    }
}
