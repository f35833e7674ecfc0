//! What C does where a pointer is null: the conditions that say so, and what they guard.

use super::token::{Joined, Token, tokens};

/// The words in conditions of `if` that ask whether `pointer` is null, and in the statements behind them.
pub fn words_where_null(text: &[u8], pointer: &str) -> Vec<String> {
    let joined = Joined::of(text);
    let tokens = tokens(&joined);
    let mut words = Vec::new();
    for at in (0..tokens.len()).filter(|at| tokens[*at].is("if")) {
        let Some(condition) = group(&tokens[at + 1..], "(", ")") else { continue };
        if !asks_for_null(condition, pointer) {
            continue;
        }
        let behind = &tokens[at + 1 + condition.len()..];
        let end = behind.iter().position(|token| token.is(";")).map_or(behind.len(), |at| at + 1);
        let body = group(behind, "{", "}").unwrap_or(&behind[..end]);
        let beside = condition.iter().filter(|token| !token.is(pointer));
        words.extend(beside.chain(body).map(|token| token.text.to_string()));
    }
    words
}

/// The tokens from an opening to its closing bracket, if they begin with one.
fn group<'a, 't>(tokens: &'a [Token<'t>], open: &str, close: &str) -> Option<&'a [Token<'t>]> {
    tokens.first().filter(|token| token.is(open))?;
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        depth = depth + usize::from(token.is(open)) - usize::from(token.is(close));
        if depth == 0 {
            return Some(&tokens[..=at]);
        }
    }
    None
}

/// Whether a condition holds for null: `!p`, `p == NULL`, `0 == p`.
fn asks_for_null(condition: &[Token], pointer: &str) -> bool {
    let is_null = |token: &Token| token.text == "NULL" || token.text == "0" || token.text == "nullptr";
    condition.windows(2).any(|pair| pair[0].is("!") && pair[1].is(pointer))
        || condition.windows(3).any(|three| {
            let [left, middle, right] = three else { return false };
            middle.is("==") && (left.is(pointer) && is_null(right) || is_null(left) && right.is(pointer))
        })
}

#[cfg(test)]
mod tests {
    use super::words_where_null;

    #[test]
    fn what_stands_beside_a_check_for_null_and_behind_it_is_found() {
        for (text, is_there) in [
            ("if (!p) { if (n == 0) return 0; return -1; } return n;", true),
            ("if (p == NULL &&\n n != 0) return -1; return 0;", true),
            ("if (NULL == p) return n;", true),
            ("if (!p) return 0; return n;", false),
            ("if (p) { return n; } return 0;", false),
            ("if (!q) return n; return 0;", false),
            ("if (!p) { return 0; } else return n;", false),
        ] {
            let words = words_where_null(text.as_bytes(), "p");
            assert_eq!(words.iter().any(|word| word == "n"), is_there, "{text}");
        }
    }
}
