//! Whether a port may write a path, by its words: into Rust's libraries, `libc`, and generated modules. `allowed_names` has the
//! tables.

use super::allowed_names::{self, Refusal};
use super::module_names::ModuleNames;
use super::{Allowed, Candidate, Rule};
use crate::rust::item::{UseLeaf, mentions, plain};
use crate::rust::nonlocal_items::GENERATED;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;

pub(super) const FN_TYPE: &str = "a reply with `unsafe` may not write function pointer types, because memory could be read as one: \
    call functions by name, or pass them as arguments to `impl Fn(…)` or to the type from the bindings";
const TRANSMUTE: &str = "`transmute` only with both types written out, and never to something that can be called: \
    `transmute::<From, To>(…)`";

/// What a path of a crate begins with.
const CRATES: [&str; 7] = ["core", "alloc", "std", "libc", "crate", "self", "super"];
/// How a path stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Named,
    Called,
    Macro,
    /// An import, under another name.
    Renamed,
    /// An import, with everything in it.
    Glob,
}

/// Why a port may not have this path in its text.
pub(super) fn refusal(
    (candidate, allowed): (&Candidate<'_>, &Allowed),
    modules: &ModuleNames,
    path: &[String],
    how: How,
) -> Option<Refusal> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let may_be_module = modules.may_be_of_crate(&names);
    let is_module = may_be_module && names.last().is_some_and(|name| allowed.ported.contains_key(*name));
    if matches!(how, How::Renamed | How::Glob) && is_module {
        return Some(import_by_name(path));
    }
    refused_for_all(path, how).or_else(|| match names.as_slice() {
        _ if how == How::Macro => None,
        ["libc", name, ..] => of_libc(allowed, name),
        _ => {
            let inner = names.iter().skip_while(|name| matches!(**name, "crate" | "self" | "super"));
            of_crate((candidate, allowed), may_be_module, &inner.copied().collect::<Vec<_>>(), how)
        }
    })
}

/// Why no text of a port may have this path, whichever function it is for.
pub(super) fn refused_for_all(path: &[String], how: How) -> Option<Refusal> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    if how == How::Macro {
        return names.last().and_then(|name| allowed_names::macro_refusal(name));
    }
    if how == How::Renamed && matches!(names.last(), Some(&("transmute" | "transmute_copy"))) {
        return Some((Rule::FnPointer, TRANSMUTE.to_owned()));
    }
    let is_known = |name: &&str| CRATES.contains(name) || GENERATED.contains(name) || *name == "capi";
    let hides = match how {
        How::Renamed => names.iter().all(is_known),
        How::Glob => matches!(names.as_slice(), ["core" | "alloc" | "std"] | [.., "globals"]),
        How::Named | How::Called | How::Macro => false,
    };
    match names.as_slice() {
        _ if hides => Some(import_by_name(path)),
        [root @ ("core" | "alloc" | "std"), ..] => allowed_names::std_path(root, &path[1..]).err(),
        _ => None,
    }
}

fn import_by_name(path: &[String]) -> Refusal {
    (Rule::Path, format!("import `{}` by its own name, or by name what you need of it", path.join("::")))
}

/// Why an import of the module may not stand there: it acts in every port, and may give what the audit knows another
/// name. What it imports from elsewhere is judged where it is used: another port may do what this one may not.
pub(super) fn refused_import(leaf: &UseLeaf) -> Option<Refusal> {
    let last = leaf.path.last()?;
    let how = match &leaf.name {
        _ if leaf.glob => How::Glob,
        Some(name) if name != last => How::Renamed,
        _ => How::Named,
    };
    refused_for_all(&leaf.path, how)
}

fn of_libc(allowed: &Allowed, name: &str) -> Option<Refusal> {
    if allowed.must_be_replaceable(name) {
        let reason = format!(
            "programs can replace `{name}` for this library: use the variable that leads to it, as C does"
        );
        return Some((Rule::System, reason));
    }
    allowed_names::libc_name(name, allowed.libc.contains(name)).err()
}

