//! Reads a reply word by word: paths into crates and into generated modules, macros, attributes, `extern`, statics. No
//! name is resolved: what goes by another name is left to the compiler, the linkage proof and the run.
//!
//! It reads tokens, so that the text of a macro is read like all other text.

use super::attributes;
use super::paths::{self, How};
use super::std_api::{self, Refusal};
use super::{Allowed, Candidate, Problems, Rule};
use crate::rust::item::{mentions, plain};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Reads the whole reply.
pub(super) fn check(
    candidate: &Candidate<'_>,
    allowed: &Allowed,
    items: &[&syn::Item],
    problems: &mut Problems<'_>,
) {
    let tokens: TokenStream = items.iter().map(|item| item.to_token_stream()).collect();
    let mut reader = Reader {
        candidate,
        allowed,
        problems,
        has_macros: mentions(tokens.clone(), "macro_rules"),
        has_unsafe: mentions(tokens.clone(), "unsafe"),
        interior: interior(tokens.clone()),
    };
    reader.stream(tokens);
}

struct Reader<'w, 'p> {
    candidate: &'w Candidate<'w>,
    allowed: &'w Allowed,
    problems: &'w mut Problems<'p>,
    /// Whether the reply defines a macro, which can put tokens together.
    has_macros: bool,
    has_unsafe: bool,
    /// A type in the reply that can change behind a shared reference: a static could have it under another name.
    interior: Option<String>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, span: Span, refusal: Option<Refusal>) {
        if let Some((rule, reason)) = refusal {
            self.problems.add(rule, span, reason);
        }
    }

    fn stream(&mut self, tokens: TokenStream) {
        let list: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < list.len() {
            let (before, here) = (at.checked_sub(1).map(|before| &list[before]), &list[at..]);
            at += match &here[0] {
                TokenTree::Group(group) => {
                    self.stream(group.stream());
                    1
                }
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute(here),
                TokenTree::Punct(mark) if mark.as_char() == '$' => self.variable_of_macro(here),
                TokenTree::Ident(word) => self.word(word, before, here),
                _ => 1,
            };
        }
    }

    /// `#[…]` or `#![…]`; the number of tokens read. A macro can put any other `#` before something.
    fn attribute(&mut self, here: &[TokenTree]) -> usize {
        let (inner, group) = match here {
            [_, TokenTree::Punct(mark), TokenTree::Group(group), ..] if mark.as_char() == '!' => {
                (true, group)
            }
            [_, TokenTree::Group(group), ..] => (false, group),
            _ => {
                let reason = "`#` without its attribute beside it is not allowed in a port";
                self.refuse(here[0].span(), Some((Rule::Attribute, reason.to_owned())));
                return 1;
            }
        };
        let refusal = attributes::refusal(group.stream(), inner).map(|reason| (Rule::Attribute, reason));
        self.refuse(here[0].span(), refusal);
        if inner { 3 } else { 2 }
    }

    /// `$name`, where a macro is defined.
    fn variable_of_macro(&mut self, here: &[TokenTree]) -> usize {
        if let [_, TokenTree::Ident(name), after @ ..] = here
            && begins_call_of_macro(after)
        {
            let reason = format!("`${name}!` calls a macro by a name that the audit cannot read");
            self.refuse(name.span(), Some((Rule::Macro, reason)));
        }
        1
    }

    /// A word and the path that begins with it; the number of tokens read.
    fn word(&mut self, word: &Ident, before: Option<&TokenTree>, here: &[TokenTree]) -> usize {
        let (span, name) = (word.span(), plain(word));
        match name.as_str() {
            "use" if !matches!(here.get(1), Some(TokenTree::Punct(mark)) if mark.as_char() == '<') => {
                let end = here.iter().position(is_semicolon).unwrap_or(here.len());
                self.imports(&[], &here[1..end]);
                end
            }
            "extern" => {
                self.refuse(span, refused_extern(&here[1..]));
                1
            }
            "static" => {
                let refusal = self.refused_static(here.get(1));
                self.refuse(span, refusal);
                1
            }
            "fn" if self.has_unsafe && is_parenthesis(here.get(1)) => {
                self.refuse(span, Some((Rule::FnPointer, paths::FN_TYPE.to_owned())));
                1
            }
            "impl" if matches!(before, Some(TokenTree::Ident(word)) if word == "unsafe") => {
                let reason = "`unsafe impl` is not allowed in a port";
                self.refuse(span, Some((Rule::Item, reason.to_owned())));
                1
            }
            _ => self.path(word, before, here),
        }
    }

    fn path(&mut self, first: &Ident, before: Option<&TokenTree>, here: &[TokenTree]) -> usize {
        let (names, mut read) = path(here);
        let after = &here[read..];
        let of_value = matches!(before, Some(TokenTree::Punct(mark)) if matches!(mark.as_char(), '.' | '$'));
        let is_declared = matches!(before, Some(TokenTree::Ident(word)) if word == "fn");
        let how = if begins_call_of_macro(after) {
            // The mark between the name and its arguments.
            read += 1;
            How::Macro
        } else if names.len() == 1 && (of_value || is_declared) {
            How::Named
        } else if is_parenthesis(after.first()) {
            How::Called
        } else {
            How::Named
        };
        if names.last().is_some_and(|last| last.starts_with("transmute")) {
            self.refuse(first.span(), paths::refused_transmute(after, self.allowed));
        }
        self.judge(&names, how, first.span());
        read
    }

    /// The paths of an import, behind those of its groups.
    fn imports(&mut self, prefix: &[String], tokens: &[TokenTree]) {
        for tree in tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')) {
            let start = tree.iter().position(|token| !is_colon(token)).unwrap_or(tree.len());
            let tree = &tree[start..];
            let Some(first) = tree.first() else { continue };
            let (own, read) = path(tree);
            let full = [prefix, &own].concat();
            let after = &tree[read..];
            let after = &after[after.iter().take_while(|token| is_colon(token)).count()..];
            match after.first() {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.imports(&full, &group.stream().into_iter().collect::<Vec<_>>());
                }
                Some(TokenTree::Punct(mark)) if mark.as_char() == '*' => {
                    self.judge(&full, How::Glob, first.span());
                }
                Some(TokenTree::Ident(_)) => self.judge(&full, How::Renamed, first.span()),
                _ => self.judge(&full, How::Named, first.span()),
            }
        }
    }

    fn refused_static(&self, after: Option<&TokenTree>) -> Option<Refusal> {
        if matches!(after, Some(TokenTree::Ident(word)) if word == "mut") {
            return Some((Rule::State, "`static mut` holds state that outlives a call".to_owned()));
        }
        let interior = self.interior.as_ref()?;
        let reason = format!(
            "a static in a port that uses `{interior}` can hold state that outlives a call; use a const"
        );
        Some((Rule::State, reason))
    }

    fn judge(&mut self, names: &[String], how: How, span: Span) {
        let words = names.iter().find_map(|name| std_api::word_refusal(name));
        self.refuse(span, words);
        if self.has_macros {
            self.refuse(span, names.iter().find_map(|name| std_api::macro_refusal(name)));
        }
        self.refuse(span, paths::refusal(self.candidate, self.allowed, names, how));
    }
}

