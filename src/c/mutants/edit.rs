//! One small change of a text. Mutants of C and of ports are made of such changes.

use std::ops::Range;

/// How many characters of a text people are shown.
const SHOWN: usize = 40;

/// One change of a function's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Line in the file of the function.
    pub line: u32,
    /// Byte range in the text.
    pub range: Range<usize>,
    pub by: String,
    /// For people: the old and the new text.
    pub what: String,
}

impl Edit {
    /// A change that is described by the old text `shown`, and by `what` happens to it; by the new text if that is empty.
    pub fn new(line: u32, range: Range<usize>, by: String, (shown, what): (&str, &str)) -> Self {
        let old = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let old = match old.char_indices().nth(SHOWN) {
            Some((at, _)) => format!("{}…", &old[..at]),
            None => old,
        };
        let what =
            if what.is_empty() { format!("`{old}` → `{}`", by.trim()) } else { format!("`{old}` {what}") };
        Self { line, range, by, what }
    }
}

/// The edits in text order, each once.
pub fn in_text_order(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by(|a, b| (a.range.start, a.range.end, &a.by).cmp(&(b.range.start, b.range.end, &b.by)));
    edits.dedup();
    edits
}
