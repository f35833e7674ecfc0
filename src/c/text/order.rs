//! What the order of a file's items decides: which definition of a macro an item sees, which macros an included file sees,
//! and which `#pragma` applies. In most files macros come first, and the order says nothing.

use super::split_items::{Form, Piece};
use super::token::Token;
use std::collections::HashMap;

/// The pieces of a file whose place matters, by their numbers.
pub(super) struct Order<'t> {
    /// Where each macro is defined, or not any more (`true`).
    macros: HashMap<&'t str, Vec<(usize, bool)>>,
    includes: Vec<(usize, String)>,
    pragmas: Vec<usize>,
}

impl<'t> Order<'t> {
    pub fn of(tokens: &'t [Token<'t>], pieces: &[Piece]) -> Self {
        let mut order = Self { macros: HashMap::new(), includes: Vec::new(), pragmas: Vec::new() };
        for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.form != Form::Item) {
            let line: Vec<&str> = tokens[piece.tokens.clone()].iter().map(|token| &*token.text).collect();
            match line[..] {
                ["#", "define", name, ..] => order.macros.entry(name).or_default().push((at, false)),
                ["#", "undef", name, ..] => order.macros.entry(name).or_default().push((at, true)),
                ["#", "include" | "include_next" | "import", ref file @ ..] => {
                    order.includes.push((at, file.concat()));
                }
                ["#", "pragma", "once", ..] | ["#", "pragma", _, "diagnostic", ..] => {}
                ["#", "pragma", ..] => order.pragmas.push(at),
                _ => {}
            }
        }
        order
    }

    /// What the place of a piece decides, as text to be hashed; empty where nothing does. `words` are those of its chunk.
    pub fn around(&self, at: usize, piece: &Piece, name: &str, words: &[&str]) -> Vec<String> {
        let is_define = piece.form == Form::Define;
        let of_word = |word: &&str| {
            let events = self.macros.get(*word)?;
            let is_own = is_define && *word == name;
            let others = events.iter().filter(|(_, is_end)| !is_own || *is_end);
            let before = others.clone().filter(|(place, _)| *place < at).count();
            let says_more = if is_own { others.clone().count() > 0 } else { before < events.len() };
            says_more.then(|| format!("{word} {before}"))
        };
        let macros = words.iter().filter_map(of_word);
        let behind = self.includes.iter().filter(|(place, _)| is_define && *place > at);
        let behind = behind.map(|(_, file)| file.clone());
        let pragmas = self.pragmas.iter().filter(|place| **place < at).count();
        let pragmas = (piece.form == Form::Item && pragmas > 0).then(|| format!("#pragma {pragmas}"));
        macros.chain(behind).chain(pragmas).collect()
    }
}
