//! The locals of a body that hold a copy of one parameter, so that `parse_uses` takes their uses for the parameter's.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::expr::{self, initialiser, is_pointer, named};
use clang_sys::*;
use std::collections::{BTreeMap, BTreeSet};

/// Maps the USR of a parameter or of a local copy to the position of the parameter.
pub(super) struct Copies {
    position: BTreeMap<String, usize>,
    parameters: BTreeSet<String>,
}

impl Copies {
    /// Finds the locals of `body` that only ever hold a copy of one parameter, possibly with an offset.
    pub(super) fn find(parameters: &[Cursor<'_>], body: Cursor<'_>) -> Self {
        let position: BTreeMap<String, usize> =
            parameters.iter().enumerate().map(|(i, p)| (p.usr(), i)).collect();
        let mut copies = Self { parameters: position.keys().cloned().collect(), position };
        let mut sources: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
        collect(body, &mut sources);
        // A copy of a copy is found in a later round; every round except the last adds at least one.
        loop {
            let found: Vec<(String, usize)> = sources
                .iter()
                .filter(|(local, _)| !copies.position.contains_key(*local))
                .filter_map(|(local, from)| Some((local.clone(), copies.only_source(local, from)?)))
                .collect();
            if found.is_empty() {
                return copies;
            }
            copies.position.extend(found);
        }
    }

    fn only_source(&self, local: &str, from: &[Option<String>]) -> Option<usize> {
        let mut positions =
            from.iter().filter(|f| f.as_deref() != Some(local)).map(|f| self.position.get(f.as_ref()?));
        let first = *positions.next()??;
        positions.all(|p| p == Some(&first)).then_some(first)
    }

    pub(super) fn is_parameter(&self, declaration: Cursor<'_>) -> bool {
        self.parameters.contains(&declaration.usr())
    }

    pub(super) fn of(&self, declaration: Cursor<'_>) -> Option<usize> {
        self.position.get(&declaration.usr()).copied()
    }
}

pub(super) fn is_local(declaration: Cursor<'_>) -> bool {
    declaration.kind() == CXCursor_VarDecl
        && declaration.linkage() == CXLinkage_NoLinkage
        && declaration.storage() != CX_SC_Static
}

/// Collects all assignments to locals: the plain name that the value comes from, the local itself (`p = p +
/// 1`), or `None`.
fn collect(node: Cursor<'_>, sources: &mut BTreeMap<String, Vec<Option<String>>>) {
    let assigned = match node.kind() {
        CXCursor_VarDecl if is_local(node) => initialiser(node).map(|value| (node, value)),
        CXCursor_BinaryOperator if node.binary_operator() == CXBinaryOperator_Assign => {
            match node.children()[..] {
                [left, right] => named(left).filter(|d| is_local(*d)).map(|local| (local, right)),
                _ => None,
            }
        }
        _ => None,
    };
    if let Some((local, value)) = assigned {
        let from = named(base(value)).map(|d| d.usr());
        sources.entry(local.usr()).or_default().push(from);
    }
    for child in node.children() {
        collect(child, sources);
    }
}

/// The pointer in a sum of a pointer and numbers; any other value itself.
fn base(value: Cursor<'_>) -> Cursor<'_> {
    let value = expr::strip(value);
    let pointer = || value.children().into_iter().find(|child| is_pointer(*child));
    if is_moved(value) { pointer().map_or(value, base) } else { value }
}

/// `p + n` assigned to `p`.
pub(super) fn moves(local: Cursor<'_>, value: Cursor<'_>) -> bool {
    let value = expr::strip(value);
    let is_sum = value.kind() == CXCursor_BinaryOperator
        && matches!(value.binary_operator(), CXBinaryOperator_Add | CXBinaryOperator_Sub);
    let first = is_sum.then(|| value.children().first().copied()).flatten();
    first.and_then(named).is_some_and(|base| base.usr() == local.usr())
}

/// Whether this is a pointer and a number, added or subtracted.
pub(super) fn is_moved(node: Cursor<'_>) -> bool {
    node.kind() == CXCursor_BinaryOperator
        && matches!(node.binary_operator(), CXBinaryOperator_Add | CXBinaryOperator_Sub)
        && is_pointer(node)
}