/// The names of the path that the tokens begin with, and the number of its tokens.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut read = 0;
    while let Some(TokenTree::Ident(name)) = tokens.get(read) {
        names.push(plain(name));
        read += 1;
        match (tokens.get(read), tokens.get(read + 1), tokens.get(read + 2)) {
            (Some(one), Some(two), Some(TokenTree::Ident(_))) if is_colon(one) && is_colon(two) => read += 2,
            _ => break,
        }
    }
    (names, read)
}

/// Whether a name before these tokens is called as a macro. `a != b` is none.
fn begins_call_of_macro(after: &[TokenTree]) -> bool {
    let is_mark = matches!(after.first(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
    is_mark && !matches!(after.get(1), Some(TokenTree::Punct(mark)) if mark.as_char() == '=')
}

/// `extern` before a function gives it C's ABI. Everything else that it begins binds something.
fn refused_extern(after: &[TokenTree]) -> Option<Refusal> {
    let rest = match after {
        [TokenTree::Literal(_), rest @ ..] => rest,
        rest => rest,
    };
    if matches!(rest.first(), Some(TokenTree::Ident(word)) if word == "fn") {
        return None;
    }
    let reason = match rest.first() {
        Some(TokenTree::Ident(word)) if word == "crate" => "`extern crate` is not allowed in a port",
        _ => "an `extern` block binds C functions; a port may not",
    };
    Some((Rule::Item, reason.to_owned()))
}

/// The first type that can change behind a shared reference.
fn interior(tokens: TokenStream) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => Some(plain(&word)).filter(|name| std_api::is_interior(name)),
        TokenTree::Group(group) => interior(group.stream()),
        _ => None,
    })
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';')
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':')
}

fn is_parenthesis(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if is_parenthesized(group))
}

fn is_parenthesized(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}
