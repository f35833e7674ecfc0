//! Fuzz targets that a person or a model wrote, `rust/fuzz/targets/<symbol>.rs`: the file's text, what it may contain, and who
//! wrote it. `templates/fuzz/side.rs` is the interface of a target.

use crate::audit::{self, Allowed, Candidate, FfiNames};
use crate::harness::emit::target::target_file;
use proc_macro2::{TokenStream, TokenTree};
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
    problems.extend(
        body.parse().ok().and_then(named_libc).map(|line| {
            (line, "`libc` is not allowed in a fuzz target: memory comes from `side`".to_owned())
        }),
    );
    problems.sort();
    problems
}

/// The line that names `libc`.
fn named_libc(tokens: TokenStream) -> Option<usize> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == "libc" => Some(ident.span().start().line),
        TokenTree::Group(group) => named_libc(group.stream()),
        _ => None,
    })
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
            ("crate::side::callee(side);", "unknown path"),
            ("super::run();", "unknown path"),
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
