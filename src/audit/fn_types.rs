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

/// The value that a block or parentheses have.
pub(super) fn value_of(expr: &syn::Expr) -> &syn::Expr {
    let inner = match expr {
        syn::Expr::Paren(inner) => Some(&*inner.expr),
        syn::Expr::Block(inner) => value_of_block(&inner.block),
        syn::Expr::Unsafe(inner) => value_of_block(&inner.block),
        _ => None,
    };
    inner.map_or(expr, value_of)
}

/// The last expression of a block, if the block has its value.
pub(super) fn value_of_block(block: &syn::Block) -> Option<&syn::Expr> {
    match block.stmts.last() {
        Some(syn::Stmt::Expr(value, None)) => Some(value),
        _ => None,
    }
}
