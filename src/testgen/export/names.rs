//! Names and comments of tests, made from untrusted texts of a model.

use proc_macro2::Ident;
use quote::format_ident;
use std::collections::BTreeSet;

/// Largest number of characters of a name and of a comment.
const NAME: usize = 80;
const COMMENT: usize = 300;

/// The unique name of a test: its category, then its id, as letters, digits and `_`.
pub(super) fn test_name(category: &str, id: &str, taken: &mut BTreeSet<String>) -> Ident {
    let (category, id) = (words(category), words(id));
    let with_category = match id.strip_prefix(&category) {
        Some(rest) if rest.is_empty() || rest.starts_with('_') || category.is_empty() => id,
        _ => format!("{category}_{id}"),
    };
    let short: String = with_category.chars().take(NAME).collect();
    let name = match short.trim_matches('_') {
        "" => "test".to_owned(),
        name if name.starts_with(|first: char| first.is_ascii_digit()) => format!("test_{name}"),
        name if syn::parse_str::<Ident>(name).is_err() => format!("test_{name}"),
        name => name.to_owned(),
    };
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.expect("there are more numbers than tests");
    taken.insert(free.clone());
    format_ident!("{free}")
}

/// Lower-case letters and digits, with one `_` for anything between them.
fn words(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_")
}

/// One harmless line: without control characters, and without characters that change the direction of the text.
pub(super) fn one_line(text: &str) -> String {
    let harmless = |letter: char| match letter {
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => ' ',
        '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}' | '\u{61c}' | '\u{ad}' => ' ',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    let line: String = text.chars().map(harmless).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(COMMENT).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_words_with_their_category_in_front() {
        let mut taken = BTreeSet::new();
        let mut name = |category: &str, id: &str| test_name(category, id, &mut taken).to_string();
        assert_eq!(name("boundary", "Empty input!"), "boundary_empty_input");
        assert_eq!(name("boundary", "boundary-empty_input"), "boundary_empty_input_2");
        assert_eq!(name("anti_cheat", "1"), "anti_cheat_1");
        assert_eq!(name("", "fn"), "test_fn");
        assert_eq!(name("", "3"), "test_3");
        assert_eq!(name("", "\u{202e}"), "test");
        assert_eq!(name("", ""), "test_2");
    }

    #[test]
    fn a_comment_is_one_line() {
        assert_eq!(one_line("a\r\nb\u{0}c */ \u{202e}d"), "a b c */ d");
        assert_eq!(one_line(&"x".repeat(400)).chars().count(), COMMENT + 1);
    }

    proptest! {
        #[test]
        fn any_text_is_a_name_and_a_comment(category: String, id: String) {
            let mut taken = BTreeSet::from(["alone".to_owned()]);
            let first = test_name(&category, &id, &mut taken).to_string();
            let second = test_name(&category, &id, &mut taken).to_string();
            prop_assert!(first != second && first != "alone");
            prop_assert!(syn::parse_str::<Ident>(&first).is_ok());
            prop_assert!(!one_line(&id).contains(|letter: char| letter.is_control()));
        }
    }
}
