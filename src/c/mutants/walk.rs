//! The walk through a C function's text that collects edits.

use super::edit::{Edit, in_text_order};
use crate::c::cursor::{Cursor, Location};
use std::ops::Range;

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
    pub fn sorted(self) -> Vec<Edit> {
        in_text_order(self.edits)
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
        let shown = &self.text[range.clone()];
        self.edits.push(Edit::new(node.start().line, range, by.to_owned(), (shown, what)));
    }
}
