//! The shape of a reply: the requested function once, with its signature, and private helpers that no other port owns.
//! `token_rules` reads what stands in the items.

use super::{Allowed, Candidate, Problems, Rule};
use crate::rust::c_numbers::rust_number;
use crate::rust::item::{item_name, plain, renamed, visibility};
use crate::rust::nonlocal_items::{self, is_open};
use crate::rust::signature::bare;
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};

/// Checks everything that is about items as wholes.
pub(super) fn check(
    candidate: &Candidate<'_>,
    allowed: &Allowed,
    items: &[&syn::Item],
    problems: &mut Problems<'_>,
) {
    requested(candidate, allowed, items, problems);
    let all: Vec<syn::Item> = items.iter().map(|item| (*item).clone()).collect();
    for item in items {
        if is_open(item, &all) {
            let reason = nonlocal_items::reason("this item");
            problems.add(Rule::Item, item.span(), reason);
        }
        let name = item_name(item);
        if name.as_deref() == Some(candidate.name) {
            continue;
        }
        if let Some(vis) = visibility(item).filter(|vis| !matches!(vis, syn::Visibility::Inherited)) {
            problems.add(Rule::Item, vis.span(), "helpers must be private: leave out `pub`");
        }
        let Some(name) = name else { continue };
        if is_other_symbol(candidate, allowed, &name) {
            let reason = format!(
                "`{name}` is another symbol; reply with `{}` and private helpers only",
                candidate.name
            );
            problems.add(Rule::Requested, item.span(), reason);
        }
    }
}

/// Attributes that stand before all items.
pub(super) fn of_whole_file(file: &syn::File, problems: &mut Problems<'_>) {
    for attr in &file.attrs {
        let reason = "attributes and `//!` comments of a whole file are not allowed in a port";
        problems.add(Rule::Attribute, attr.span(), reason);
    }
}

fn requested(
    candidate: &Candidate<'_>,
    allowed: &Allowed,
    items: &[&syn::Item],
    problems: &mut Problems<'_>,
) {
    let is_it = |item: &&syn::Item| item_name(item).as_deref() == Some(candidate.name);
    let mut found = items.iter().copied().filter(is_it);
    match found.next() {
        None => {
            let reason =
                format!("the reply has no function `{}`: {}", candidate.name, spell(&allowed.signature));
            problems.add_at(Rule::Requested, 1, 1, reason);
        }
        Some(syn::Item::Fn(item)) => {
            if let Some(difference) = difference(allowed, items, &item.sig) {
                let reason = format!("the signature must stay `{}`: {difference}", spell(&allowed.signature));
                problems.add(Rule::Requested, item.sig.span(), reason);
            }
        }
        Some(other) => {
            problems.add(Rule::Requested, other.span(), format!("`{}` must be a function", candidate.name));
        }
    }
    for again in found {
        problems.add(Rule::Requested, again.span(), format!("`{}` is there twice", candidate.name));
    }
}

/// Whether a helper has the name of something that is a symbol of the library.
fn is_other_symbol(candidate: &Candidate<'_>, allowed: &Allowed, name: &str) -> bool {
    allowed.ffi.foreign.contains(name)
        || allowed.is_ported(candidate.module, name)
        || allowed.around.symbols.contains(name)
}

/// The signature in one line.
pub(super) fn spell(signature: &syn::Signature) -> String {
    let item = syn::ItemFn {
        attrs: Vec::new(),
        vis: syn::Visibility::Inherited,
        modifiers: syn::FnModifiers::default(),
        sig: signature.clone(),
        block: Box::new(syn::Block { brace_token: Default::default(), stmts: Vec::new() }),
    };
    let file =
        syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![syn::Item::Fn(item)] };
    let text = prettyplease::unparse(&file);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches("{}").trim_end();
    line.replace("( ", "(").replace(", )", ")")
}

