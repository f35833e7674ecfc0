//! Fuzz targets that a person or a model wrote, `rust/fuzz/targets/<symbol>.rs`: the file's text, what it may contain, and who
//! wrote it. `templates/fuzz/side.rs` is the interface of a target.

use crate::audit::{self, Allowed, Candidate, FfiNames};
use crate::harness::emit::target::target_file;
use crate::rust::item;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names that a target may use besides Rust's own.
pub(super) const IMPORT: &str = "use super::{Input, Side, ffi};";
const PROPOSED: &str = "// Proposed by `";

/// The file of a symbol's target; `rust` is the port crate.
pub fn path(rust: &Path, symbol: &str) -> PathBuf {
    rust.join(target_file(symbol))
}

/// The text of the file for a model's reply.
pub fn proposed(symbol: &str, model: &str, reply: &str) -> String {
    let model = model.replace(['`', '\n'], " ");
    format!(
        "// Fuzz target of `{symbol}`: how it is called. Both sides go through it; the harness compares the results.\n\
         {PROPOSED}{model}`, not approved yet: cargo implfuzz contract --approve {symbol}\n\n{IMPORT}\n\n{}\n",
        reply.trim()
    )
}

/// The model that wrote a target, until a person approves the target.
pub fn proposed_by(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with(PROPOSED))?;
    line.strip_prefix(PROPOSED)?.split('`').next()
}

/// The text after a person's approval; `None` where there is nothing to approve.
pub fn approved(text: &str) -> Option<String> {
    proposed_by(text)?;
    let line = text.lines().find(|line| line.starts_with(PROPOSED))?;
    Some(text.replacen(&format!("{line}\n"), "", 1))
}

/// The problems of a target's text: line and reason. A target may build arguments and compute, but reach nothing
/// else.
pub fn problems(text: &str, ffi: &Arc<FfiNames>) -> Vec<(usize, String)> {
    let signature: syn::Signature = syn::parse_quote!(fn target(input: &mut Input, side: &mut Side));
    let allowed = Allowed { ffi: Arc::clone(ffi), ..Allowed::new(signature) };
    let around = allowed.in_module("use crate::ffi; struct Input; struct Side;");
    let allowed = around.expect("what stands there is Rust");
    let body = text.replacen(IMPORT, "", 1);
    let report = audit::audit(&Candidate { module: "target", name: "target", text: &body }, &allowed);
    let mut problems: Vec<(usize, String)> =
        report.problems.into_iter().map(|problem| (problem.line, problem.reason)).collect();
    if let Ok(tokens) = body.parse() {
        beyond_the_file(tokens, &own_types(&body), &mut problems);
    }
    problems.sort();
    problems
}

/// Words by which a target would reach what it is not given, or give something another name. No other wall stands behind
/// this: a target runs beside both sides.
const BEYOND: [&str; 10] =
    ["use", "crate", "super", "mod", "macro_rules", "extern", "trait", "union", "transmute", "fn_addr_eq"];

/// What a path may begin with, beside primitive types, types of the prelude, and types of the file.
const HEADS: [&str; 7] = ["core", "std", "alloc", "ffi", "Self", "Input", "Side"];

/// The lines with words that may not stand in a target. `own` are the types that it declares.
fn beyond_the_file(tokens: TokenStream, own: &BTreeSet<String>, problems: &mut Vec<(usize, String)>) {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in list.iter().enumerate() {
        let line = token.span().start().line;
        match token {
            TokenTree::Group(group) => beyond_the_file(group.stream(), own, problems),
            TokenTree::Ident(ident) => {
                // `of::<T>` has only types behind it.
                let goes_on = begins_tail(&list[at + 1..])
                    && !matches!(list.get(at + 3), Some(TokenTree::Punct(mark)) if mark.as_char() == '<');
                let is_head = goes_on && !(at >= 2 && begins_tail(&list[at - 2..]));
                let reason = refused_word(&ident.to_string(), is_head, own);
                problems.extend(reason.map(|reason| (line, reason)));
            }
            // A path from the root of all crates.
            TokenTree::Punct(mark) if mark.as_char() == ':' && begins_tail(&list[at..]) => {
                let goes_on = at > 0
                    && match &list[at - 1] {
                        TokenTree::Ident(_) => true,
                        TokenTree::Punct(before) => matches!(before.as_char(), '>' | ':'),
                        _ => false,
                    };
                if !goes_on {
                    problems
                        .push((line, "a path of a fuzz target begins with a name, not with `::`".to_owned()));
                }
            }
            _ => {}
        }
    }
}

