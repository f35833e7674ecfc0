//! The items that a reply may contain: imports, statics and `impl` blocks, with their restrictions.

use super::interior::interior;
use super::refusals::foreign_name;
use super::resolve::Scopes;
use super::scope::{Meaning, Scope, Space};
use super::std_api::{self, Refusal};
use super::walk::Walker;
use super::{Rule, path_meaning, reserved};
use crate::rust::item::{UseLeaf, item_name, plain, use_leaves};
use crate::rust::nonlocal_items;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

impl Walker<'_, '_, '_> {
    /// Judges what a `use` brings in; names that come through it are judged again where they are used.
    pub(super) fn use_item(&mut self, item: &syn::ItemUse) {
        for leaf in use_leaves(item) {
            let written = leaf.path.join("::");
            let meaning = self.scopes.resolve_use(&leaf);
            let refusal = path_meaning::meaning(self.scopes.requested(), &meaning, &written, Space::Either)
                .err()
                .or_else(|| self.refused_glob(&leaf, &meaning))
                .or_else(|| import_refusal(&self.scopes, &leaf))
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
                path_meaning::meaning(self.scopes.requested(), &meaning, &written, Space::Either)
                    .err()
                    .or_else(|| self.refused_glob(leaf, &meaning))
            };
            let refusal = import_refusal(&self.scopes, leaf);
            if let Some((rule, reason)) = refusal.or_else(|| is_judged.then(judged).flatten()) {
                self.refuse_in_module(rule, format!("line {line} of the module imports it: {reason}"));
            }
        }
    }

    fn refused_glob(&self, leaf: &UseLeaf, meaning: &Meaning) -> Option<std_api::Refusal> {
        let Meaning::Path(path) = meaning else { return None };
        if !leaf.glob || is_closed(path, self.scopes.levels.len() > 1) {
            return None;
        }
        let written = leaf.path.join("::");
        let reason = format!("`use {written}::*` brings in names that the audit cannot list; import by name");
        Some((Rule::UnknownPath, reason))
    }

    /// A type with the name of a C function would hide from the audit which of the two a call means.
    fn refused_name(&self, leaf: &UseLeaf, meaning: &Meaning) -> Option<std_api::Refusal> {
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
                "`static {}` in a port that uses `{interior}` can hold state that outlives a call; use a const",
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
            self.refuse(Rule::Item, item.impl_token.span, "`unsafe impl` is not allowed in a port");
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

    /// An item with the name of a crate or a generated module; a function of C has the name that it has.
    pub(super) fn reserved_item(&mut self, item: &syn::Item) {
        let of_c =
            |name: &String| matches!(item, syn::Item::Fn(_)) && self.scopes.allowed.ffi.is_foreign(name);
        if let Some(name) = item_name(item).filter(|name| !of_c(name)) {
            self.reserved(&name, item.span());
        }
    }

    /// A parameter of the requested function, which may have its name from C: a variable begins no longer path.
    pub(super) fn parameter(&mut self, pat: &syn::Pat) {
        match pat {
            syn::Pat::Ident(name)
                if self.scopes.allowed.signature.inputs.iter().any(|wanted| has_name(wanted, name)) =>
            {
                self.scopes.top().declare_variable(plain(&name.ident));
            }
            other => self.visit_pat(other),
        }
    }

    pub(super) fn reserved(&mut self, name: &str, span: proc_macro2::Span) {
        if let Some((rule, reason)) = reserved::refusal(name) {
            self.refuse(rule, span, reason);
        }
    }

    /// A helper must be private; the requested function may be `pub`.
    pub(super) fn visibility(&mut self, item: &syn::Item, vis: &syn::Visibility) {
        let requested = self.scopes.levels.len() == 1 && item_name(item).as_deref() == Some(self.scopes.name);
        if !requested && !matches!(vis, syn::Visibility::Inherited) {
            self.refuse(Rule::Item, vis.span(), "helpers must be private: leave out `pub`");
        }
    }
}

fn has_name(wanted: &syn::FnArg, name: &syn::PatIdent) -> bool {
    let syn::FnArg::Typed(wanted) = wanted else { return false };
    name.subpat.is_none() && matches!(&*wanted.pat, syn::Pat::Ident(wanted) if wanted.ident == name.ident)
}

/// Whether the names behind a glob import are known, or harmless.
fn is_closed(path: &[String], in_function: bool) -> bool {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["crate"] | ["core" | "alloc" | "std"] | ["core" | "alloc" | "std", "os" | "sync"] => false,
        // What other ports' modules hold is theirs: nobody reads it with this port.
        ["crate", module, ..] => nonlocal_items::GENERATED.contains(module),
        // Inside a function, a glob would come before the module's own items.
        [.., last] => !in_function || last.starts_with(|c: char| c.is_ascii_uppercase()),
        [] => false,
    }
}

/// Why an import may not have its name: the crate or the module itself may come in.
fn import_refusal(scopes: &Scopes<'_>, leaf: &UseLeaf) -> Option<Refusal> {
    let name = leaf.name.as_deref()?;
    let refusal = reserved::refusal(name)?;
    let Meaning::Path(path) = scopes.resolve_use(leaf) else { return Some(refusal) };
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let itself = match parts.as_slice() {
        [root] => reserved::is_crate(root) && *root == name,
        ["crate", module] => *module == name,
        // Types of C, as Rust's own libraries have them.
        ["core" | "std", "ffi"] => name == "ffi",
        _ => false,
    };
    (!itself).then_some(refusal)
}
