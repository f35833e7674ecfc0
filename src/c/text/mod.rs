//! Splits a C file into chunks, each with the hash of its tokens: functions, types, globals and macros by
//! name. Comments and layout do not change a hash. Nothing is preprocessed, so this needs no compiler and no
//! flags.
//!
//! All definitions of one name in a file form one chunk, including those in branches of an `#if`; a chunk's
//! hash covers the conditions around it. Names are found by syntax alone; a caller that knows a symbol's
//! position asks for the chunks at that position.

mod body;
mod comments;
mod literals;
mod formats;
mod null_branches;
mod order;
mod token;
mod split_items;
mod surface;

pub use body::body;
pub use comments::{semicolons, without_comments};
pub use formats::prints_whole;
pub use literals::{integers, literals, quoted_by, strings};
pub use null_branches::words_where_null;
pub use surface::Surface;

use crate::digest::sha256;
use order::Order;
use split_items::{Form, Piece, cut, is_attribute, outside};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use token::{Joined, Kind, Token, includes, tokens};

/// The name of the chunk of directives between items that are not `#define`: `#include`, `#undef`, `#pragma`.
pub const DIRECTIVES: &str = "(directives)";
/// The name of the only chunk of a file with unbalanced braces.
pub const WHOLE_FILE: &str = "(whole file)";
/// The name of items without a name.
const NAMELESS: &str = "(nameless)";

/// All items of one name in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub name: String,
    /// SHA-256 of its tokens, of the tokens of the conditions around it, and of what its place in the file decides.
    pub hash: String,
    /// The words in it; each of them may be a macro.
    pub words: BTreeSet<String>,
    /// Of directives: the words that decide which of them count and what they include, without what `#undef` names.
    pub asked: BTreeSet<String>,
    /// The macros that it defines.
    pub macros: BTreeSet<String>,
    /// The files that it includes or asks for, with their quotes or angle brackets.
    pub includes: Vec<String>,
    /// Whether more than its tokens decides what it means: `##`, `#x`, or the number of a line.
    pub needs_text: bool,
    /// The byte ranges of its pieces.
    pub bytes: Vec<Range<usize>>,
}

impl Chunk {
    /// Whether a piece of it overlaps this range.
    pub fn overlaps(&self, range: &Range<usize>) -> bool {
        self.bytes.iter().any(|own| own.start < range.end && range.start < own.end)
    }
}

/// Splits a file into chunks, in text order.
pub fn chunks(text: &[u8]) -> Vec<Chunk> {
    chunks_where(text, true)
}

/// Splits text behind the preprocessor, where the order of items says nothing.
pub fn preprocessed_chunks(text: &[u8]) -> Vec<Chunk> {
    chunks_where(text, false)
}

fn chunks_where(text: &[u8], order_counts: bool) -> Vec<Chunk> {
    let joined = Joined::of(text);
    let tokens = tokens(&joined);
    let whole = || vec![Piece { tokens: 0..tokens.len(), conditions: Vec::new(), form: Form::Item }];
    let (pieces, is_whole) = cut(&tokens).map_or_else(|| (whole(), true), |pieces| (pieces, false));
    let places = if order_counts { Order::of(&tokens, &pieces) } else { Order::default() };
    let mut order: Vec<String> = Vec::new();
    let mut by_name: BTreeMap<String, Vec<(usize, &Piece)>> = BTreeMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        let name = if is_whole { WHOLE_FILE.to_owned() } else { name(&tokens, piece) };
        let known = by_name.entry(name.clone()).or_default();
        if known.is_empty() {
            order.push(name);
        }
        known.push((at, piece));
    }
    order.into_iter().map(|name| chunk((&tokens, &places), &by_name[&name], name)).collect()
}

