//! Tokenises C text: drops comments and joins lines that end in a backslash. Nothing is preprocessed. Invalid
//! text is not an error; it becomes tokens too.

use std::borrow::Cow;
use std::ops::Range;

/// The kind of a token, as needed to split the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// A number, string or character.
    Literal,
    Punct,
}

/// A token and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: Cow<'t, str>,
    /// Byte range in the original text.
    pub bytes: Range<usize>,
    /// Whether it is the first of its line, after joining.
    pub first: bool,
    /// Whether it follows the token before without a gap.
    pub glued: bool,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.kind != Kind::Literal && self.text == text
    }
}

/// The longest first.
const PUNCTUATORS: &[&str] = &[
    "...", "<<=", ">>=", "##", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=", "/=",
    "%=", "+=", "-=", "&=", "^=", "|=", "::",
];

/// Splits a text into tokens.
pub(super) fn tokens(joined: &Joined) -> Vec<Token<'_>> {
    let mut reader = Reader { joined, at: 0, first: true, glued: false };
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(byte) = reader.peek(0) {
        if reader.skip(byte) {
            continue;
        }
        let (start, first, glued) = (reader.at, reader.first, reader.glued);
        let kind = match includes(&tokens) && byte == b'<' {
            true => reader.header(),
            false => reader.token(byte),
        };
        let text = String::from_utf8_lossy(&joined.bytes[start..reader.at]);
        let bytes = joined.place(start)..joined.place(reader.at - 1) + 1;
        tokens.push(Token { kind, text, bytes, first, glued });
        (reader.first, reader.glued) = (false, true);
    }
    tokens
}

/// Whether the tokens end in `# include`, or in the question whether a file is there.
pub(super) fn includes(tokens: &[Token]) -> bool {
    matches!(tokens, [.., hash, word] if hash.first && hash.is("#") && !word.first
        && matches!(&*word.text, "include" | "include_next" | "import" | "embed"))
        || matches!(tokens, [.., word, open] if open.is("(")
            && matches!(&*word.text, "__has_include" | "__has_include_next" | "__has_embed"))
}

/// A text with the lines joined that end in a backslash; clang and gcc allow blanks behind it.
pub(super) struct Joined {
    bytes: Vec<u8>,
    /// The positions where bytes were removed, each with the number of bytes removed so far.
    cuts: Vec<(usize, usize)>,
}

impl Joined {
    pub fn of(text: &[u8]) -> Self {
        let mut joined = Self { bytes: Vec::with_capacity(text.len()), cuts: Vec::new() };
        let mut at = 0;
        while at < text.len() {
            let gone = joining(&text[at..]);
            if gone > 0 {
                let before = joined.cuts.last().map_or(0, |cut| cut.1);
                joined.cuts.push((joined.bytes.len(), before + gone));
                at += gone;
            } else {
                joined.bytes.push(text[at]);
                at += 1;
            }
        }
        joined
    }

    /// The original position of a byte.
    fn place(&self, at: usize) -> usize {
        let cuts = self.cuts.partition_point(|cut| cut.0 <= at);
        at + cuts.checked_sub(1).map_or(0, |last| self.cuts[last].1)
    }
}

