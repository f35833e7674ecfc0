//! Names that stand before a `!`, and which macros can split their arguments into words.

use super::item::plain;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// Macros of Rust's own libraries that need no import, or that `core` and `std` have at their root. They take no names
/// apart.
#[rustfmt::skip]
pub const STD_MACROS: &[&str] = &[
    "assert", "assert_eq", "assert_ne", "compile_error", "concat", "format", "format_args", "matches", "panic",
    "unreachable", "vec", "write", "writeln",
];

/// Keywords before an expression: a `!` behind one negates. No macro has such a name but a raw one.
pub const BEFORE_NOT: [&str; 8] = ["break", "else", "if", "in", "match", "move", "return", "while"];

/// Kinds of macro variables that hold a whole piece of code. No other macro can split it again.
const WHOLE: [&str; 5] = ["expr", "literal", "ty", "block", "pat"];

/// Whether a macro with this definition takes no words apart that it is called with.
pub fn keeps_whole(definition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = definition.into_iter().collect();
    let is_whole = |window: &[TokenTree]| match window {
        [TokenTree::Punct(dollar), TokenTree::Ident(_), TokenTree::Punct(colon), TokenTree::Ident(kind)]
            if dollar.as_char() == '$' && colon.as_char() == ':' =>
        {
            WHOLE.iter().any(|whole| kind == whole)
        }
        _ => true,
    };
    let inside = |token: &TokenTree| match token {
        TokenTree::Group(group) => keeps_whole(group.stream()),
        _ => true,
    };
    tokens.windows(4).all(is_whole) && tokens.iter().all(inside)
}

/// The macros that some text defines, also inside of functions, and that take no words apart.
pub fn whole_macros(texts: impl Iterator<Item = TokenStream>) -> BTreeSet<String> {
    let mut found = BTreeMap::new();
    texts.for_each(|text| definitions(text, &mut found));
    found.into_iter().filter(|(_, is_whole)| *is_whole).map(|(name, _)| name).collect()
}

/// The definitions of macros, by name, and whether all of one name keep what they get whole.
fn definitions(text: TokenStream, found: &mut BTreeMap<String, bool>) {
    let tokens: Vec<TokenTree> = text.into_iter().collect();
    for window in tokens.windows(4) {
        if let [
            TokenTree::Ident(word),
            TokenTree::Punct(mark),
            TokenTree::Ident(name),
            TokenTree::Group(body),
        ] = window
            && word == "macro_rules"
            && mark.as_char() == '!'
        {
            *found.entry(plain(name)).or_insert(true) &= keeps_whole(body.stream());
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            definitions(group.stream(), found);
        }
    }
}
