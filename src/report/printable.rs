//! Text from outside, made safe for a terminal.

/// Makes text from C, a model or the database safe for a terminal: escapes control characters other than line
/// breaks, and characters that reverse the text direction or are invisible.
pub fn printable(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let steers = |c: char| c.is_control() && c != '\n' || is_hidden(c);
    if !text.contains(steers) {
        return text.to_owned();
    }
    let show = |c: char| if steers(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_sequences_from_outside_are_shown_not_obeyed() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{7}"), "a\\u{1b}[2Jb\nc\\u{7}");
    }
}
