//! How much of a port's code is `unsafe`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// The lint that makes `unsafe` blocks necessary inside an `unsafe fn`.
const CHECKED: &str = "unsafe_op_in_unsafe_fn";

/// The `unsafe` code of some items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnsafeCode {
    /// All `unsafe` blocks and `unsafe fn`s.
    pub count: usize,
    /// `unsafe` blocks, and bodies of `unsafe fn`s in which the compiler asks for no blocks; those inside others do not count.
    pub places: usize,
    /// Tokens in these places, without the word `unsafe`.
    pub tokens: usize,
}

impl UnsafeCode {
    /// The `unsafe` code of these items.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i syn::Item>) -> Self {
        let mut walker = Walker::default();
        items.into_iter().for_each(|item| walker.visit_item(item));
        walker.found
    }

    /// Whether there is less of it than `before`: fewer places with no more code in them, or as many with a quarter less.
    /// A block around everything is not less than two small ones.
    pub fn is_less_than(self, before: Self) -> bool {
        (self.places < before.places && self.tokens <= before.tokens)
            || (self.places <= before.places
                && self.tokens < before.tokens
                && self.tokens * 4 <= before.tokens * 3)
    }
}

#[derive(Default)]
struct Walker {
    found: UnsafeCode,
    is_inside: bool,
}

impl Walker {
    fn place(&mut self, tokens: usize, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_inside, true);
        if !before {
            self.found.places += 1;
            self.found.tokens += tokens;
        }
        walk(self);
        self.is_inside = before;
    }

    /// The `unsafe` blocks in the arguments of a macro, which are no syntax yet.
    fn arguments(&mut self, stream: TokenStream) {
        let mut after_unsafe = false;
        for tree in stream {
            // Up to its block, as in `unsafe fn f() {}`.
            let is_unsafe = match &tree {
                TokenTree::Ident(word) if word == "unsafe" => true,
                TokenTree::Punct(p) if p.as_char() == ';' => false,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => false,
                _ => after_unsafe,
            };
            if let TokenTree::Group(group) = tree {
                let is_block = after_unsafe && group.delimiter() == Delimiter::Brace;
                self.found.count += usize::from(is_block);
                match is_block {
                    true => self.place(tokens(group.stream()), |walker| walker.arguments(group.stream())),
                    false => self.arguments(group.stream()),
                }
            }
            after_unsafe = is_unsafe;
        }
    }

    fn function(&mut self, attrs: &[syn::Attribute], signature: &syn::Signature, block: &syn::Block) {
        let is_unsafe = matches!(signature.safety, syn::Safety::Unsafe(_));
        self.found.count += usize::from(is_unsafe);
        match is_unsafe && !is_checked(attrs, block) {
            true => self.place(tokens(block.to_token_stream()), |walker| walker.visit_block(block)),
            false => self.visit_block(block),
        }
    }
}

/// Whether the compiler refuses unsafe operations outside of `unsafe` blocks in the body of an `unsafe fn`: the lint is
/// denied, and nothing in or at the function could allow it again.
fn is_checked(attrs: &[syn::Attribute], block: &syn::Block) -> bool {
    let is = |attr: &syn::Attribute, lints: &[&str]| lints.iter().any(|lint| attr.path().is_ident(lint));
    let denies = |attr: &syn::Attribute| {
        is(attr, &["deny"]) && attr.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident(CHECKED))
    };
    let is_lenient = attrs.iter().any(|attr| is(attr, &LENIENT));
    attrs.iter().any(denies) && !is_lenient && !mentions(block.to_token_stream(), &LENIENT)
}

/// Attributes that change the level of a lint back.
const LENIENT: [&str; 3] = ["allow", "expect", "warn"];

/// Whether an attribute of one of these names stands anywhere in the tokens.
fn mentions(stream: TokenStream, names: &[&str]) -> bool {
    let mut after_hash = false;
    stream.into_iter().any(|tree| {
        let is_attribute =
            std::mem::replace(&mut after_hash, matches!(&tree, TokenTree::Punct(p) if p.as_char() == '#'));
        let TokenTree::Group(group) = tree else { return false };
        let first = group.stream().into_iter().next();
        let is_named = matches!(first, Some(TokenTree::Ident(word)) if names.iter().any(|name| word == name));
        (is_attribute && is_named) || mentions(group.stream(), names)
    })
}

impl<'ast> Visit<'ast> for Walker {
    fn visit_expr_unsafe(&mut self, expr: &'ast syn::ExprUnsafe) {
        self.found.count += 1;
        let tokens = tokens(expr.block.to_token_stream());
        self.place(tokens, |walker| visit::visit_expr_unsafe(walker, expr));
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.arguments(called.tokens.clone());
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }
}

/// Helpers that hide `unsafe` code: safe functions and closures with parameters that have `unsafe` blocks inside. Safe code
/// could call them with any argument, and one block in them stands for many calls.
pub fn hiding<'i>(items: impl IntoIterator<Item = &'i syn::Item>, requested: &str) -> Vec<String> {
    let mut search = Hiding { requested: requested.to_owned(), depth: 0, found: Vec::new() };
    items.into_iter().for_each(|item| search.visit_item(item));
    search.found
}

struct Hiding {
    requested: String,
    depth: usize,
    found: Vec<String>,
}

