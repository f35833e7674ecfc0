//! How much of a port's code is `unsafe`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// The `unsafe` code of some items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnsafeCode {
    /// `unsafe` blocks and `unsafe fn`s.
    pub count: usize,
    /// Tokens in these; what stands in two of them counts once.
    pub tokens: usize,
}

impl UnsafeCode {
    /// The `unsafe` code of these items.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i syn::Item>) -> Self {
        let mut walker = Walker::default();
        items.into_iter().for_each(|item| walker.visit_item(item));
        walker.found
    }

    /// Whether there is less of it than `before`: fewer places, and no more code in them. A block around everything is not
    /// less than two small ones.
    pub fn is_less_than(self, before: Self) -> bool {
        self.count < before.count && self.tokens <= before.tokens
    }
}

#[derive(Default)]
struct Walker {
    found: UnsafeCode,
    is_inside: bool,
}

impl Walker {
    fn inside(&mut self, block: &syn::Block, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_inside, true);
        if !before {
            self.found.tokens += tokens(block.to_token_stream());
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
                let before = self.is_inside;
                if after_unsafe && group.delimiter() == Delimiter::Brace {
                    self.found.count += 1;
                    self.found.tokens += if before { 0 } else { tokens(group.stream()) };
                    self.is_inside = true;
                }
                self.arguments(group.stream());
                self.is_inside = before;
            }
            after_unsafe = is_unsafe;
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        match signature.safety {
            syn::Safety::Unsafe(_) => self.inside(block, |walker| walker.visit_block(block)),
            _ => self.visit_block(block),
        }
    }
}

impl<'ast> Visit<'ast> for Walker {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.found.count += usize::from(matches!(signature.safety, syn::Safety::Unsafe(_)));
        visit::visit_signature(self, signature);
    }

    fn visit_expr_unsafe(&mut self, expr: &'ast syn::ExprUnsafe) {
        self.found.count += 1;
        self.inside(&expr.block, |walker| visit::visit_expr_unsafe(walker, expr));
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.arguments(called.tokens.clone());
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.visit_signature(&item.sig);
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.visit_signature(&item.sig);
        self.function(&item.sig, &item.block);
    }
}

/// The number of tokens, those in brackets included.
fn tokens(stream: TokenStream) -> usize {
    let one = |tree: TokenTree| match tree {
        TokenTree::Group(group) => tokens(group.stream()),
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
    fn blocks_and_functions_count_and_nested_code_counts_once() {
        assert_eq!(of("fn f() { 1 + 1; }"), UnsafeCode::default());
        assert_eq!(of("fn f() { unsafe { g() } }"), UnsafeCode { count: 1, tokens: 1 });
        assert_eq!(of("unsafe fn f() { unsafe { g() }; h() }"), UnsafeCode { count: 2, tokens: 4 });
        assert_eq!(of("impl A { unsafe fn f(&self) { g } fn h() { unsafe { i } } }").count, 2);
        assert_eq!(of("fn f() { assert!(unsafe { g(unsafe { h }) }) }"), UnsafeCode { count: 2, tokens: 3 });
        // A type is no unsafe code.
        assert_eq!(of("fn f(g: unsafe fn(u8)) {}"), UnsafeCode::default());
    }

    #[test]
    fn one_block_around_everything_is_not_less() {
        let two = of("fn f() { unsafe { g() }; h(); unsafe { i() } }");
        assert!(!of("fn f() { unsafe { g(); h(); i() } }").is_less_than(two));
        assert!(of("fn f() { g(); h(); unsafe { i() } }").is_less_than(two));
        assert!(!two.is_less_than(two));
    }
}