/// The words in a type's text that may be values of its enumerations; some other words may be included.
pub fn enumerators(text: &str) -> BTreeSet<String> {
    let joined = Joined::of(text.as_bytes());
    let tokens = tokens(&joined);
    let starts = |at: &usize| *at > 0 && (tokens[at - 1].is("{") || tokens[at - 1].is(","));
    let words = (0..tokens.len()).filter(|at| starts(at) && tokens[*at].kind == Kind::Word);
    match tokens.iter().any(|token| token.is("enum")) {
        true => words.map(|at| tokens[at].text.to_string()).collect(),
        false => BTreeSet::new(),
    }
}

fn chunk((tokens, places): (&[Token], &Order), pieces: &[(usize, &Piece)], name: String) -> Chunk {
    let mut read = Read::default();
    let (mut bytes, mut asked) = (Vec::new(), BTreeSet::new());
    for (_, piece) in pieces.iter().filter(|(_, piece)| piece.form == Form::Directive) {
        let is_end = tokens[piece.tokens.clone()].get(1).is_some_and(|token| token.is("undef"));
        let own = (!is_end).then(|| piece.tokens.clone());
        let lines = piece.conditions.iter().cloned().chain(own);
        let words = lines.flat_map(|line| &tokens[line]).filter(|token| token.kind == Kind::Word);
        asked.extend(words.map(|token| token.text.to_string()));
    }
    for (_, piece) in pieces {
        for line in &piece.conditions {
            read.add(&tokens[line.clone()]);
        }
        read.hashed.push(0);
        let own = &tokens[piece.tokens.clone()];
        read.add(own);
        read.hashed.push(1);
        if let (Some(first), Some(last)) = (own.first(), own.last()) {
            bytes.push(first.bytes.start..last.bytes.end);
        }
    }
    read.words.sort_unstable();
    read.words.dedup();
    let around = pieces.iter().flat_map(|(at, piece)| places.around(*at, piece, &name, &read.words));
    for word in around {
        read.hashed.push(9);
        read.hashed.extend((word.len() as u64).to_le_bytes());
        read.hashed.extend(word.as_bytes());
    }
    Chunk {
        name,
        hash: sha256(&read.hashed),
        words: read.words.into_iter().map(str::to_owned).collect(),
        asked,
        macros: read.macros,
        includes: read.includes,
        needs_text: read.needs_text,
        bytes,
    }
}

/// The contents of a chunk.
#[derive(Default)]
struct Read<'t> {
    /// The bytes that are hashed.
    hashed: Vec<u8>,
    words: Vec<&'t str>,
    macros: BTreeSet<String>,
    includes: Vec<String>,
    needs_text: bool,
}

/// Macros of the compiler whose value depends on where they stand.
const PLACES: &[&str] = &["__LINE__", "__COUNTER__", "__INCLUDE_LEVEL__"];

impl<'t> Read<'t> {
    fn add(&mut self, tokens: &'t [Token]) {
        for (at, token) in tokens.iter().enumerate() {
            // `#define f(x)` and `#define f (x)` differ only in a blank. The end of a line ends a directive.
            let opens = token.is("(") && token.glued && at > 1 && tokens[at - 2].is("define");
            self.hashed.push(2 + u8::from(opens) + 2 * u8::from(token.first && is_directive(tokens, at)));
            self.hashed.extend((token.text.len() as u64).to_le_bytes());
            self.hashed.extend(token.text.as_bytes());
            let behind = |word: &str| {
                at > 1 && tokens[at - 1].is(word) && tokens[at - 2].is("#") && tokens[at - 2].first
            };
            match token.kind {
                Kind::Word => {
                    if behind("define") {
                        self.macros.insert(token.text.to_string());
                    }
                    self.needs_text |= PLACES.contains(&&*token.text);
                    self.words.push(&token.text);
                }
                Kind::Literal if includes(&tokens[..at]) => self.includes.push(token.text.to_string()),
                Kind::Punct => self.needs_text |= token.is("##") || token.is("#") && !token.first,
                Kind::Literal => {}
            }
        }
    }
}

/// Whether a directive begins on this line or began on the line before.
fn is_directive(tokens: &[Token], at: usize) -> bool {
    let before = tokens[..at].iter().rev().find(|token| token.first);
    tokens[at].is("#") || before.is_some_and(|token| token.is("#"))
}

