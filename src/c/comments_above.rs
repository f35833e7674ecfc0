//! The comment of a definition.

use super::cursor::{Cursor, Location};
use super::expr::Sources;

/// Number of bytes before a definition that are searched for its comment, so that files of many megabytes are
/// not copied for each definition.
const LONGEST_COMMENT: usize = 16 << 10;

/// The comment directly above, else the one that clang attaches to the declaration.
pub(super) fn of(sources: &mut Sources, item: Cursor<'_>, start: &Location) -> String {
    directly(sources, start).unwrap_or_else(|| {
        let attached = item.comment();
        // A comment that is separated by a blank line belongs to something else, though clang attaches
        // it.
        let above = sources.bytes(&start.file).get(..start.offset).unwrap_or_default();
        let is_above = above.trim_ascii_end().ends_with(attached.trim_end().as_bytes());
        if is_above { String::new() } else { attached }
    })
}

/// The comment directly above.
pub(super) fn directly(sources: &mut Sources, start: &Location) -> Option<String> {
    let above = sources.bytes(&start.file).get(..start.offset).unwrap_or_default();
    // libclang places the start of a macro at its name.
    let directive = line_start(above);
    let is_directive = above[directive..].trim_ascii_start().starts_with(b"#");
    let above = if is_directive { &above[..directive] } else { above };
    let end = above.trim_ascii_end();
    let last = &end[line_start(end)..];
    // Few definitions have a comment and files may be large, so check before copying.
    if !end.ends_with(b"*/") && !last.trim_ascii_start().starts_with(b"//") {
        return None;
    }
    let above = &above[above.len().saturating_sub(LONGEST_COMMENT)..];
    // Ignore separators such as a line of dashes.
    comment_above(&String::from_utf8_lossy(above)).filter(|text| text.contains(char::is_alphanumeric))
}

/// The offset at which the last line of `text` starts.
fn line_start(text: &[u8]) -> usize {
    text.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1)
}

/// The comment at the end of `text`, followed by at most one line break.
fn comment_above(text: &str) -> Option<String> {
    let trimmed = text.trim_end();
    if text[trimmed.len()..].matches('\n').count() > 1 {
        return None;
    }
    if trimmed.ends_with("*/") {
        let start = trimmed.rfind("/*")?;
        // A comment after code belongs to that code.
        let line_start = trimmed[..start].rfind('\n').map_or(0, |i| i + 1);
        return trimmed[line_start..start].trim().is_empty().then(|| trimmed[start..].to_owned());
    }
    let lines: Vec<&str> = trimmed.lines().rev().take_while(|l| l.trim_start().starts_with("//")).collect();
    (!lines.is_empty()).then(|| lines.into_iter().rev().map(str::trim).collect::<Vec<_>>().join("\n"))
}
