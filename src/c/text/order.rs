//! What the order of a file's items decides: which definition of a macro an item sees, which macros an included file sees,
//! and which `#pragma` applies. In most files macros come first, and the order says nothing.

use super::split_items::{Form, Piece};
use super::token::Token;
use std::collections::BTreeMap;

/// The directives of a file whose place matters, by the numbers of the pieces that they are, or are in.
#[derive(Default)]
pub(super) struct Order<'t> {
    /// Where each macro is defined, or not any more (`true`).
    macros: BTreeMap<&'t str, Vec<(usize, bool)>>,
    includes: Vec<(usize, String)>,
    pragmas: Vec<usize>,
}

impl<'t> Order<'t> {
    pub fn of(tokens: &'t [Token<'t>], pieces: &[Piece]) -> Self {
        let mut order = Self::default();
        for (at, piece) in pieces.iter().enumerate() {
            let own = &tokens[piece.tokens.clone()];
            for start in (0..own.len()).filter(|start| own[*start].first && own[*start].is("#")) {
                let line = own[start + 1..].iter().take_while(|token| !token.first);
                let line: Vec<&str> = line.map(|token| &*token.text).collect();
                order.add(at, &line);
            }
        }
        order
    }

    fn add(&mut self, at: usize, line: &[&'t str]) {
        match line {
            ["define", name, ..] => self.macros.entry(name).or_default().push((at, false)),
            ["undef", name, ..] => self.macros.entry(name).or_default().push((at, true)),
            ["include" | "include_next" | "import", file @ ..] => self.includes.push((at, file.concat())),
            ["pragma", "once", ..] | ["pragma", _, "diagnostic", ..] => {}
            ["pragma", ..] => self.pragmas.push(at),
            _ => {}
        }
    }

    /// What the place of a piece decides, as text to be hashed; empty where nothing does. `words` are those of its chunk.
    pub fn around(&self, at: usize, piece: &Piece, name: &str, words: &[&str]) -> Vec<String> {
        if piece.form == Form::Directive {
            return Vec::new();
        }
        let is_define = piece.form == Form::Define;
        let before = |word: &str, events: &[(usize, bool)]| {
            let is_own = is_define && word == name;
            let others = events.iter().filter(|(_, is_end)| !is_own || *is_end);
            let before = others.clone().filter(|(place, _)| *place < at).count();
            let says_more = if is_own { others.count() > 0 } else { before < events.len() };
            says_more.then(|| format!("{word} {before}"))
        };
        let of_words = words.iter().filter_map(|word| before(word, self.macros.get(word)?));
        // What an item includes may have any macro: those that are not the same all the time.
        let includes = !is_define && self.includes.iter().any(|(place, _)| *place == at);
        let changing = self.macros.iter().filter(|(_, events)| includes && events.len() > 1);
        let of_included = changing.map(|(word, events)| {
            format!("{word} {}", events.iter().filter(|(place, _)| *place < at).count())
        });
        let behind = self.includes.iter().filter(|(place, _)| *place > at).map(|(_, file)| file.clone());
        let pragmas = self.pragmas.iter().filter(|place| **place < at).count();
        let pragmas = (!is_define && pragmas > 0).then(|| format!("#pragma {pragmas}"));
        of_words.chain(of_included).chain(behind).chain(pragmas).collect()
    }
}
