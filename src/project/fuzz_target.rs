//! Fuzz targets that a person or a model wrote, `rust/fuzz/targets/<symbol>.rs`: the file's text, what it may contain, and who
//! wrote it. `templates/fuzz/side.rs` is the interface of a target.

use crate::audit::{self, Allowed, Candidate, FfiNames};
use crate::harness::emit::target::target_file;
use crate::rust::item::{self, plain};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

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
    problems.extend(Beyond::find(&body, ffi));
    problems.sort();
    problems
}

/// What a path may begin with, beside names of the prelude and types of the file.
const HEADS: [&str; 8] = ["core", "std", "alloc", "ffi", "Self", "self", "Input", "Side"];

/// Finds what leads out of the file of a target, or gives something another name. No other wall stands behind this: a target
/// runs beside both sides.
struct Beyond<'a> {
    ffi: &'a FfiNames,
    /// Types and type parameters of the file.
    own: BTreeSet<String>,
    problems: Vec<(usize, String)>,
}

impl<'a> Beyond<'a> {
    fn find(text: &str, ffi: &'a FfiNames) -> Vec<(usize, String)> {
        // The audit tells what is no Rust.
        let Ok(file) = item::parse(text) else { return Vec::new() };
        let mut names = Types::default();
        names.visit_file(&file);
        let mut beyond = Self { ffi, own: names.0, problems: Vec::new() };
        beyond.visit_file(&file);
        beyond.problems
    }

    fn refuse(&mut self, span: Span, what: &str) {
        let reason = format!(
            "{what} is not allowed in a fuzz target: it has `Input`, `Side`, `ffi`, and Rust's own libraries"
        );
        self.problems.push((span.start().line, reason));
    }
}

impl<'ast> Visit<'ast> for Beyond<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item;
        match item {
            Item::Const(_)
            | Item::Enum(_)
            | Item::Fn(_)
            | Item::Impl(_)
            | Item::Struct(_)
            | Item::Type(_) => {}
            Item::Static(_) => self.refuse(item.span(), "a `static`, which outlives a call,"),
            _ => self.refuse(item.span(), "this item"),
        }
        visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| plain(&segment.ident)).collect();
        let known = |name: &str| HEADS.contains(&name) || audit::is_prelude(name) || self.own.contains(name);
        if path.leading_colon.is_some() || (names.len() > 1 && !known(&names[0])) {
            self.refuse(path.span(), &format!("`{}`", path.to_token_stream().to_string().replace(' ', "")));
        } else if let Some(name) = names
            .iter()
            .find(|name| matches!(name.as_str(), "libc" | "crate" | "super" | "transmute" | "transmute_copy"))
        {
            self.refuse(path.span(), &format!("`{name}`"));
        }
        visit::visit_path(self, path);
    }

    /// A struct may have the name of a function, which a value is not.
    fn visit_expr_path(&mut self, expr: &'ast syn::ExprPath) {
        let names: Vec<String> = expr.path.segments.iter().map(|segment| plain(&segment.ident)).collect();
        if let [.., module, name] = names.as_slice()
            && module == "ffi"
            && self.ffi.is_foreign(name)
        {
            self.refuse(expr.span(), &format!("the C function or variable `{name}`"));
        }
        visit::visit_expr_path(self, expr);
    }

    /// The audit reads attributes.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    /// Syntax that the parser does not know.
    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.refuse(tokens.span(), "syntax that the tool cannot read");
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_path(&mac.path);
        let tokens = &mac.tokens;
        // `assert!(a, b)` and `vec![a; n]` are lists.
        match syn::parse2::<syn::Expr>(quote!([#tokens])) {
            Ok(arguments) => self.visit_expr(&arguments),
            Err(_) => self.refuse(mac.path.span(), "a macro with other arguments than expressions"),
        }
    }
}

/// The types and type parameters that a file declares.
#[derive(Default)]
struct Types(BTreeSet<String>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if matches!(item, syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Type(_)) {
            self.0.extend(item::item_name(item));
        }
        visit::visit_item(self, item);
    }

    fn visit_type_param(&mut self, param: &'ast syn::TypeParam) {
        self.0.insert(plain(&param.ident));
        visit::visit_type_param(self, param);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ffi() -> Arc<FfiNames> {
        let text = "#[repr(C)] pub struct node { pub next: *mut node } unsafe extern \"C\" { pub fn walk(n: *mut node) -> i32; pub fn stat(n: *mut stat) -> i32; } pub struct stat { pub x: i32 }";
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
        let helpers = "enum Kind { One, Two }\nfn make<T: Default>() -> T { T::default() }\n";
        let body = "let name: &'static str = \"x\"; let all = vec![make::<u32>(); 2]; let n = self::make::<usize>(); \
            match Kind::One { Kind::One => assert!(n == 0, \"{name}\"), Kind::Two => {} } side.call(all.as_ptr().cast::<ffi::node>().cast_mut());";
        assert_eq!(reasons(&format!("{helpers}{}", target(body))), "");
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
            ("unsafe { libc::free(std::ptr::null_mut()) };", "`libc::free` is not allowed in a fuzz target"),
            ("crate::side::callee(side);", "`crate::side::callee` is not allowed"),
            ("super::run();", "`super::run` is not allowed"),
            ("port::f();", "`port::f` is not allowed"),
            ("Kit::f();", "`Kit::f` is not allowed"),
            ("::port::f();", "`::port::f` is not allowed"),
            ("if 1 > ::port::f() {}", "`::port::f` is not allowed"),
            ("port::<>::m::f();", "`port::<>::m::f` is not allowed"),
            ("if std::<>::env::var(\"X\").is_ok() { return; }", "may not depend on the environment"),
            ("unsafe { ffi::<>::walk(std::ptr::null_mut()); }", "is the C original"),
            ("let f = ffi::walk;", "is the C original"),
            ("let f = ffi::stat; unsafe { f(std::ptr::null_mut()) };", "the C function or variable `stat`"),
            ("use std as s; s::process::exit(0);", "this item is not allowed"),
            ("assert!({ port::f(); true });", "`port::f` is not allowed"),
            ("macro_rules! m { () => { port::f() } } m!();", "this item is not allowed"),
            ("println!(a b);", "other arguments than expressions"),
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
