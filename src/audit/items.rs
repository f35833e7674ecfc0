//! Items that may stand in a reply: imports, statics, `impl` blocks, and what of them is refused.

use super::scope::{Meaning, Scope, Space};
use super::walk::Walker;
use super::{Rule, judge, platform};
use crate::rust::item::{UseLeaf, item_name, plain, use_leaves};
use crate::rust::open;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit;

impl Walker<'_, '_, '_> {
    /// Judges what a `use` brings in; names that come through it are judged again where they are used.
    pub(super) fn use_item(&mut self, item: &syn::ItemUse) {
        for leaf in use_leaves(item) {
            let written = leaf.path.join("::");
            let meaning = self.scopes.resolve_use(&leaf);
            let refusal = judge::meaning(&self.scopes, &meaning, &written, Space::Either)
                .err()
                .or_else(|| self.refused_glob(&leaf, &meaning))
                .or_else(|| self.refused_name(&leaf, &meaning));
            if let Some((rule, reason)) = refusal {
                self.refuse(rule, leaf.span.0, reason);
            }
        }
    }

    /// What the module imports from Rust's libraries acts in every port of it: methods of a trait name none. What else it
    /// imports is judged where it is named: another port may do what this one may not.
    pub(super) fn imports_of_module(&mut self) {
        let allowed = self.scopes.allowed;
        for (leaf, line) in allowed.around.imports.iter() {
            let written = leaf.path.join("::");
            let meaning = self.scopes.resolve_use(leaf);
            let is_judged = match &meaning {
                Meaning::Path(path) => matches!(path[0].as_str(), "core" | "alloc" | "std"),
                Meaning::Unknown | Meaning::Ambiguous(_) => true,
                _ => false,
            };
            let judged = || {
                judge::meaning(&self.scopes, &meaning, &written, Space::Either)
                    .err()
                    .or_else(|| self.refused_glob(leaf, &meaning))
            };
            if let Some((rule, reason)) = is_judged.then(judged).flatten() {
                self.refuse_in_module(rule, format!("line {line} of the module imports it: {reason}"));
            }
        }
    }

    fn refused_glob(&self, leaf: &UseLeaf, meaning: &Meaning) -> Option<platform::Refusal> {
        let Meaning::Path(path) = meaning else { return None };
        if !leaf.glob || is_closed(path, self.scopes.levels.len() > 1) {
            return None;
        }
        let written = leaf.path.join("::");
        let reason = format!("`use {written}::*` brings in names that the audit cannot list; import by name");
        Some((Rule::UnknownPath, reason))
    }

    /// A type with the name of a C function would hide from the audit which of the two a call means.
    fn refused_name(&self, leaf: &UseLeaf, meaning: &Meaning) -> Option<platform::Refusal> {
        let name = leaf.name.as_ref().filter(|name| self.scopes.allowed.ffi.foreign.contains(*name))?;
        let itself = matches!(meaning, Meaning::Path(path) if path.len() == 3 && path[0] == "crate" && path[2] == *name);
        (!itself).then(|| foreign_name(name))
    }

    pub(super) fn static_item(&mut self, item: &syn::ItemStatic) {
        if matches!(item.mutability, syn::StaticMutability::Mut(_)) {
            self.refuse(
                Rule::State,
                item.span(),
                format!("`static mut {}` holds state that outlives a call", item.ident),
            );
        } else if let Some(interior) = self.interior() {
            let reason = format!(
                "`static {}` in a reply that uses `{interior}` can hold state that outlives a call; use a const",
                item.ident
            );
            self.refuse(Rule::State, item.span(), reason);
        }
    }

    /// The first type with interior mutability that the reply mentions.
    fn interior(&self) -> Option<String> {
        let hidden = &self.scopes.allowed.around.interior;
        self.items.iter().find_map(|item| interior(item.to_token_stream(), hidden))
    }

    pub(super) fn impl_item(&mut self, item: &syn::ItemImpl) {
        if item.unsafety.is_some() {
            self.refuse(Rule::Item, item.impl_token.span, "`unsafe impl` may not stand in a reply");
        }
        let own = match &*item.self_ty {
            syn::Type::Path(ty) if ty.qself.is_none() => {
                let names: Vec<String> = ty.path.segments.iter().map(|s| plain(&s.ident)).collect();
                matches!(
                    self.scopes.resolve(&names, ty.path.leading_colon.is_some(), Space::Type),
                    Meaning::Own(_)
                )
            }
            _ => false,
        };
        if !own {
            self.refuse(
                Rule::Item,
                item.self_ty.span(),
                "only structs and enums of the reply itself may get an `impl`",
            );
        }
        self.inside(Scope::of_item(&item.generics), |walker| visit::visit_item_impl(walker, item));
    }

    /// A helper must be private; the requested function may be `pub`.
    pub(super) fn visibility(&mut self, item: &syn::Item, vis: &syn::Visibility) {
        let requested = self.scopes.levels.len() == 1 && item_name(item).as_deref() == Some(self.scopes.name);
        if !requested && !matches!(vis, syn::Visibility::Inherited) {
            self.refuse(Rule::Item, vis.span(), "helpers must be private: leave out `pub`");
        }
    }
}

pub(super) fn foreign_name(name: &str) -> platform::Refusal {
    (Rule::CallThrough, format!("`{name}` is the name of a C function; nothing else may get it"))
}

/// Whether the names behind a glob import are known, or harmless.
fn is_closed(path: &[String], in_function: bool) -> bool {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["crate"] | ["core" | "alloc" | "std"] | ["core" | "alloc" | "std", "os" | "sync"] => false,
        // What other ports' modules hold is theirs: nobody reads it with this port.
        ["crate", module, ..] => open::GENERATED.contains(module),
        // Inside a function, a glob would come before the module's own items.
        [.., last] => !in_function || last.starts_with(|c: char| c.is_ascii_uppercase()),
        [] => false,
    }
}

/// Why an item may not stand in a reply.
pub(super) fn refused_item(item: &syn::Item) -> String {
    use syn::Item;
    let what = match item {
        Item::ForeignMod(_) => "an `extern` block binds C functions; a port may not",
        Item::ExternCrate(_) => "`extern crate` may not stand in a reply",
        Item::Macro(_) => "`macro_rules!` can hide names from the audit; write a function",
        Item::Mod(_) => "`mod` may not stand in a reply; helpers go beside the function",
        Item::Trait(_) | Item::TraitAlias(_) => {
            "`trait` may not stand in a reply; use functions or an `impl`"
        }
        Item::Union(_) => "`union` may not stand in a reply; use `to_ne_bytes`, `from_bits` and the like",
        _ => "the audit cannot read this item",
    };
    what.to_string()
}

/// The first type with interior mutability in a token stream; `hidden` are names that stand for such types.
pub(super) fn interior(tokens: TokenStream, hidden: &BTreeSet<String>) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) => {
            Some(plain(&ident)).filter(|name| platform::is_interior(name) || hidden.contains(name))
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
                        leaf.path.last().is_some_and(|n| platform::is_interior(n) || hidden.contains(n))
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