fn name(tokens: &[Token], piece: &Piece) -> String {
    let own = &tokens[piece.tokens.clone()];
    match piece.form {
        Form::Directive => DIRECTIVES.to_owned(),
        Form::Define => own.get(2).map_or_else(|| DIRECTIVES.to_owned(), |token| token.text.to_string()),
        Form::Item => item_name(own).unwrap_or_else(|| NAMELESS.to_owned()),
    }
}

/// The name of an item: the declared name, else the tag, else the first value of an enumeration.
fn item_name(tokens: &[Token]) -> Option<String> {
    let all = outside(tokens);
    let end = all.iter().position(|t| ["=", ",", ";"].iter().any(|end| t.is(end))).unwrap_or(all.len());
    let head = &all[..end];
    let is_word = |at: usize| head.get(at).is_some_and(|t| t.kind == Kind::Word && !is_keyword(&t.text));
    let called = called(head, &is_word);
    // `(*name)`: a pointer to a function or array.
    let pointer = (2..head.len()).find(|at| {
        is_word(*at) && head[at - 1].is("*") && {
            let star = (0..*at).rev().find(|before| !head[*before].is("*"));
            star.is_some_and(|open| head[open].is("("))
        }
    });
    let typedef = head.first().is_some_and(|t| t.is("typedef"));
    let array = head.iter().position(|t| t.is("[")).unwrap_or(head.len());
    let plain = (0..array).rev().find(|at| is_word(*at) && !is_attribute(head[*at]));
    let found = match (called, pointer) {
        (Some(call), Some(pointer)) if call < pointer && !typedef => Some(call),
        (_, Some(pointer)) => Some(pointer),
        (Some(call), None) => Some(call),
        (None, None) => plain,
    };
    let value = || {
        let open = tokens.iter().position(|t| t.is("{"))?;
        tokens.get(open + 1).filter(|t| t.kind == Kind::Word)
    };
    found.map(|at| head[at]).or_else(value).map(|token| token.text.to_string())
}

/// Where the name stands that has parameters, if one does.
fn called(head: &[&Token], is_word: &dyn Fn(usize) -> bool) -> Option<usize> {
    let is_called = |at: &usize| {
        is_word(*at) && head.get(at + 1).is_some_and(|next| next.is("(")) && !is_attribute(head[*at])
    };
    let mut at = (0..head.len()).find(is_called)?;
    let behind = closing(head, at + 1) + 1;
    // `PUBLIC(int) f(int a)`: a macro stands for the type.
    if head[..at].iter().all(|token| is_specifier(&token.text))
        && head.get(behind).is_some_and(|t| !t.is("("))
    {
        at = (behind..head.len()).find(is_called).unwrap_or(at);
    }
    // `NAME(f)(int a)`: a macro makes the name of the word that it is given.
    let makes_name = is_word(at + 2) && head.get(at + 4).is_some_and(|token| token.is("("));
    Some(if makes_name && head[at + 3].is(")") { at + 2 } else { at })
}

/// Where the parenthesis that opens at `open` is closed, or the end.
fn closing(tokens: &[&Token], open: usize) -> usize {
    let mut depth = 0usize;
    let closes = |token: &&Token| {
        depth = depth + usize::from(token.is("(")) - usize::from(token.is(")"));
        depth == 0
    };
    tokens[open..].iter().position(closes).map_or(tokens.len(), |at| open + at)
}

/// A word that says nothing of the type.
fn is_specifier(word: &str) -> bool {
    matches!(word, "static" | "extern" | "inline" | "__inline" | "__inline__" | "__extension__" | "_Noreturn")
}

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "auto", "char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "register",
        "restrict", "return", "short", "signed", "sizeof", "static", "struct", "typedef", "union",
        "unsigned", "void", "volatile", "_Bool", "bool", "__inline", "__inline__", "__extension__",
        "__const", "_Noreturn", "_Thread_local", "__restrict", "typeof", "__typeof__", "_Atomic",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests;
