//! What C does where a pointer is null: the conditions that say so, and what they guard.

use super::token::{Joined, Token, tokens};

/// The words in conditions that ask whether `pointer` is null, and in what C does where it is.
pub fn words_where_null(text: &[u8], pointer: &str) -> Vec<String> {
    let joined = Joined::of(text);
    let tokens = tokens(&joined);
    let mut found: Vec<&Token> = Vec::new();
    for at in 0..tokens.len() {
        if tokens[at].is("if") {
            found.extend(guarded(&tokens[at + 1..], pointer));
        } else if tokens[at].is("?") {
            let start =
                tokens[..at].iter().rposition(|t| [";", "{", "}", ",", "return"].iter().any(|end| t.is(end)));
            let condition = &tokens[start.map_or(0, |start| start + 1)..at];
            let end = tokens[at..].iter().position(|t| t.is(";")).map_or(tokens.len(), |end| at + end);
            let colon = tokens[at..end].iter().position(|t| t.is(":")).map_or(end, |colon| at + colon);
            if asks_for_null(condition, pointer) {
                found.extend(&tokens[at..colon]);
            } else if asks_for_some(condition, pointer) {
                found.extend(&tokens[colon..end]);
            }
        }
    }
    found.into_iter().filter(|token| !token.is(pointer)).map(|token| token.text.to_string()).collect()
}

/// What an `if` before these tokens does where the pointer is null.
fn guarded<'a, 't>(behind: &'a [Token<'t>], pointer: &str) -> &'a [Token<'t>] {
    let Some(condition) = group(behind, "(", ")") else { return &[] };
    let rest = &behind[condition.len()..];
    let first = statement(rest);
    let otherwise = &rest[first.len()..];
    match () {
        () if asks_for_null(condition, pointer) => &behind[..condition.len() + first.len()],
        () if !asks_for_some(condition, pointer) => &[],
        () if otherwise.first().is_some_and(|token| token.is("else")) => statement(&otherwise[1..]),
        // Only null comes by.
        () if leaves(first) => otherwise,
        () => &[],
    }
}

/// The statement that these tokens begin with.
fn statement<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let end = tokens.iter().position(|token| token.is(";")).map_or(tokens.len(), |at| at + 1);
    group(tokens, "{", "}").unwrap_or(&tokens[..end])
}

/// Whether the last statement of these leaves the place.
fn leaves(tokens: &[Token]) -> bool {
    let ends: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at].is(";")).collect();
    let Some(last) = ends.last() else { return false };
    let begins =
        tokens[..*last].iter().rposition(|t| t.is(";") || t.is("{") || t.is("}")).map_or(0, |at| at + 1);
    ["return", "goto", "break", "continue"].iter().any(|word| tokens[begins].is(word))
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

fn is_null(token: &Token) -> bool {
    ["NULL", "0", "nullptr", "Z_NULL"].contains(&&*token.text)
}

/// Whether a condition holds for null: `!p`, `p == NULL`, `0 == p`.
fn asks_for_null(condition: &[Token], pointer: &str) -> bool {
    let is_plain =
        |at: usize| condition.get(at).is_none_or(|next| !["->", "[", "."].iter().any(|of| next.is(of)));
    let negated = (0..condition.len().saturating_sub(1))
        .any(|at| condition[at].is("!") && condition[at + 1].is(pointer) && is_plain(at + 2));
    negated || compares(condition, "==", pointer)
}

/// Whether a condition holds for other pointers alone: `p`, `p && q`, `p != NULL`.
fn asks_for_some(condition: &[Token], pointer: &str) -> bool {
    let is_alone = |at: usize| {
        let before = at.checked_sub(1).map(|at| &condition[at]);
        condition[at].is(pointer)
            && before.is_none_or(|token| token.is("(") || token.is("&&"))
            && condition.get(at + 1).is_none_or(|token| token.is(")") || token.is("&&"))
    };
    let is_one = !condition.iter().any(|token| token.is("||"));
    is_one && ((0..condition.len()).any(is_alone) || compares(condition, "!=", pointer))
}

fn compares(condition: &[Token], operator: &str, pointer: &str) -> bool {
    condition.windows(3).any(|three| {
        let [left, middle, right] = three else { return false };
        middle.is(operator) && (left.is(pointer) && is_null(right) || is_null(left) && right.is(pointer))
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
            ("if (p) { return 1; } return n;", true),
            ("if (p) { walk(p, n); } return 0;", false),
            ("if (p) { walk(p, n); } return n;", false),
            ("if (p != NULL) return 1; else return n;", true),
            ("return p ? walk(p) : n;", true),
            ("return p ? walk(p, n) : 0;", false),
            ("return !p ? n : 0;", true),
            ("if (!p->next) return n; return 0;", false),
            ("if (p || q) return 1; return n;", false),
        ] {
            let words = words_where_null(text.as_bytes(), "p");
            assert_eq!(words.iter().any(|word| word == "n"), is_there, "{text}");
        }
    }
}
