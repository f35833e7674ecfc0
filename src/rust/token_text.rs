//! Tokens as text that is hashed, with the names in it.

use super::macro_names::{BEFORE_NOT, STD_MACROS};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::fmt::{self, Write as _};
use std::ops::Range;

/// Tokens as text that does not depend on layout: one token per line, without doc attributes, runs of punctuation
/// split as the compiler splits them.
#[derive(Debug, Default)]
pub(super) struct TokenText {
    pub tokens: String,
    /// Ranges of names in `tokens`: identifiers, and possible names in format strings.
    names: Vec<Range<usize>>,
    /// Names in strings that are spelled with escapes.
    escaped: Vec<String>,
    /// Names of fields and methods in the arguments of a macro of the module, which may drop the dot before them: the macro,
    /// and the name.
    pub behind_dots: Vec<(String, String)>,
}

impl TokenText {
    pub fn of(tokens: TokenStream) -> Self {
        let mut text = Self::default();
        text.add(tokens, &mut Vec::new());
        text
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        let plain = self.names.iter().map(|range| &self.tokens[range.clone()]);
        plain.chain(self.escaped.iter().map(String::as_str))
    }

    /// The names that do not follow a dot.
    pub fn free_names(&self) -> impl Iterator<Item = &str> {
        let is_member = |range: &&Range<usize>| {
            let before = &self.tokens[..range.start];
            before.strip_suffix("r#").unwrap_or(before).ends_with(MEMBER)
        };
        let free =
            self.names.iter().filter(move |range| !is_member(range)).map(|range| &self.tokens[range.clone()]);
        free.chain(self.escaped.iter().map(String::as_str))
    }

    fn add(&mut self, tokens: TokenStream, macros: &mut Vec<String>) {
        let mut tokens = without_docs(tokens).into_iter().peekable();
        let mut run = String::new();
        // The name before this token, and whether it is that of a macro that is called.
        let (mut called, mut is_called) = (None::<Range<usize>>, false);
        while let Some(token) = tokens.next() {
            if let TokenTree::Punct(punct) = &token {
                run.push(punct.as_char());
                let goes_on = punct.spacing() == Spacing::Joint;
                is_called = run == "!" && called.is_some() && !is_called;
                called = called.filter(|_| is_called);
                if !(goes_on && matches!(tokens.peek(), Some(TokenTree::Punct(_)))) {
                    self.operators(&run);
                    run.clear();
                }
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    let inner = group.stream();
                    // Dropping the group avoids a copy of its shared tokens.
                    drop(group);
                    let name = called.take().filter(|_| is_called);
                    let name = name.map(|name| self.tokens[name].to_owned());
                    let own = name.filter(|name| !STD_MACROS.contains(&&**name));
                    let before = macros.len();
                    macros.extend(own);
                    self.line(&open);
                    self.add(inner, macros);
                    macros.truncate(before);
                    self.line(&close);
                }
                TokenTree::Literal(literal) => {
                    called = None;
                    let start = self.line(&literal);
                    self.words(start);
                }
                other => {
                    let start = self.line(&other);
                    let raw = if self.tokens[start..].starts_with("r#") { 2 } else { 0 };
                    let name = start + raw..self.tokens.len() - END.len();
                    if self.tokens[..start].ends_with(MEMBER) {
                        let found =
                            macros.iter().map(|by| (by.clone(), self.tokens[name.clone()].to_owned()));
                        self.behind_dots.extend(found);
                    }
                    is_called = false;
                    // `!` behind a keyword negates.
                    let is_macro = raw > 0 || !BEFORE_NOT.contains(&&self.tokens[name.clone()]);
                    called = Some(name.clone()).filter(|_| is_macro);
                    self.names.push(name);
                }
            }
        }
    }

    /// Writes a token; returns where it begins.
    fn line(&mut self, token: &dyn fmt::Display) -> usize {
        let start = self.tokens.len();
        write!(self.tokens, "{token}").expect("a String takes all text");
        if self.tokens.len() > start {
            self.tokens.push_str(END);
        }
        start
    }

    fn operators(&mut self, mut run: &str) {
        while let Some(first) = run.chars().next() {
            let known = OPERATORS.iter().find(|operator| run.starts_with(**operator));
            let (operator, rest) = run.split_at(known.map_or(first.len_utf8(), |operator| operator.len()));
            self.line(&operator);
            run = rest;
        }
    }

    /// Records the names in a string literal: `format!("{LIMIT}")` refers to `LIMIT`, however it is spelled.
    fn words(&mut self, start: usize) {
        let literal = &self.tokens[start..self.tokens.len() - END.len()];
        if literal.contains('\\') {
            let value = syn::parse_str::<syn::LitStr>(literal).map(|text| text.value()).unwrap_or_default();
            if value.contains('{') {
                self.escaped.extend(words_of(&value).map(str::to_owned));
            }
        } else if literal.contains('{') {
            let place = |word: &str| word.as_ptr() as usize - literal.as_ptr() as usize + start;
            self.names.extend(words_of(literal).map(|word| place(word)..place(word) + word.len()));
        }
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Ends each token. A literal may contain a line end, which would require its length; but no token starts with NUL.
const END: &str = "\0\n";

/// What stands before the name of a field or a method: a token that is one dot.
const MEMBER: &str = "\n.\0\n";

/// Longest first, as in rustc's lexer. `>` stays single, since `>>` may close two lists.
const OPERATORS: [&str; 21] = [
    "<<=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "^=",
    "&=", "|=", "<<", "..",
];

/// The tokens without doc comments, that is, without `#[doc …]` and `#![doc …]`.
fn without_docs(tokens: TokenStream) -> Vec<TokenTree> {
    let mut out: Vec<TokenTree> = Vec::new();
    let is_punct =
        |t: Option<&TokenTree>, c: char| matches!(t, Some(TokenTree::Punct(p)) if p.as_char() == c);
    for token in tokens {
        let bang = is_punct(out.last(), '!') && out.len() > 1 && is_punct(out.get(out.len() - 2), '#');
        if (bang || is_punct(out.last(), '#')) && is_doc_group(&token) {
            out.truncate(out.len() - if bang { 2 } else { 1 });
            continue;
        }
        out.push(token);
    }
    out
}

fn is_doc_group(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "doc"))
}
