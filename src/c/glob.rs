//! Patterns over names and paths.

/// Whether all of `text` matches. `*` stands for any number of characters, including `/`.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // The position after the last star, and where its match ends for now. Only the last star must ever be
    // extended.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((behind, end)) = star {
            star = Some((behind, end + 1));
            (p, t) = (behind, end + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
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
}