/// What differs from the expected signature; parameter names and `mut` may.
fn difference(allowed: &Allowed, items: &[&syn::Item], got: &syn::Signature) -> Option<String> {
    let want = &allowed.signature;
    let (wanted, gotten) = (Spelled::of(&[], allowed), Spelled::of(items, allowed));
    let same = |a: &dyn ToTokens, b: &dyn ToTokens| {
        a.to_token_stream().to_string() == b.to_token_stream().to_string()
    };
    if want.inputs.len() != got.inputs.len() || want.variadic.is_some() != got.variadic.is_some() {
        return Some(format!("it has {} parameters instead of {}", got.inputs.len(), want.inputs.len()));
    }
    for (index, (want, got)) in want.inputs.iter().zip(&got.inputs).enumerate() {
        match (want, got) {
            (syn::FnArg::Typed(want), syn::FnArg::Typed(got)) => {
                if !is_name(&got.pat) {
                    return Some(format!("parameter {} must be a plain name", index + 1));
                }
                if wanted.ty(&want.ty) != gotten.ty(&got.ty) {
                    return Some(format!("parameter {} has the type `{}`", index + 1, spaced(&got.ty)));
                }
            }
            _ => return Some("a port is not a method".to_string()),
        }
    }
    let [want_ret, got_ret] = [wanted.ret(&want.output), gotten.ret(&got.output)];
    if want_ret != got_ret {
        return Some(format!("it returns `{}`", spaced(&got.output).trim_start_matches("-> ")));
    }
    let heads = [
        (same(&want.safety.to_token_stream(), &got.safety.to_token_stream()), "`unsafe` differs"),
        (same(&want.constness, &got.constness), "`const` differs"),
        (same(&want.asyncness, &got.asyncness), "`async` differs"),
        (same(&want.abi, &got.abi), "`extern` differs"),
        (same(&want.generics, &got.generics), "the generics differ"),
        (same(&want.generics.where_clause, &got.generics.where_clause), "the `where` clause differs"),
    ];
    heads.iter().find(|(same, _)| !same).map(|(_, what)| what.to_string())
}

fn is_name(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Ident(pat) => pat.by_ref.is_none() && pat.subpat.is_none(),
        syn::Pat::Wild(_) => true,
        _ => false,
    }
}

fn spaced(node: &impl ToTokens) -> String {
    node.to_token_stream().to_string()
}

/// Types by their last names, so that `c_int`, `core::ffi::c_int`, `std::os::raw::c_int` and `i32` are the same. The compiler
/// decides whether they are: the generated code calls the function.
struct Spelled<'a> {
    /// What imports of the reply and of its module call by another name.
    renamed: BTreeMap<String, String>,
    of_module: &'a BTreeMap<String, String>,
}

impl<'a> Spelled<'a> {
    fn of(items: &[&syn::Item], allowed: &'a Allowed) -> Self {
        Self { renamed: renamed(items), of_module: &allowed.around.renamed }
    }

    fn ty(&self, ty: &syn::Type) -> String {
        struct Last<'a>([&'a BTreeMap<String, String>; 2]);
        impl VisitMut for Last<'_> {
            fn visit_path_mut(&mut self, path: &mut syn::Path) {
                visit_mut::visit_path_mut(self, path);
                let Some(mut last) = path.segments.last().cloned() else { return };
                let name = plain(&last.ident);
                let name = self.0.iter().find_map(|renamed| renamed.get(&name)).unwrap_or(&name);
                let name = rust_number(name).unwrap_or(name);
                last.ident = match name {
                    "Self" | "self" | "super" | "crate" => syn::Ident::new(name, last.ident.span()),
                    name => syn::Ident::new_raw(name, last.ident.span()),
                };
                *path = syn::Path { leading_colon: None, segments: [last].into_iter().collect() };
            }
        }
        let mut ty = bare(ty);
        Last([&self.renamed, self.of_module]).visit_type_mut(&mut ty);
        spaced(&ty)
    }

    fn ret(&self, ret: &syn::ReturnType) -> String {
        match ret {
            syn::ReturnType::Default => "()".to_string(),
            syn::ReturnType::Type(_, ty) => self.ty(ty),
        }
    }
}
