//! Renames types throughout the items of one unit. Fields and parameters with the same name keep it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit_mut::{self, VisitMut};

/// Old name → new name.
pub(super) type Renames = BTreeMap<String, String>;

/// Visits anything that mentions types.
pub(super) struct Renamer<'a>(pub &'a Renames);

impl Renamer<'_> {
    fn ident(&self, ident: &mut Ident) {
        if let Some(new) = self.0.get(&ident.to_string()) {
            *ident = Ident::new(new, ident.span());
        }
    }
}

impl VisitMut for Renamer<'_> {
    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        match item {
            syn::Item::Struct(s) => self.ident(&mut s.ident),
            syn::Item::Union(u) => self.ident(&mut u.ident),
            syn::Item::Type(t) => self.ident(&mut t.ident),
            _ => {}
        }
        visit_mut::visit_item_mut(self, item);
    }

    fn visit_use_path_mut(&mut self, path: &mut syn::UsePath) {
        if let syn::UseTree::Rename(rename) = &mut *path.tree {
            self.ident(&mut rename.ident);
            self.ident(&mut rename.rename);
        }
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first_mut()
        {
            self.ident(&mut first.ident);
        }
        visit_mut::visit_path_mut(self, path);
    }

    /// `offset_of!(Type, field)` in the layout tests.
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let mut tokens: Vec<TokenTree> = std::mem::take(&mut mac.tokens).into_iter().collect();
        if let Some(TokenTree::Ident(first)) = tokens.first_mut() {
            self.ident(first);
        }
        mac.tokens = TokenStream::from_iter(tokens);
    }
}