/// Whether tokens begin with `::`.
fn begins_tail(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
    tokens.len() >= 2 && tokens[..2].iter().all(is_colon)
}

fn refused_word(word: &str, is_head: bool, own: &BTreeSet<String>) -> Option<String> {
    if word == "libc" {
        return Some("`libc` is not allowed in a fuzz target: memory comes from `side`".to_owned());
    }
    if word == "static" {
        return Some("`static` is not allowed in a fuzz target: it outlives a call".to_owned());
    }
    let is_known = || HEADS.contains(&word) || audit::is_prelude(word) || own.contains(word);
    let is_beyond = BEYOND.contains(&word) || (is_head && !is_known());
    is_beyond.then(|| {
        format!("`{word}` is not allowed in a fuzz target: it has `Input`, `Side`, `ffi`, and Rust's own libraries")
    })
}

/// The types that the file declares.
fn own_types(text: &str) -> BTreeSet<String> {
    let items = item::parse(text).map(|file| file.items).unwrap_or_default();
    let is_type =
        |item: &&syn::Item| matches!(item, syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Type(_));
    items.iter().filter(is_type).filter_map(item::item_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ffi() -> Arc<FfiNames> {
        let text = "#[repr(C)] pub struct node { pub next: *mut node } unsafe extern \"C\" { pub fn walk(n: *mut node) -> i32; }";
        Arc::new(FfiNames::read(text).unwrap())
    }

    fn reasons(body: &str) -> String {
        let text = proposed("walk", "m", body);
        let problems = problems(&text, &ffi());
        problems.iter().map(|(line, reason)| format!("{line}: {reason}\n")).collect()
    }

    fn target(body: &str) -> String {
        format!("pub fn target(input: &mut Input, side: &mut Side) {{\n    {body}\n}}\n")
    }

    #[test]
    fn what_builds_a_call_may_stand_there() {
        let honest = "let n = input.below(4) + 1;\n    let nodes = side.zeroed::<ffi::node>(n);\n    \
            for at in 1..n {\n        unsafe { (*nodes.add(at - 1)).next = nodes.add(at) };\n    }\n    \
            let told = side.call(nodes);\n    side.see(\"told\", told.max(0));";
        assert_eq!(reasons(&target(honest)), "");
        assert_eq!(
            reasons(&format!("const MOST: usize = 3;\n{}", target("side.call(std::ptr::null_mut());"))),
            ""
        );
    }

    #[test]
    fn whatever_could_tell_the_sides_apart_or_reach_further_is_refused() {
        for (body, said) in [
            ("unsafe { ffi::walk(std::ptr::null_mut()); }", "is the C original"),
            (
                "if std::env::var(\"IMPLFUZZ_SUBJECT\").is_ok() { return; }",
                "may not depend on the environment",
            ),
            ("std::fs::write(\"x\", \"y\");", "may not touch files"),
            ("std::process::exit(0);", "may not start, end or leave processes"),
            ("let _ = std::panic::catch_unwind(|| 1);", "may not catch or hide panics"),
            (
                "static N: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);",
                "outlives a call",
            ),
            ("unsafe { libc::free(std::ptr::null_mut()) };", "`libc` is not allowed"),
            ("crate::side::callee(side);", "`crate` is not allowed"),
            ("super::run();", "`super` is not allowed"),
            ("::port::f();", "not with `::`"),
            ("port::f();", "`port` is not allowed"),
            ("Kit::f();", "`Kit` is not allowed"),
            ("use std as s; s::process::exit(0);", "`use` is not allowed"),
            ("unimplemented!();", "stub"),
        ] {
            let told = reasons(&target(body));
            assert!(told.contains(said), "{body}: {told}");
        }
        assert!(reasons("fn other() {}").contains("no function `target`"));
        assert!(
            reasons(&target("").replace("side: &mut Side", "side: &Side"))
                .contains("the signature must stay")
        );
        assert!(reasons("#![allow(warnings)]\n").contains("whole file"));
    }

    #[test]
    fn approval_takes_one_line_out() {
        let text = proposed("walk", "anthropic/m", &target("side.call(std::ptr::null_mut());"));
        assert_eq!(proposed_by(&text), Some("anthropic/m"));
        let approved = approved(&text).unwrap();
        assert_eq!(proposed_by(&approved), None);
        assert_eq!(super::approved(&approved), None);
        assert_eq!(approved.lines().count() + 1, text.lines().count());
    }
}
