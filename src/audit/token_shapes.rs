//! What tokens look like: paths, marks, and what a type or a static is made of. It judges nothing.

use super::allowed_names;
use crate::rust::item::{PRIMITIVE, plain};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// The names of the path that the tokens begin with, and the number of its tokens. `std::<>::env` is `std::env`.
pub(super) fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut read = 0;
    while let Some(TokenTree::Ident(name)) = tokens.get(read) {
        names.push(plain(name));
        read += 1;
        while is_marks(&tokens[read..], "::<>") {
            read += 4;
        }
        let goes_on =
            is_marks(&tokens[read..], "::") && matches!(tokens.get(read + 2), Some(TokenTree::Ident(_)));
        if !goes_on {
            break;
        }
        read += 2;
    }
    (names, read)
}

/// Whether tokens begin with these punctuation marks.
pub(super) fn is_marks(tokens: &[TokenTree], marks: &str) -> bool {
    let is = |(token, wanted): (&TokenTree, char)| matches!(token, TokenTree::Punct(mark) if mark.as_char() == wanted);
    tokens.len() >= marks.len() && tokens.iter().zip(marks.chars()).all(is)
}

/// Whether a name before these tokens is called as a macro. `a != b` is none.
pub(super) fn begins_call_of_macro(after: &[TokenTree]) -> bool {
    let is_mark = matches!(after.first(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
    is_mark && !matches!(after.get(1), Some(TokenTree::Punct(mark)) if mark.as_char() == '=')
}

/// The names of variables: of parameters, of closures, and in all other patterns.
pub(super) fn bound(items: &[&syn::Item]) -> BTreeSet<String> {
    #[derive(Default)]
    struct Names(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.0.insert(plain(&pat.ident));
            visit::visit_pat_ident(self, pat);
        }
    }
    let mut names = Names::default();
    items.iter().for_each(|item| names.visit_item(item));
    names.0
}

/// Whether a type has only numbers, text, arrays and references.
pub(super) fn is_plain(ty: &[TokenTree]) -> bool {
    ty.iter().all(|token| match token {
        TokenTree::Ident(word) => PRIMITIVE.iter().chain(&["static", "_"]).any(|plain| word == plain),
        TokenTree::Group(group) => is_plain(&group.stream().into_iter().collect::<Vec<_>>()),
        _ => true,
    })
}

/// The first type of Rust's libraries that can change behind a shared reference; `own` are names of the reply.
pub(super) fn interior(tokens: TokenStream, own: &BTreeSet<String>) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => {
            Some(plain(&word)).filter(|name| allowed_names::is_interior(name) && !own.contains(name))
        }
        TokenTree::Group(group) => interior(group.stream(), own),
        _ => None,
    })
}

pub(super) fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';')
}

pub(super) fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':')
}

pub(super) fn is_parenthesis(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}