/// Why a port may not have this path of its own crate, which is without `crate`, `self` and `super` at its start. Only where
/// `may_be_module` says so, its first name can be a module of the crate. What the crate does not have, the compiler refuses.
fn of_crate(
    (candidate, allowed): (&Candidate<'_>, &Allowed),
    may_be_module: bool,
    path: &[&str],
    how: How,
) -> Option<Refusal> {
    let reason = match path {
        ["ffi", name, ..] => return of_c(candidate, allowed, name, how).map(|why| (Rule::CallThrough, why)),
        ["callee", name] if *name == candidate.name => {
            format!("`crate::callee::{name}` is the function itself: it leads back to the C original")
        }
        ["callee", name] if allowed.ways_back.contains(*name) => {
            format!(
                "`crate::callee::{name}` leads back to the C original, or keeps state that the original does not keep"
            )
        }
        ["globals", name, ..] if allowed.is_variable_of_others(name) => {
            format!("`crate::globals::{name}` is a variable that the C function does not use")
        }
        ["capi", name] if how == How::Called => {
            format!("`crate::capi::{name}` has C's ABI: to call it, write `callee::{name}`")
        }
        ["capi", name] if *name == candidate.name || allowed.module_of(name).is_none() => {
            "`crate::capi` has the exported C names; a port may use only other ported functions there"
                .to_owned()
        }
        [module, name, ..] if may_be_module && allowed.ported.contains_key(*module) => {
            return not_ported(candidate, allowed, module, name);
        }
        [name] if *name != candidate.name && allowed.around.symbols.contains(*name) => {
            let is_library = allowed.callees.contains(*name);
            // A variable may have the name of a function of the library.
            let is_meant = how == How::Called || !is_library;
            return is_meant.then(|| not_ported(candidate, allowed, candidate.module, name)).flatten();
        }
        _ => return None,
    };
    Some((Rule::CallThrough, reason))
}

fn of_c(candidate: &Candidate<'_>, allowed: &Allowed, name: &str, how: How) -> Option<String> {
    // A struct and a function of C may have one name.
    let is_type = how != How::Called && allowed.ffi.items.contains(name);
    if !allowed.ffi.foreign.contains(name) || is_type {
        return None;
    }
    if allowed.has_global(name) {
        return Some(format!("`crate::ffi::{name}` is C's own variable; write `crate::globals::{name}`"));
    }
    let reason = format!("`crate::ffi::{name}` is the C original; a port may not call it");
    Some(match allowed.way_to(name).filter(|_| name != candidate.name) {
        Some(way) => format!("{reason}: write `{way}`"),
        None => reason,
    })
}

fn not_ported(candidate: &Candidate<'_>, allowed: &Allowed, module: &str, name: &str) -> Option<Refusal> {
    let is_own =
        module == candidate.module && (name == candidate.name || !allowed.around.symbols.contains(name));
    if is_own || allowed.is_ported(module, name) {
        return None;
    }
    let reason = match allowed.way_to(name) {
        Some(way) => format!("`{name}` is not ported yet: write `{way}`"),
        None => format!(
            "`crate::{module}::{name}` is public or in another module, and no ported function: a port may not use it"
        ),
    };
    Some((Rule::Path, reason))
}

/// Why `transmute` may not stand before these tokens: they must say that its result is data. `callbacks` are types of the
/// bindings that can be called.
pub(super) fn refused_transmute(after: &[TokenTree], callbacks: &BTreeSet<String>) -> Option<Refusal> {
    let types = generics(after);
    let is_callback =
        |token: &TokenTree| matches!(token, TokenTree::Ident(name) if callbacks.contains(&plain(name)));
    let all: TokenStream = types.iter().cloned().collect();
    let is_callable =
        ["fn", "dyn"].iter().any(|word| mentions(all.clone(), word)) || types.iter().any(is_callback);
    // What the compiler finds out by itself could be anything.
    let is_open = mentions(all.clone(), "_");
    let both = types.iter().any(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
    (!both || is_open || is_callable).then(|| (Rule::FnPointer, TRANSMUTE.to_owned()))
}

/// What stands between the brackets of `::<…>`.
fn generics(after: &[TokenTree]) -> &[TokenTree] {
    let marks = |token: &TokenTree| match token {
        TokenTree::Punct(mark) => Some(mark.as_char()),
        _ => None,
    };
    let mut depth = 0_usize;
    for (at, token) in after.iter().enumerate() {
        depth = match (at, marks(token)) {
            (0 | 1, Some(':')) => 0,
            (2.., Some('<')) => depth + 1,
            (2.., Some('>')) if depth == 1 => return &after[3..at],
            (2.., Some('>')) => depth.saturating_sub(1),
            (3.., _) if depth > 0 => depth,
            _ => return &[],
        };
    }
    &[]
}
