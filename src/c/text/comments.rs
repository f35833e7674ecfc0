//! What a C text has in it beside its comments.

use super::token::{Joined, tokens};

/// The number of semicolons in a text, without those in comments and strings.
pub fn semicolons(text: &[u8]) -> usize {
    tokens(&Joined::of(text)).iter().filter(|token| token.is(";")).count()
}

/// A text without its comments and without the lines that are empty then. Strings stay as they are.
pub fn without_comments(text: &str) -> String {
    let joined = Joined::of(text.as_bytes());
    let (mut kept, mut end) = (String::new(), 0);
    for token in tokens(&joined) {
        kept += gap(&text[end..token.bytes.start], token.first);
        kept += &text[token.bytes.clone()];
        end = token.bytes.end;
    }
    kept += gap(&text[end..], true);
    let mut text = String::new();
    for line in kept.lines().map(str::trim_end) {
        // Behind a joined line, an empty one is where the joining ends.
        if !line.is_empty() || text.ends_with("\\\n") {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// What stands between two tokens: the space itself, or what a comment leaves of it. A line that a comment joins with
/// the next one, as in a macro, is one line then.
fn gap(space: &str, begins_a_line: bool) -> &str {
    match (space.contains('/'), begins_a_line) {
        (false, _) => space,
        (true, true) => "\n",
        (true, false) => " ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_go_and_strings_stay() {
        let text = "int a; // one\n/* two\n   three */\nint b; /* x */ int c;\nchar *s = \"/* no */ \\\" //\";\nint d = 4 / 2;\n";
        assert_eq!(
            without_comments(text),
            "int a;\nint b; int c;\nchar *s = \"/* no */ \\\" //\";\nint d = 4 / 2;\n"
        );
        assert_eq!(without_comments("#define A /* a */ \\\n  b\n"), "#define A b\n");
        assert_eq!(without_comments("#define A /* x\n y */ 1\nint b;\n"), "#define A 1\nint b;\n");
        assert_eq!(without_comments("#endif\n/* a \\\n b */\nint b;\n"), "#endif\nint b;\n");
        assert_eq!(without_comments("/* open"), "");
    }

    /// Pieces of texts: what begins, ends or hides a comment.
    const PIECES: [&str; 15] =
        ["a", "7", " ", "\n", "\\\n", "/", "*", "/*", "*/", "//", "\"s /* \\\" //\"", "'\"'", "'", "#", "é"];

    proptest! {
        /// Whatever a text is, no token of it is lost, none is added, and each begins a line if it did.
        #[test]
        fn the_tokens_are_the_same(pieces in prop::collection::vec(prop::sample::select(&PIECES), 0..40)) {
            let of = |text: &str| -> Vec<(String, bool)> {
                let joined = Joined::of(text.as_bytes());
                tokens(&joined).iter().map(|one| (one.text.trim_end().to_owned(), one.first)).collect()
            };
            let text = pieces.concat();
            prop_assert_eq!(of(&without_comments(&text)), of(&text));
        }
    }
}
