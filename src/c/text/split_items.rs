//! Splits the tokens of a C file into items: declarations, definitions and `#define`s.
//!
//! Both branches of an `#if` are read. Braces, semicolons and the tokens before a brace determine where an
//! item ends; a file with unbalanced braces is not split.

use super::token::{Kind, Token};
use std::ops::Range;

/// A sequence of tokens that forms one item.
#[derive(Debug)]
pub(super) struct Piece {
    pub tokens: Range<usize>,
    /// The `#if`, `#elif` and `#else` lines around it, as token ranges.
    pub conditions: Vec<Range<usize>>,
    pub form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Item,
    Define,
    /// `#include`, `#undef`, `#pragma` and the like between items.
    Directive,
}

/// The pieces of a file in order; `None` if its braces are unbalanced.
pub(super) fn cut(tokens: &[Token]) -> Option<Vec<Piece>> {
    let mut cutter = Cutter { tokens, ..Cutter::default() };
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        if token.first && token.is("#") {
            let end = (at + 1..tokens.len()).find(|next| tokens[*next].first).unwrap_or(tokens.len());
            cutter.directive(at..end);
            at = end;
        } else {
            cutter.token(at)?;
            at += 1;
        }
    }
    cutter.end_item(tokens.len());
    (cutter.depth == 0).then_some(cutter.pieces)
}

/// One `#if` up to its `#endif`.
struct Condition {
    lines: Vec<Range<usize>>,
    depth: usize,
    /// The brace depth at the end of its first branch, set when another branch has begun.
    behind: Option<usize>,
}

#[derive(Default)]
struct Cutter<'t> {
    tokens: &'t [Token<'t>],
    pieces: Vec<Piece>,
    /// The first token of the current item, and the conditions around it.
    item: Option<(usize, Vec<Range<usize>>)>,
    /// Number of open braces.
    depth: usize,
    /// Number of open `extern "C" {`, which are not items.
    linkages: usize,
    /// Whether the outermost open brace is the body of a function.
    in_body: bool,
    conditions: Vec<Condition>,
}

impl Cutter<'_> {
    fn around(&self) -> Vec<Range<usize>> {
        self.conditions.iter().flat_map(|condition| condition.lines.clone()).collect()
    }

    fn directive(&mut self, line: Range<usize>) {
        let word = self.tokens[line.clone()].get(1).map_or("", |token| &*token.text);
        match word {
            "if" | "ifdef" | "ifndef" => {
                self.conditions.push(Condition { lines: vec![line], depth: self.depth, behind: None });
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                if let Some(condition) = self.conditions.last_mut() {
                    condition.behind.get_or_insert(self.depth);
                    self.depth = condition.depth;
                    condition.lines.push(line);
                }
            }
            "endif" => {
                let behind = self.conditions.pop().and_then(|condition| condition.behind);
                self.depth = behind.unwrap_or(self.depth);
            }
            // Inside an item, the directive is one of its tokens.
            _ if self.item.is_some() => {}
            _ => {
                let form = if word == "define" { Form::Define } else { Form::Directive };
                self.pieces.push(Piece { tokens: line, conditions: self.around(), form });
            }
        }
    }

    /// `None` for a closing brace without an opening one.
    fn token(&mut self, at: usize) -> Option<()> {
        let token = &self.tokens[at];
        if self.item.is_none() {
            if token.is("}") && self.depth == 0 && self.linkages > 0 {
                self.linkages -= 1;
                self.pieces.push(Piece {
                    tokens: at..at + 1,
                    conditions: self.around(),
                    form: Form::Directive,
                });
                return Some(());
            }
            self.item = Some(self.start(at));
        }
        if token.is("{") {
            if self.depth == 0 {
                let before = self.outside(at);
                if matches!(before[..], [a, b] if a.is("extern") && b.kind == Kind::Literal) {
                    self.linkages += 1;
                    self.end_item(at + 1);
                    return Some(());
                }
                self.in_body = opens_body(&before);
            }
            self.depth += 1;
        } else if token.is("}") {
            self.depth = self.depth.checked_sub(1)?;
            if self.depth == 0 && self.in_body {
                self.end_item(at + 1);
            }
        } else if token.is(";") && self.depth == 0 && !self.parameters_follow(at) {
            self.end_item(at + 1);
        }
        Some(())
    }

    /// Where the item with this first token begins. A body or a semicolon alone continues the item before.
    fn start(&mut self, at: usize) -> (usize, Vec<Range<usize>>) {
        let goes_on = self.tokens[at].is("{") || self.tokens[at].is(";");
        match self.pieces.pop_if(|last| goes_on && last.form == Form::Item && last.tokens.end == at) {
            Some(last) => (last.tokens.start, last.conditions),
            None => (at, self.around()),
        }
    }

    fn end_item(&mut self, end: usize) {
        if let Some((start, conditions)) = self.item.take() {
            self.pieces.push(Piece { tokens: start..end, conditions, form: Form::Item });
        }
    }

    /// The tokens of the item up to `at`, without those in braces and directives.
    fn outside(&self, at: usize) -> Vec<&Token<'_>> {
        let start = self.item.as_ref().map_or(at, |(start, _)| *start);
        outside(&self.tokens[start..at])
    }

    /// Whether a semicolon ends a parameter of `int f(a) int a; {` instead of the item.
    fn parameters_follow(&self, at: usize) -> bool {
        let before = self.outside(at);
        if !has_old_parameters(&before) || before.iter().any(|t| t.is("=") || t.is("typedef")) {
            return false;
        }
        let rest = &self.tokens[at..];
        let plain = |at: &usize| {
            let token = &rest[*at];
            let marks = ["*", ",", ";", "[", "]", "(", ")"].iter().any(|mark| token.is(mark));
            let calls = rest.get(at + 1).is_some_and(|next| next.is("("))
                && rest.get(at + 2).is_some_and(|next| !next.is("*"));
            marks || token.kind == Kind::Literal || token.kind == Kind::Word && !calls
        };
        let declarations = (0..rest.len().min(400)).take_while(plain).count();
        // Without a semicolon before the brace, these are separate items.
        let ends = declarations > 0 && rest.get(declarations).is_some_and(|token| token.is("{"));
        ends && rest[declarations - 1].is(";")
    }
}

