//! Finds the start of a function's body.

use super::token::{Joined, tokens};

/// The offset after the opening brace of the body, in the text of a definition. `None` if a directive
/// precedes it: then only a preprocessor could find the right brace.
pub fn body(definition: &str) -> Option<usize> {
    let joined = Joined::of(definition.as_bytes());
    let (mut depth, mut skipped, mut specifier) = (0usize, 0usize, false);
    for token in tokens(&joined) {
        match () {
            () if token.first && token.is("#") => return None,
            // A struct that is defined in the return type.
            () if token.is("{") && (specifier || skipped > 0) => (skipped, specifier) = (skipped + 1, false),
            () if token.is("}") && skipped > 0 => skipped -= 1,
            () if skipped > 0 => {}
            () if token.is("{") && depth == 0 => return Some(token.bytes.end),
            () if token.is("(") => (depth, specifier) = (depth + 1, false),
            () if token.is(")") => (depth, specifier) = (depth.saturating_sub(1), false),
            () if ["struct", "union", "enum"].iter().any(|word| token.is(word)) => specifier = depth == 0,
            () if token.is("*") || token.is(";") => specifier = false,
            () => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(definition: &str) -> Option<String> {
        Some(definition[body(definition)?..].trim().to_owned())
    }

    #[test]
    fn the_brace_of_the_body_is_found() {
        for head in [
            "int f(void)",
            "struct s *f(int a[sizeof(struct t)]) /* { */",
            "struct s { int x; struct { int y; } z; } f(struct u v)",
            "static __attribute__((noinline)) int (*f(int a))(void)\n",
            "int f(a, b)\n    int a;\n    struct s *b;\n",
            "enum e f(const char *text)\\\n",
        ] {
            assert_eq!(at(&format!("{head}{{ body {{ }} }}")).as_deref(), Some("body { } }"), "{head}");
        }
    }

    #[test]
    fn where_a_directive_decides_nothing_is_said() {
        assert_eq!(at("int f(\n#ifdef A\nint a) {\n#else\nlong a) {\n#endif\n}"), None);
        assert_eq!(at("DEFINE(f)"), None);
    }
}
