//! The edits of a function that has no others, such as `field = value;` where `field` is a macro, or a cast alone: whole
//! statements, up to their semicolon. What a macro stands for stays unchanged.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::edit::Edit;
use super::edits::is_droppable;
use super::walk::Walk;
use crate::c::cursor::Cursor;
use clang_sys::*;
use std::ops::Range;

/// All such edits of a definition with this text, in text order.
pub(super) fn macro_edits(definition: Cursor<'_>, text: &str) -> Vec<Edit> {
    let start = definition.start();
    let mut walk = Walk { text, start: &start, edits: Vec::new() };
    definition
        .children()
        .iter()
        .filter(|c| c.kind() == CXCursor_CompoundStmt)
        .for_each(|body| visit(&mut walk, *body));
    walk.sorted()
}

/// Adds the edits of all statements below `node`.
fn visit(walk: &mut Walk, node: Cursor<'_>) {
    let children = node.children();
    for child in &children {
        let is_statement = match node.kind() {
            CXCursor_CompoundStmt => true,
            CXCursor_IfStmt | CXCursor_WhileStmt | CXCursor_ForStmt => Some(child) != children.first(),
            _ => false,
        };
        if is_statement {
            statement(walk, *child);
        }
        visit(walk, *child);
    }
}

fn statement(walk: &mut Walk, node: Cursor<'_>) {
    let Some(range) = until_semicolon(walk, node) else { return };
    let text = walk.text[range.clone()].to_owned();
    let value = text.strip_prefix("return").map(|value| (range.end - value.len(), value.trim()));
    match (node.kind(), value) {
        (CXCursor_ReturnStmt, Some((at, value))) if !value.is_empty() => {
            let is_pointer =
                node.children().first().is_some_and(|value| value.ty().canonical().kind() == CXType_Pointer);
            let by = if is_pointer { " ((void *)0)".to_owned() } else { format!(" !({value})") };
            walk.push(node, Some(at..range.end), &by, "");
        }
        (CXCursor_ReturnStmt, _) => {}
        // A macro that is a statement of its own is a `do` or a block in most cases.
        (kind, _) if is_droppable(node) || matches!(kind, CXCursor_DoStmt | CXCursor_CompoundStmt) => {
            walk.push(node, Some(range), "((void)0)", "dropped");
        }
        _ => {}
    }
}

/// The text of a statement without its semicolon; `None` where it is not the text of a simple statement.
fn until_semicolon(walk: &Walk, node: Cursor<'_>) -> Option<Range<usize>> {
    let at = node.start_in_code();
    let from = at.offset.checked_sub(walk.start.offset).filter(|_| at.file == walk.start.file)?;
    let text = walk.text.get(from..)?;
    let end = text.find(';')?;
    let text = &text[..end];
    let closes = |open: char, close: char| text.matches(open).count() == text.matches(close).count();
    // A brace or a quote is no simple statement, and half of a bracket no whole one.
    (!text.contains(['{', '}', '"', '\'']) && closes('(', ')') && closes('[', ']'))
        .then_some(from..from + end)
}