/// Whether a word follows the parameters of a function, as in `int f(a) int`.
fn has_old_parameters(tokens: &[&Token]) -> bool {
    let opens = |at: &usize| {
        tokens[*at].is("(") && tokens[at - 1].kind == Kind::Word && !is_attribute(tokens[at - 1])
    };
    let Some(open) = (1..tokens.len()).find(opens) else { return false };
    let mut depth = 0usize;
    let close = (open..tokens.len()).find(|at| {
        depth += usize::from(tokens[*at].is("("));
        depth = depth.saturating_sub(usize::from(tokens[*at].is(")")));
        depth == 0
    });
    let behind = close.and_then(|close| tokens.get(close + 1));
    behind.is_some_and(|token| token.kind == Kind::Word && !is_attribute(token))
}

/// The tokens outside braces and directives.
pub(super) fn outside<'t>(tokens: &'t [Token<'t>]) -> Vec<&'t Token<'t>> {
    let (mut depth, mut in_directive, mut found) = (0usize, false, Vec::new());
    for token in tokens {
        if token.first {
            in_directive = token.is("#");
        }
        if in_directive {
            continue;
        }
        if token.is("}") {
            depth = depth.saturating_sub(1);
        } else if token.is("{") {
            depth += 1;
        } else if depth == 0 {
            found.push(token);
        }
    }
    found
}

pub(super) fn is_attribute(token: &Token) -> bool {
    matches!(
        &*token.text,
        "__attribute__" | "__attribute" | "__declspec" | "_Alignas" | "alignas" | "__asm__" | "asm" | "__asm"
    )
}

/// Whether a brace after these tokens opens a function's body, not a type or an initialiser.
fn opens_body(before: &[&Token]) -> bool {
    if before.iter().any(|token| token.is("=")) {
        return false;
    }
    let keyword = before.iter().rposition(|t| matches!(&*t.text, "struct" | "union" | "enum"));
    let Some(keyword) = keyword else { return true };
    // In `struct s *f(void) {` there is a parenthesis that belongs to no attribute.
    let behind = &before[keyword..];
    let opens = |at: usize| behind[at].is("(") && !behind[at - 1].is("(") && !is_attribute(behind[at - 1]);
    (1..behind.len()).any(opens)
}
