//! The values of literals: strings, characters, characters in a row such as `{ 'O', 'K' }`, and integers.

use super::token::{Joined, Kind, Token, tokens};
use std::collections::BTreeSet;

/// The values with two bytes or more in a C text. What `#include` names is none.
pub fn literals(text: &[u8]) -> BTreeSet<Vec<u8>> {
    let joined = Joined::of(text);
    let (mut found, mut row, mut is_included) = (BTreeSet::new(), Vec::new(), false);
    for token in tokens(&joined) {
        if token.first {
            is_included = false;
        }
        is_included |= token.is("include");
        match quoted(&token) {
            Some(('\'', value)) => row.extend(value),
            Some((_, value)) if !is_included => drop(found.insert(value)),
            _ if token.is(",") => {}
            _ => drop(found.insert(std::mem::take(&mut row))),
        }
    }
    found.retain(|value| value.len() > 1);
    found
}

/// The strings that each statement of a C text has, in order, with the words of the statement. Adjacent literals are one
/// string; what is included is none.
pub fn strings(text: &[u8]) -> Vec<(BTreeSet<String>, Vec<Vec<u8>>)> {
    let joined = Joined::of(text);
    let (mut all, mut words) = (Vec::new(), BTreeSet::new());
    let mut found: Vec<Vec<u8>> = Vec::new();
    let (mut is_open, mut is_included, mut is_behind_head) = (false, false, false);
    for token in tokens(&joined) {
        is_included = token.is("include") || is_included && !token.first;
        if is_included {
            continue;
        }
        let string = quoted(&token).filter(|(quote, _)| *quote == '"').map(|(_, value)| value);
        match (string, found.last_mut()) {
            (Some(value), Some(last)) if is_open => last.extend(value),
            (Some(value), _) => found.push(value),
            (None, _) => {}
        }
        is_open = quoted(&token).is_some();
        // `=` and the like are words of a statement, too.
        if !is_open {
            words.insert(token.text.clone().into_owned());
        }
        // A list in braces belongs to the statement.
        if token.is(";") || token.is("{") && is_behind_head {
            all.push((std::mem::take(&mut words), std::mem::take(&mut found)));
        }
        is_behind_head = token.is(")");
    }
    all.push((words, found));
    all.retain(|(_, found)| !found.is_empty());
    all
}

/// The values of all strings in a C text, or of all characters, depending on the quote.
pub fn quoted_by(text: &[u8], quote: char) -> Vec<Vec<u8>> {
    let joined = Joined::of(text);
    let literals = tokens(&joined);
    literals.iter().filter_map(quoted).filter(|(by, _)| *by == quote).map(|(_, value)| value).collect()
}

/// The integers in a C text.
pub fn integers(text: &[u8]) -> BTreeSet<u64> {
    let joined = Joined::of(text);
    let literals = tokens(&joined);
    literals
        .iter()
        .filter(|token| token.kind == Kind::Literal)
        .filter_map(|token| integer(&token.text))
        .collect()
}

/// The value of an integer literal (C23, 6.4.4.2), without a sign.
fn integer(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let prefixes = [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0", 8)];
    let (digits, radix) = prefixes
        .iter()
        .filter_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, *radix)))
        .find(|(rest, _)| !rest.is_empty())
        .unwrap_or((digits, 10));
    u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

/// The quote and the value of a literal, if it is a string or a character.
pub(super) fn quoted(token: &Token) -> Option<(char, Vec<u8>)> {
    let quote =
        token.text.chars().last().filter(|last| token.kind == Kind::Literal && "'\"".contains(*last))?;
    let inner = token.text.split_once(quote)?.1.strip_suffix(quote)?;
    Some((quote, value(inner.as_bytes())))
}

/// C17, 6.4.4.4; what has no escape is itself.
fn value(mut text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    while let Some((&first, rest)) = text.split_first() {
        text = rest;
        let (b'\\', Some((&escape, after))) = (first, rest.split_first()) else {
            value.push(first);
            continue;
        };
        let (digits, radix, most) = match escape {
            b'x' => (after, 16, after.len()),
            b'0'..=b'7' => (rest, 8, 3),
            _ => (&[][..], 8, 0),
        };
        let count = digits.iter().take(most).take_while(|digit| char::from(**digit).is_digit(radix)).count();
        if count > 0 {
            let number = digits[..count].iter().fold(0u32, |number, digit| {
                number.wrapping_mul(radix) + char::from(*digit).to_digit(radix).unwrap_or(0)
            });
            value.push(number.to_le_bytes()[0]);
            text = &digits[count..];
            continue;
        }
        text = after;
        value.push(match escape {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            other => other,
        });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_the_text() {
        let found = integers(b"if (n > 9u || n == 0x1F) x = \"77\" + '5'; y = 1.5; a7 = 30;");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [9, 30, 31]);
    }

    #[test]
    fn integers_have_the_base_that_their_prefix_says() {
        let words = ["0", "0644", "644", "0xfFu", "0B101ull", "08", "0x", "+1", "u", ""];
        let wanted = [Some(0), Some(0o644), Some(644), Some(255), Some(5), None, None, None, None, None];
        assert_eq!(words.map(integer), wanted);
    }

    #[test]
    fn a_quote_in_the_other_quotes_ends_nothing() {
        let text = br#"if (c == '"' || c == '\'') f("a'b" /* don't */, "c\"d"); "#;
        assert_eq!(quoted_by(text, '"'), [&b"a'b"[..], b"c\"d"]);
        assert_eq!(quoted_by(text, '\''), [b"\"", b"'"]);
    }

    #[test]
    fn strings_and_rows_of_characters_have_values() {
        let text = br#"#include "a.h"
            /* "no" */ const char *a = "xml\n\x41\1018" "%PDF", *b = L"wide", c = 'x';
            const char d[] = { 'O', 'K', '\0' }; int e = f('1', "", "q\"\\");"#;
        let found = literals(text);
        let wanted: [&[u8]; 5] = [b"%PDF", b"OK\0", b"q\"\\", b"wide", b"xml\nAA8"];
        assert_eq!(found.iter().map(Vec::as_slice).collect::<Vec<_>>(), wanted);
    }
}
