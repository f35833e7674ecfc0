//! What a C text names, without preprocessing it: words, directives, and the files that it includes.

use super::token::{Joined, Kind, tokens};
use std::collections::BTreeSet;

/// What stands in a text outside of comments and strings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Surface {
    pub words: BTreeSet<String>,
    /// The words behind `#` at the beginning of a line.
    pub directives: BTreeSet<String>,
    /// What `#include` names, with quotes or angle brackets, or the macro that says it.
    pub includes: Vec<String>,
    /// Whether words are made of parts (`##`), or `#` is written in another way (`%:`, `??=`).
    pub hides_words: bool,
}

impl Surface {
    /// The surface of a text.
    pub fn of(text: &[u8]) -> Self {
        let joined = Joined::of(text);
        let all = tokens(&joined);
        let mut surface = Self { hides_words: hides_hash(text), ..Self::default() };
        for (at, token) in all.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &all[at]);
            let is_directive = before.is_some_and(|hash| hash.first && hash.is("#"));
            if is_directive && token.is("include") {
                surface.includes.extend(all.get(at + 1).map(|next| next.text.to_string()));
            }
            if token.kind == Kind::Word {
                let set = if is_directive { &mut surface.directives } else { &mut surface.words };
                set.insert(token.text.to_string());
            }
            surface.hides_words |= token.is("##");
        }
        surface
    }
}

/// Whether a text has a digraph or a trigraph for `#`, even in a string.
fn hides_hash(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"%:") || text.windows(2).any(|pair| pair == b"??")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_directives_and_includes_are_told_apart() {
        let text =
            "#include <a/b.h>\n# include \"c.h\" // asm\n#include WHICH\n#pragma weak f\nint f; \"asm\"\n";
        let surface = Surface::of(text.as_bytes());
        assert_eq!(surface.includes, ["<a/b.h>", "\"c.h\"", "WHICH"]);
        assert_eq!(surface.directives, ["include", "pragma"].map(str::to_owned).into());
        assert!(surface.words.contains("weak") && !surface.words.contains("asm"), "{surface:?}");
        assert!(!surface.hides_words);
    }

    #[test]
    fn what_hides_words_is_seen() {
        for text in ["#define A(x) x##y", "%:include <a>", "??=include <a>"] {
            assert!(Surface::of(text.as_bytes()).hides_words, "{text}");
        }
        assert!(Surface::of(b"as\\\nm volatile").words.contains("asm"));
    }
}
