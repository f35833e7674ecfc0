//! What changed from one candidate to the next, line by line.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// `old`, `new`, `same` or `gap`.
    pub class: &'static str,
    /// `-`, `+`, a space or `…`.
    pub sign: char,
    pub text: String,
}

/// Lines around a change that are shown.
const CONTEXT: usize = 3;

/// The lines of `new` if there is no `old`, else the changes with what stands around them.
pub(super) fn lines(old: Option<&str>, new: &str) -> Vec<Line> {
    let Some(old) = old else {
        return new.lines().map(|text| Line { class: "same", sign: ' ', text: text.to_owned() }).collect();
    };
    let diff = TextDiff::from_lines(old, new);
    let mut all = Vec::new();
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            all.push(Line { class: "gap", sign: '…', text: String::new() });
        }
        all.extend(group.iter().flat_map(|op| diff.iter_changes(op)).map(|change| {
            let (class, sign) = match change.tag() {
                ChangeTag::Delete => ("old", '-'),
                ChangeTag::Insert => ("new", '+'),
                ChangeTag::Equal => ("same", ' '),
            };
            Line { class, sign, text: change.value().trim_end_matches('\n').to_owned() }
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn changes_stand_between_unchanged_lines() {
        let shown = lines(Some("a\nb\nc\n"), "a\nx\nc\n");
        let text: Vec<String> = shown.iter().map(|line| format!("{}{}", line.sign, line.text)).collect();
        assert_eq!(text, [" a", "-b", "+x", " c"]);
        assert!(lines(Some("a\n"), "a\n").is_empty());
        assert_eq!(lines(None, "a\nb").len(), 2);
    }
}