/// How many bytes a text begins with that join two lines.
fn joining(text: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(b"\\") else { return 0 };
    let blanks = rest.iter().take_while(|byte| **byte != b'\n' && is_space(**byte)).count();
    if rest.get(blanks) == Some(&b'\n') { 1 + blanks + 1 } else { 0 }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

struct Reader<'t> {
    joined: &'t Joined,
    at: usize,
    first: bool,
    glued: bool,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.joined.bytes.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.joined.bytes[self.at..].starts_with(text.as_bytes())
    }

    /// To the end of a line, which is a carriage return, too, for clang.
    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n' && byte != b'\r') {
            self.at += 1;
        }
    }

    /// Skips white space or a comment, if one comes next.
    fn skip(&mut self, byte: u8) -> bool {
        if self.starts_with("//") {
            self.skip_line();
        } else if self.starts_with("/*") {
            self.at += 2;
            while self.at < self.joined.bytes.len() && !self.starts_with("*/") {
                self.at += 1;
            }
            self.at = (self.at + 2).min(self.joined.bytes.len());
        } else if is_space(byte) {
            self.at += 1;
            self.first |= byte == b'\n' || byte == b'\r';
        } else {
            return false;
        }
        self.glued = false;
        true
    }

    fn token(&mut self, byte: u8) -> Kind {
        if is_word(byte) && !byte.is_ascii_digit() {
            let start = self.at;
            self.while_word();
            // `L"x"` is one literal, `L "x"` are two tokens.
            let prefix = matches!(&self.joined.bytes[start..self.at], b"L" | b"u" | b"U" | b"u8");
            return match self.peek(0) {
                Some(quote @ (b'"' | b'\'')) if prefix => self.quoted(quote),
                _ => Kind::Word,
            };
        }
        let is_number =
            byte.is_ascii_digit() || byte == b'.' && self.peek(1).is_some_and(|b| b.is_ascii_digit());
        match byte {
            _ if is_number => self.number(),
            b'"' | b'\'' => self.quoted(byte),
            _ => {
                let known = PUNCTUATORS.iter().find(|text| self.starts_with(text));
                self.at += known.map_or(1, |text| text.len());
                Kind::Punct
            }
        }
    }

    fn while_word(&mut self) {
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Kind {
        while let Some(byte) = self.peek(0) {
            let before = self.joined.bytes[self.at.saturating_sub(1)];
            let sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
            if !sign && byte != b'.' && !is_word(byte) {
                break;
            }
            self.at += 1;
        }
        Kind::Literal
    }

    /// A string or character; an unterminated one ends with its line.
    fn quoted(&mut self, quote: u8) -> Kind {
        self.at += 1;
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'\n') {
            self.at += if byte == b'\\' && self.peek(1).is_some_and(|next| next != b'\n') { 2 } else { 1 };
            if byte == quote {
                break;
            }
        }
        Kind::Literal
    }

    /// `<file.h>`
    fn header(&mut self) -> Kind {
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'\n') {
            self.at += 1;
            if byte == b'>' {
                break;
            }
        }
        Kind::Literal
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(&Joined::of(text.as_bytes())).into_iter().map(|token| token.text.into_owned()).collect()
    }

    #[test]
    fn tokens_are_those_of_c() {
        assert_eq!(texts("a+ +b ++c"), ["a", "+", "+", "b", "++", "c"]);
        assert_eq!(texts("L\"x\\\"y\" u8'z' L \"x\""), ["L\"x\\\"y\"", "u8'z'", "L", "\"x\""]);
        assert_eq!(
            texts("0x1p-3 1.5e+7f .5 a.b 1+2"),
            ["0x1p-3", "1.5e+7f", ".5", "a", ".", "b", "1", "+", "2"]
        );
        assert_eq!(
            texts("#include <a b.h> // c\n#if a<b>c"),
            ["#", "include", "<a b.h>", "#", "if", "a", "<", "b", ">", "c"]
        );
        assert_eq!(texts("#if __has_include(<a b.h>)"), ["#", "if", "__has_include", "(", "<a b.h>", ")"]);
        assert_eq!(texts("a/* \n */b // x \\\n y\nc"), ["a", "b", "c"]);
        assert_eq!(texts("don't\nx"), ["don", "'t", "x"]);
        assert_eq!(texts("a /* open"), ["a"]);
        assert_eq!(texts("a // x \\ \t\r\nb\nc \\ d"), ["a", "c", "\\", "d"], "blanks behind a backslash");
        assert_eq!(texts("a // x\rb // y\r\nc"), ["a", "b", "c"], "a carriage return ends a line");
    }

    #[test]
    fn joined_lines_keep_their_places() {
        let text = "ab\\\ncd e\\\r\nf";
        let joined = Joined::of(text.as_bytes());
        let found = tokens(&joined);
        assert_eq!(found.iter().map(|t| &*t.text).collect::<Vec<_>>(), ["abcd", "ef"]);
        assert_eq!((found[0].bytes.clone(), found[1].bytes.clone()), (0..6, 7..12));
        assert!(found[0].first && !found[1].first);
    }
}
