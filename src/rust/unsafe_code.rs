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
            || (self.places <= before.places && self.tokens * 4 <= before.tokens * 3)
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
            let is_unsafe = matches!(&tree, TokenTree::Ident(word) if word == "unsafe");
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

/// Whether the compiler refuses unsafe operations outside of `unsafe` blocks in the body of an `unsafe fn`.
fn is_checked(attrs: &[syn::Attribute], block: &syn::Block) -> bool {
    struct Lenient(bool);
    impl<'ast> Visit<'ast> for Lenient {
        fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
            self.0 |= ["allow", "expect", "warn"].iter().any(|lint| attr.path().is_ident(lint));
        }
    }
    let names = |attr: &syn::Attribute| attr.meta.to_token_stream().to_string().contains(CHECKED);
    let mut lenient = Lenient(false);
    lenient.visit_block(block);
    attrs.iter().any(|attr| attr.path().is_ident("deny") && names(attr))
        && !attrs.iter().any(|attr| attr.path().is_ident("allow") && names(attr))
        && !lenient.0
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

/// Functions that hide what they must be given: they are safe, have `unsafe` code, and take a pointer or stand in an
/// `impl`. Safe code can call them with any pointer, or make the value that they rely on.
pub fn unsound<'i>(items: impl IntoIterator<Item = &'i syn::Item>, requested: &str) -> Vec<String> {
    let is_pointer = |input: &syn::FnArg| match input {
        syn::FnArg::Typed(input) => has_pointer(input.ty.to_token_stream()),
        syn::FnArg::Receiver(_) => false,
    };
    let is_safe = |signature: &syn::Signature| !matches!(signature.safety, syn::Safety::Unsafe(_));
    let has_unsafe = |block: &syn::Block| {
        let mut walker = Walker::default();
        walker.visit_block(block);
        walker.found.count > 0
    };
    let mut found = Vec::new();
    for item in items {
        match item {
            syn::Item::Fn(item) if item.sig.ident != requested => {
                let hides =
                    is_safe(&item.sig) && item.sig.inputs.iter().any(is_pointer) && has_unsafe(&item.block);
                found.extend(hides.then(|| item.sig.ident.to_string()));
            }
            syn::Item::Impl(of) => found.extend(of.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(item) if is_safe(&item.sig) && has_unsafe(&item.block) => {
                    Some(item.sig.ident.to_string())
                }
                _ => None,
            })),
            _ => {}
        }
    }
    found
}

/// Whether a type has a raw pointer in it.
fn has_pointer(stream: TokenStream) -> bool {
    let mut after_star = false;
    stream.into_iter().any(|tree| {
        let is_qualifier = matches!(&tree, TokenTree::Ident(word) if word == "const" || word == "mut");
        let found = after_star && is_qualifier;
        after_star = matches!(&tree, TokenTree::Punct(p) if p.as_char() == '*');
        found || matches!(tree, TokenTree::Group(group) if has_pointer(group.stream()))
    })
}

/// The number of tokens, those in brackets included, without the word `unsafe`.
fn tokens(stream: TokenStream) -> usize {
    let one = |tree: TokenTree| match tree {
        TokenTree::Group(group) => tokens(group.stream()),
        TokenTree::Ident(word) if word == "unsafe" => 0,
        _ => 1,
    };
    stream.into_iter().map(one).sum()
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
        let lenient = checked.replace("g();", "#[allow(unsafe_op_in_unsafe_fn)] { g() };");
        assert!(of(&lenient).tokens > 3);
        // To leave out the block is not to be safer.
        let bare = of("unsafe fn f() { g(); h() }");
        assert!(!bare.is_less_than(of("unsafe fn f() { g(); unsafe { h() } }")));
    }

    #[test]
    fn one_block_around_everything_is_not_less() {
        let two = of("fn f() { unsafe { g() }; h(); unsafe { i() } }");
        assert!(!of("fn f() { unsafe { g(); h(); i() } }").is_less_than(two));
        assert!(of("fn f() { g(); h(); unsafe { i() } }").is_less_than(two));
        assert!(!two.is_less_than(two));
    }

    #[test]
    fn safe_functions_around_pointers_are_unsound() {
        let names = |text: &str| unsound(&syn::parse_str::<syn::File>(text).unwrap().items, "f");
        let at = "fn at(p: *const u8, i: usize) -> u8 { unsafe { *p.add(i) } }";
        assert_eq!(names(at), ["at"]);
        assert_eq!(names("fn at(p: Option<(*mut u8, u8)>) { unsafe { g(p) } }"), ["at"]);
        assert_eq!(names("impl P { fn at(&self) -> u8 { unsafe { *self.0 } } }"), ["at"]);
        let sound = "fn f(p: *const u8) { unsafe { *p } } unsafe fn g(p: *const u8) { h } fn h(p: &[u8]) { unsafe { p } } \
            fn i(p: *const u8) -> bool { p.is_null() }";
        assert!(names(sound).is_empty());
    }
}
