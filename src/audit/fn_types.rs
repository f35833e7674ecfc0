//! Types that are function pointers, by the names that a reply gives them.

use super::own_crate::mentions_fn;
use crate::rust::item::plain;
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::visit::Visit;

/// Why memory may not be read as a function pointer.
pub(super) const FN_POINTER: &str = "a function pointer may not be made from other memory";

/// Names that items give to types that are function pointers.
pub(super) fn fn_types(items: &[&syn::Item]) -> BTreeSet<String> {
    let mut aliases = FnAliases::default();
    items.iter().for_each(|item| aliases.visit_item(item));
    aliases.0
}

#[derive(Default)]
struct FnAliases(BTreeSet<String>);

impl<'ast> Visit<'ast> for FnAliases {
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if mentions_fn(item.ty.to_token_stream()) {
            self.0.insert(plain(&item.ident));
        }
    }
}
