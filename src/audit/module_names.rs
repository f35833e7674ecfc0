//! Which modules of the port crate a text may call by their bare names. A C file may be `core.c`, `mem.c` or `str.c`: `mem::swap`
//! leads to Rust's own module unless something has brought the crate's into scope.

use super::token_shapes::{is_marks, path};
use crate::rust::item::mentions;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;

/// Rust's own libraries.
const RUST: [&str; 3] = ["core", "alloc", "std"];

/// Names that an import may have brought into scope: what each path ends with, because any of them could be an import. A macro
/// can put an import together from pieces that show nothing, so beside a definition of one, any name counts.
#[derive(Debug, Clone, Default)]
pub(super) struct ModuleNames {
    names: BTreeSet<String>,
    /// An import has everything in it, or a macro may make one.
    all: bool,
}

impl ModuleNames {
    /// Reads a text and adds what it may bring into scope.
    pub fn read(&mut self, tokens: TokenStream) {
        self.note_macros(tokens.clone());
        self.tokens(tokens, false);
    }

    /// Looks for definitions of macros alone: what else a text has in it stays in its own scope.
    pub fn note_macros(&mut self, tokens: TokenStream) {
        self.all |= mentions(tokens, "macro_rules");
    }

    /// Whether this path may begin at a module of the crate instead of one of Rust's: it says so itself, or its first name may
    /// have been imported.
    pub fn may_be_of_crate(&self, names: &[&str]) -> bool {
        // What has the name of one of Rust's libraries could give anything any name.
        let all = self.all || RUST.iter().any(|name| self.names.contains(*name));
        names.first().is_some_and(|first| {
            matches!(*first, "crate" | "self" | "super") || all || self.names.contains(*first)
        })
    }

    /// `inside` says that these tokens are the group behind `path::`.
    fn tokens(&mut self, tokens: TokenStream, inside: bool) {
        let list: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < list.len() {
            let here = &list[at..];
            at += match &here[0] {
                TokenTree::Group(group) => {
                    self.tokens(group.stream(), inside);
                    1
                }
                TokenTree::Punct(mark) => {
                    self.all |= inside && mark.as_char() == '*';
                    1
                }
                TokenTree::Ident(word) if word == "as" => {
                    self.names.extend(path(&here[1..]).0.pop());
                    1
                }
                TokenTree::Ident(_) => self.path(here, inside),
                TokenTree::Literal(_) => 1,
            };
        }
    }

    /// A path and what it leads to; the number of tokens read.
    fn path(&mut self, here: &[TokenTree], inside: bool) -> usize {
        let (names, read) = path(here);
        let is_rust = !inside && RUST.contains(&names[0].as_str());
        if !is_rust && (inside || names.len() > 1) {
            self.names.extend(names.last().cloned());
        }
        let after = &here[read..];
        if !is_marks(after, "::") {
            return read;
        }
        match after.get(2) {
            // `crate::ffi::*` has what bindgen makes of C, and `crate::callee::*` functions.
            Some(TokenTree::Punct(mark)) if mark.as_char() == '*' => {
                let is_known = matches!(names.last(), Some(last) if last == "ffi" || last == "callee");
                self.all |= !(is_rust || is_known || is_type(names.last()));
                read + 3
            }
            Some(TokenTree::Group(group)) => {
                self.tokens(group.stream(), !is_rust);
                read + 3
            }
            _ => read,
        }
    }
}

/// Whether it is named like a type: `use Kind::*` brings its variants.
fn is_type(name: Option<&String>) -> bool {
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}
