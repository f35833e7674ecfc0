//! Loops that go along a text until its NUL, such as `while (*s) s++`.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::expr::{Sources, is_pointer, is_wrapper, named, strip};
use super::text::semicolons;
use clang_sys::*;
use std::collections::BTreeSet;

/// What of a text an expression looks at.
enum Place {
    /// What the pointer leads to.
    Itself,
    /// What it leads to at an index with these variables, by USR.
    Index(BTreeSet<String>),
}

/// Whether the use of a pointer at `mention`, below `parents`, is in a loop that ends at the NUL of what the pointer leads
/// to, and goes no further than the loop has looked. The distance of two pointers goes nowhere.
pub(super) fn stays_in_text(sources: &mut Sources, parents: &[Cursor<'_>], mention: Cursor<'_>) -> bool {
    let (Some(pointer), Some(user)) =
        (mention.referenced(), parents.iter().rposition(|node| !is_wrapper(*node)))
    else {
        return false;
    };
    // `s++` alone moves; `*(s + i)` is two nodes.
    if parents[user].kind() == CXCursor_BinaryOperator
        && parents[user].binary_operator() == CXBinaryOperator_Sub
        && !is_pointer(parents[user])
    {
        return true;
    }
    let mut users = parents[..=user].iter().rev().filter(|node| !is_wrapper(**node)).take(2);
    let Some(place) = users.find_map(|node| looked_at(*node, pointer).or_else(|| step(*node, pointer)))
    else {
        return false;
    };
    parents[..user].iter().any(|node| match condition(sources, *node).and_then(|c| tested(c, pointer)) {
        Some(Place::Index(tested)) => matches!(&place, Place::Index(own) if own.is_subset(&tested)),
        Some(Place::Itself) => matches!(place, Place::Itself),
        None => false,
    })
}

/// The condition of a loop.
fn condition<'tu>(sources: &mut Sources, node: Cursor<'tu>) -> Option<Cursor<'tu>> {
    let children = node.children();
    match (node.kind(), &children[..]) {
        (CXCursor_WhileStmt, [.., condition, _]) | (CXCursor_DoStmt, [_, condition]) => Some(*condition),
        // libclang leaves out what is empty, so the text says which of the three parts this one is.
        (CXCursor_ForStmt, [parts @ .., _]) => parts.iter().copied().find(|part| {
            let before = sources.between(&node.start_in_code(), &part.start_in_code());
            semicolons(before.as_bytes()) == 1
        }),
        _ => None,
    }
}

/// Which element the condition asks to be no NUL. If it tests or compares a number first, as `i < n && s[i]` and
/// `n && *s != ' ' && *s` do, the loop may end before it looks there, and the text needs no NUL.
fn tested(condition: Cursor<'_>, pointer: Cursor<'_>) -> Option<Place> {
    let node = strip(condition);
    match (node.kind(), &node.children()[..]) {
        (CXCursor_BinaryOperator, [left, right]) => match node.binary_operator() {
            CXBinaryOperator_LAnd => {
                let is_first = || looks_first(*left, pointer).then(|| tested(*right, pointer)).flatten();
                tested(*left, pointer).or_else(is_first)
            }
            CXBinaryOperator_NE if right.evaluate() == Some(0) => looked_at(*left, pointer),
            CXBinaryOperator_NE if left.evaluate() == Some(0) => looked_at(*right, pointer),
            CXBinaryOperator_Assign => looked_at(node, pointer),
            _ => None,
        },
        _ => looked_at(node, pointer),
    }
}

/// Whether an operand looks at the text before it tests anything else, and at no order of numbers.
fn looks_first(operand: Cursor<'_>, pointer: Cursor<'_>) -> bool {
    fn holds<'tu>(node: Cursor<'tu>, is_it: &dyn Fn(Cursor<'tu>) -> bool) -> bool {
        is_it(node) || node.children().into_iter().any(|child| holds(child, is_it))
    }
    let orders = |node: Cursor<'_>| {
        node.kind() == CXCursor_BinaryOperator
            && matches!(
                node.binary_operator(),
                CXBinaryOperator_LT | CXBinaryOperator_LE | CXBinaryOperator_GT | CXBinaryOperator_GE
            )
    };
    holds(first_tested(operand), &|node| looked_at(node, pointer).is_some()) && !holds(operand, &orders)
}

/// What C tests first in `a && b`, `a || b` and `a ? b : c`.
fn first_tested(operand: Cursor<'_>) -> Cursor<'_> {
    let node = strip(operand);
    let decides = match node.kind() {
        CXCursor_BinaryOperator => {
            matches!(node.binary_operator(), CXBinaryOperator_LAnd | CXBinaryOperator_LOr)
        }
        kind => kind == CXCursor_ConditionalOperator,
    };
    node.children().first().filter(|_| decides).map_or(node, |first| first_tested(*first))
}

/// The place of `*s`, `*s++`, `s[i]`, `*(s + i)` or `c = *s`.
fn looked_at(node: Cursor<'_>, pointer: Cursor<'_>) -> Option<Place> {
    let node = strip(node);
    match (node.kind(), &node.children()[..]) {
        (CXCursor_ArraySubscriptExpr, [base, index]) => at(*base, *index, pointer),
        (CXCursor_BinaryOperator, [_, value]) if node.binary_operator() == CXBinaryOperator_Assign => {
            looked_at(*value, pointer)
        }
        (CXCursor_UnaryOperator, [of]) if node.unary_operator() == CXUnaryOperator_Deref => {
            let of = strip(*of);
            match (of.kind(), &of.children()[..]) {
                _ if named(of) == Some(pointer) => Some(Place::Itself),
                (CXCursor_BinaryOperator, [left, right]) if of.binary_operator() == CXBinaryOperator_Add => {
                    at(*left, *right, pointer).or_else(|| at(*right, *left, pointer))
                }
                _ => step(of, pointer),
            }
        }
        _ => None,
    }
}

/// `s++` or `++s`.
fn step(node: Cursor<'_>, pointer: Cursor<'_>) -> Option<Place> {
    let is_step = node.kind() == CXCursor_UnaryOperator
        && matches!(node.unary_operator(), CXUnaryOperator_PostInc | CXUnaryOperator_PreInc);
    (is_step && named(*node.children().first()?) == Some(pointer)).then_some(Place::Itself)
}

fn at(base: Cursor<'_>, index: Cursor<'_>, pointer: Cursor<'_>) -> Option<Place> {
    fn collect(node: Cursor<'_>, names: &mut BTreeSet<String>) {
        names.extend(named(node).map(Cursor::usr));
        node.children().into_iter().for_each(|child| collect(child, names));
    }
    let mut names = BTreeSet::new();
    collect(index, &mut names);
    (named(base) == Some(pointer) && !names.is_empty()).then_some(Place::Index(names))
}
