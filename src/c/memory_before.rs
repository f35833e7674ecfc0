//! Uses of a pointer that lead to memory before it, such as a header that is hidden there.

use super::cursor::Cursor;
use super::expr::{is_pointer, is_wrapper};
use super::parse_copies::is_moved;
use clang_sys::*;

/// Whether `node`, below `parents`, is `p[-1]` or `p - 1` of a pointer. A variable number may be 0, and a limit is only
/// compared.
pub(super) fn leads_back(parents: &[Cursor<'_>], node: Cursor<'_>) -> bool {
    let is_index = node.kind() == CXCursor_ArraySubscriptExpr;
    let is_less = node.kind() == CXCursor_BinaryOperator
        && node.binary_operator() == CXBinaryOperator_Sub
        && is_moved(node);
    let [_, number] = node.children()[..] else { return false };
    let number = number.evaluate();
    is_index && number.is_some_and(|number| number < 0)
        || is_less && number.is_some_and(|number| number > 0) && !is_compared(parents)
}

/// Whether an address below `parents` is only compared with another one, or subtracted from it.
fn is_compared(parents: &[Cursor<'_>]) -> bool {
    let goes_on =
        |node: &&Cursor<'_>| is_wrapper(**node) || node.kind() == CXCursor_CStyleCastExpr || is_moved(**node);
    let used = parents.iter().rev().find(|node| !goes_on(node));
    used.is_some_and(|node| node.kind() == CXCursor_BinaryOperator && !is_pointer(*node))
}
