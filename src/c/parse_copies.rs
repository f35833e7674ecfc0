//! The locals of a body that hold a copy of one parameter, or what a function returned for it, so that `parse_uses`
//! finds their uses.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::expr::{self, initialiser, is_pointer, is_zero, named};
use clang_sys::*;
use std::collections::{BTreeMap, BTreeSet};

/// Maps the USR of a parameter or of a local copy to the position of the parameter.
pub(super) struct Copies {
    position: BTreeMap<String, usize>,
    parameters: BTreeSet<String>,
    /// Pointers that only ever hold null or what one function returned for these parameters.
    results: BTreeMap<String, Vec<Passed>>,
}

/// A parameter as an argument of a function.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Passed {
    /// The position of the parameter.
    pub parameter: usize,
    pub callee: String,
    /// The position of the argument.
    pub position: usize,
}

/// What is assigned to a local.
enum Source {
    /// The value of this variable, possibly with an offset.
    Variable(String),
    Null,
    /// The result of a call with these variables as arguments.
    Call {
        callee: String,
        arguments: Vec<Option<String>>,
    },
    Other,
}

impl Copies {
    /// Finds the locals of `body` that only ever hold a copy of one parameter, possibly with an offset.
    pub(super) fn find(parameters: &[Cursor<'_>], body: Cursor<'_>) -> Self {
        let position: BTreeMap<String, usize> =
            parameters.iter().enumerate().map(|(i, p)| (p.usr(), i)).collect();
        let parameters = position.keys().cloned().collect();
        let mut copies = Self { parameters, position, results: BTreeMap::new() };
        let mut sources: BTreeMap<String, Vec<Source>> = BTreeMap::new();
        collect(body, &mut sources);
        // A copy of a copy is found in a later round; every round except the last adds at least one.
        loop {
            let found: Vec<(String, usize)> = sources
                .iter()
                .filter(|(local, _)| !copies.position.contains_key(*local))
                .filter_map(|(local, from)| Some((local.clone(), copies.only_source(local, from)?)))
                .collect();
            if found.is_empty() {
                break;
            }
            copies.position.extend(found);
        }
        let results = sources.iter().filter(|(local, _)| !copies.position.contains_key(*local));
        let results =
            results.filter_map(|(local, from)| Some((local.clone(), copies.only_result(local, from)?)));
        copies.results = results.collect();
        copies
    }

    fn only_source(&self, local: &str, from: &[Source]) -> Option<usize> {
        let mut positions = from.iter().filter(|from| !from.is(local)).map(|from| match from {
            Source::Variable(name) => self.position.get(name),
            _ => None,
        });
        let first = *positions.next()??;
        positions.all(|p| p == Some(&first)).then_some(first)
    }

    /// The parameters in the calls that the local's values come from, which must all be alike. The local itself, as in a loop
    /// of `p = strchr(p + 1, c)`, stands for the parameter that it comes from.
    fn only_result(&self, local: &str, from: &[Source]) -> Option<Vec<Passed>> {
        let mut only: Option<Vec<Passed>> = None;
        for from in from.iter().filter(|from| !from.is(local) && !matches!(from, Source::Null)) {
            let Source::Call { callee, arguments } = from else { return None };
            let of = |(at, name): (usize, &Option<String>)| {
                let name = name.as_ref()?;
                let again = || only.as_ref()?.iter().find(|known| name == local && known.position == at);
                let parameter = self.position.get(name).copied().or_else(|| Some(again()?.parameter))?;
                Some(Passed { parameter, callee: callee.clone(), position: at })
            };
            let found: Vec<Passed> = arguments.iter().enumerate().filter_map(of).collect();
            if found.is_empty() || only.as_ref().is_some_and(|only| *only != found) {
                return None;
            }
            only = Some(found);
        }
        only
    }

    pub(super) fn is_parameter(&self, declaration: Cursor<'_>) -> bool {
        self.parameters.contains(&declaration.usr())
    }

    pub(super) fn of(&self, declaration: Cursor<'_>) -> Option<usize> {
        self.position.get(&declaration.usr()).copied()
    }

    /// The parameters in the call whose result a local holds.
    pub(super) fn result(&self, declaration: Cursor<'_>) -> &[Passed] {
        self.results.get(&declaration.usr()).map_or(&[], Vec::as_slice)
    }
}

impl Source {
    fn of(value: Cursor<'_>) -> Self {
        if is_zero(value) {
            return Self::Null;
        }
        let value = base(value);
        if let Some(variable) = named(value) {
            return Self::Variable(variable.usr());
        }
        let callee = value.referenced().filter(|of| of.kind() == CXCursor_FunctionDecl);
        match callee.filter(|_| value.kind() == CXCursor_CallExpr && is_pointer(value)) {
            Some(callee) => {
                let variable = |argument: &Cursor<'_>| Some(named(base(*argument))?.usr());
                Self::Call {
                    callee: callee.name(),
                    arguments: value.arguments().iter().map(variable).collect(),
                }
            }
            None => Self::Other,
        }
    }

    /// Whether it is `p = p + 1` for this local.
    fn is(&self, local: &str) -> bool {
        matches!(self, Self::Variable(name) if name == local)
    }
}

pub(super) fn is_local(declaration: Cursor<'_>) -> bool {
    declaration.kind() == CXCursor_VarDecl
        && declaration.linkage() == CXLinkage_NoLinkage
        && declaration.storage() != CX_SC_Static
}

/// Collects all assignments to locals.
fn collect(node: Cursor<'_>, sources: &mut BTreeMap<String, Vec<Source>>) {
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
        sources.entry(local.usr()).or_default().push(Source::of(value));
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

/// Whether it is a pointer that leads further than a local one: `p + n`, `p++` or `&p[n]`.
pub(super) fn is_inside_local(value: Cursor<'_>) -> bool {
    let value = expr::strip(value);
    let first = || value.children().first().copied();
    let inner = match value.kind() {
        CXCursor_UnaryOperator if value.unary_operator() == CXUnaryOperator_AddrOf => first()
            .map(expr::strip)
            .filter(|of| of.kind() == CXCursor_ArraySubscriptExpr)
            .and_then(|of| of.children().first().copied()),
        CXCursor_UnaryOperator if value.unary_operator() != CXUnaryOperator_Deref => first(),
        CXCursor_CompoundAssignOperator => first(),
        _ => Some(base(value)).filter(|of| *of != value),
    };
    is_pointer(value) && inner.is_some_and(|of| named(of).is_some_and(is_local) || is_inside_local(of))
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
