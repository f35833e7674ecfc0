//! The walk through a function's text that collects edits.

use crate::c::cursor::{Cursor, Location};
use std::ops::Range;

/// One change of a function's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// Line in the file of the function.
    pub line: u32,
    /// Byte range in the function's text.
    pub range: Range<usize>,
    pub by: String,
    /// For people: the old and the new text.
    pub what: String,
}

/// The byte range in `text` between two places of a file, where `text` begins at `start`; `None` if they are
/// outside.
pub(super) fn between(
    text: &str,
    start: &Location,
    (from, to): (&Location, &Location),
) -> Option<Range<usize>> {
    let here = from.file == start.file && to.file == start.file;
    let range = from.offset.checked_sub(start.offset)?..to.offset.checked_sub(start.offset)?;
    (here && text.get(range.clone()).is_some()).then_some(range)
}

pub(super) struct Walk<'a> {
    pub text: &'a str,
    /// Where the text begins.
    pub start: &'a Location,
    pub edits: Vec<Edit>,
}

impl Walk<'_> {
    /// The edits, in text order.
    pub fn sorted(mut self) -> Vec<Edit> {
        self.edits
            .sort_by(|a, b| (a.range.start, a.range.end, &a.by).cmp(&(b.range.start, b.range.end, &b.by)));
        self.edits.dedup();
        self.edits
    }

    /// The byte range of a node in the function's text.
    pub fn range(&self, node: Cursor<'_>) -> Option<Range<usize>> {
        self.between(&node.start(), &node.end())
    }

    pub fn between(&self, from: &Location, to: &Location) -> Option<Range<usize>> {
        between(self.text, self.start, (from, to))
    }

    pub fn push(&mut self, node: Cursor<'_>, range: Option<Range<usize>>, by: &str, what: &str) {
        let Some(range) = range else { return };
        let old = self.text[range.clone()].to_owned();
        self.push_told(node, (range, &old), by, what);
    }

    /// The same for a range that is only a part of the text that people are told of.
    pub fn push_told(&mut self, node: Cursor<'_>, (range, old): (Range<usize>, &str), by: &str, what: &str) {
        let old = old.split_whitespace().collect::<Vec<_>>().join(" ");
        let old = match old.char_indices().nth(40) {
            Some((at, _)) => format!("{}…", &old[..at]),
            None => old,
        };
        let what =
            if what.is_empty() { format!("`{old}` → `{}`", by.trim()) } else { format!("`{old}` {what}") };
        self.edits.push(Edit { line: node.start().line, range, by: by.to_owned(), what });
    }
}