impl Hiding {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let is_safe = !matches!(signature.safety, syn::Safety::Unsafe(_)) && !signature.inputs.is_empty();
        let is_requested = self.depth == 0 && signature.ident == self.requested;
        let mut walker = Walker::default();
        walker.visit_block(block);
        if is_safe && !is_requested && walker.found.count > 0 {
            self.found.push(signature.ident.to_string());
        }
        self.depth += 1;
        self.visit_block(block);
        self.depth -= 1;
    }
}

impl<'ast> Visit<'ast> for Hiding {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // What is dropped is not called with any argument.
        let of = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        if of.is_none_or(|of| of.ident != "Drop") {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let mut walker = Walker::default();
        walker.visit_expr(&closure.body);
        if !closure.inputs.is_empty() && walker.found.count > 0 {
            self.found.push("a closure".to_owned());
        }
        visit::visit_expr_closure(self, closure);
    }
}

/// The number of tokens, those in brackets included, without the word `unsafe`. A path is one token.
fn tokens(stream: TokenStream) -> usize {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let is_colon = |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    let one = |at: usize| match &trees[at] {
        TokenTree::Group(group) => tokens(group.stream()),
        TokenTree::Ident(word) if word == "unsafe" => 0,
        TokenTree::Ident(_) if is_colon(at + 1) && is_colon(at + 2) => 0,
        TokenTree::Punct(p) if p.as_char() == ':' => 0,
        _ => 1,
    };
    (0..trees.len()).map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> UnsafeCode {
        UnsafeCode::of(&syn::parse_str::<syn::File>(text).unwrap().items)
    }

    #[test]
    fn blocks_and_unchecked_bodies_count_and_nested_ones_do_not() {
        assert_eq!(of("fn f() { 1 + 1; }"), UnsafeCode::default());
        assert_eq!(of("fn f() { unsafe { g() } }"), UnsafeCode { count: 1, places: 1, tokens: 1 });
        assert_eq!(
            of("unsafe fn f() { unsafe { g() }; h() }"),
            UnsafeCode { count: 2, places: 1, tokens: 3 }
        );
        assert_eq!(of("impl A { unsafe fn f(&self) { g } fn h() { unsafe { i } } }").count, 2);
        assert_eq!(
            of("fn f() { assert!(unsafe { g(unsafe { h }) }) }"),
            UnsafeCode { count: 2, places: 1, tokens: 2 }
        );
        // A type is no unsafe code.
        assert_eq!(of("fn f(g: unsafe fn(u8)) {}"), UnsafeCode::default());
    }

    #[test]
    fn only_the_blocks_of_a_checked_body_count() {
        let checked = "#[deny(unsafe_op_in_unsafe_fn)] unsafe fn f() { g(); unsafe { h() } }";
        assert_eq!(of(checked), UnsafeCode { count: 2, places: 1, tokens: 1 });
        for (from, to) in [
            ("g();", "#[allow(unsafe_op_in_unsafe_fn)] { g() };"),
            ("g();", "a!(#[warn(unused)] { g() });"),
            ("unsafe fn f", "#[warn(rust_2024_compatibility)] unsafe fn f"),
            ("(unsafe_op_in_unsafe_fn)", "(unused, reason = \"unsafe_op_in_unsafe_fn\")"),
        ] {
            assert!(of(&checked.replace(from, to)).tokens > 1, "{to}");
        }
        // To leave out the block is not to be safer.
        let bare = of("unsafe fn f() { g(); h() }");
        assert!(!bare.is_less_than(of("unsafe fn f() { g(); unsafe { h() } }")));
    }

    #[test]
    fn one_block_around_everything_is_not_less() {
        let two = of("fn f() { unsafe { g() }; h(); unsafe { i() } }");
        assert!(!of("fn f() { unsafe { g(); h(); i() } }").is_less_than(two));
        assert!(of("fn f() { g(); h(); unsafe { i() } }").is_less_than(two));
        assert!(!two.is_less_than(two) && !UnsafeCode::default().is_less_than(UnsafeCode::default()));
    }

    #[test]
    fn safe_helpers_that_hide_unsafe_code_are_named() {
        let names = |text: &str| hiding(&syn::parse_str::<syn::File>(text).unwrap().items, "f");
        for hidden in [
            "fn at(p: *const u8, i: usize) -> u8 { unsafe { *p.add(i) } }",
            "type P = *const u8; fn at(p: P) -> u8 { unsafe { *p } }",
            "fn f(p: *const u8) -> u8 { fn at(p: *const u8) -> u8 { unsafe { *p } } at(p) }",
            "impl P { fn at(&self) -> u8 { unsafe { *self.0 } } }",
        ] {
            assert_eq!(names(hidden), ["at"], "{hidden}");
        }
        assert_eq!(
            names("fn f(p: *const u8) -> u8 { let at = |i| unsafe { *p.add(i) }; at(1) }"),
            ["a closure"]
        );
        let sound = "fn f(p: *const u8) { unsafe { *p } } unsafe fn g(p: *const u8) { unsafe { *p } } \
            fn h(p: &[u8]) -> u8 { p[0] } impl Drop for P { fn drop(&mut self) { unsafe { free(self.0) } } }";
        assert!(names(sound).is_empty());
    }

    #[test]
    fn a_slice_at_the_beginning_is_little_code() {
        let old = of("fn f() { while i < n { h ^= unsafe { (*p.add(i)).a ^ *p.add(j) }; } }");
        assert!(of("fn f() { let s = unsafe { core::slice::from_raw_parts(p, n) }; }").is_less_than(old));
    }
}
