//! Patterns over names and paths.

use wildmatch::WildMatchPattern;

/// `*`, and a second wildcard that no name or path contains: `?` stands for itself.
type Pattern = WildMatchPattern<'*', '\0'>;

/// Whether all of `text` matches. `*` stands for any number of characters, including `/`.
pub fn matches(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).matches(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skip| slow(rest, &text[skip..])),
            Some((first, rest)) => text.first() == Some(first) && slow(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn is_what_the_definition_says(pattern in "[ab*]{0,8}", text in "[ab]{0,12}") {
            prop_assert_eq!(matches(&pattern, &text), slow(pattern.as_bytes(), text.as_bytes()));
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!matches(&"a*".repeat(40), &"a".repeat(39)));
        assert!(!matches(&("a*".repeat(40) + "b"), &"a".repeat(4000)));
    }

    #[test]
    fn only_the_star_is_special() {
        assert!(matches("a?b[c]*", "a?b[c]/d") && !matches("a?b", "axb"));
    }
}
