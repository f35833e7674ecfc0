//! How a body uses its parameters, directly or through plain local copies. `contract` infers roles from the
//! uses (a length, a string, an out-parameter).

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::expr::{self, Sources, access, initialiser, is_pointer, is_wrapper, is_zero, named};
use crate::symbol::{ParamUse, UseKind};
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

    fn of(&self, declaration: Cursor<'_>) -> Option<usize> {
        self.position.get(&declaration.usr()).copied()
    }
}

fn is_local(declaration: Cursor<'_>) -> bool {
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
        let from = named(value).map(|d| d.usr()).or_else(|| moved(local, value));
        sources.entry(local.usr()).or_default().push(from);
    }
    for child in node.children() {
        collect(child, sources);
    }
}

/// `p + n` assigned to `p`: the local remains a copy.
fn moved(local: Cursor<'_>, value: Cursor<'_>) -> Option<String> {
    let value = expr::strip(value);
    let moves = value.kind() == CXCursor_BinaryOperator
        && matches!(value.binary_operator(), CXBinaryOperator_Add | CXBinaryOperator_Sub);
    let base = moves.then(|| value.children().first().copied()).flatten()?;
    named(base).map(|d| d.usr()).filter(|usr| *usr == local.usr())
}

/// The uses at one mention of a name: the position of the parameter, and the kinds of use. `parents` are the
/// ancestors of `mention`, outermost first.
pub(super) fn uses(
    copies: &Copies,
    sources: &mut Sources,
    parents: &[Cursor<'_>],
    mention: Cursor<'_>,
) -> Option<(usize, Vec<ParamUse>)> {
    let declaration = mention.referenced()?;
    let position = copies.of(declaration)?;
    let is_parameter = copies.parameters.contains(&declaration.usr());
    let mut look = Look { copies, sources, parents, mention, position, is_parameter, found: Vec::new() };
    look.climb();
    let line = mention.start().line;
    Some((position, look.found.into_iter().map(|kind| ParamUse { line, kind }).collect()))
}

/// Whether this is a pointer and a number, added or subtracted.
fn is_moved(node: Cursor<'_>) -> bool {
    node.kind() == CXCursor_BinaryOperator
        && matches!(node.binary_operator(), CXBinaryOperator_Add | CXBinaryOperator_Sub)
        && is_pointer(node)
}

struct Look<'a, 'tu> {
    copies: &'a Copies,
    sources: &'a mut Sources,
    parents: &'a [Cursor<'tu>],
    mention: Cursor<'tu>,
    position: usize,
    is_parameter: bool,
    found: Vec<UseKind>,
}

impl<'tu> Look<'_, 'tu> {
    /// Climbs from the mention to the first node that uses it.
    fn climb(&mut self) {
        let mut inner = self.mention;
        for depth in (0..self.parents.len()).rev() {
            let parent = self.parents[depth];
            if parent.kind() == CXCursor_CStyleCastExpr {
                self.found.push(UseKind::Cast { to: parent.ty().spelling() });
            } else if !is_wrapper(parent) {
                let kind = self.kind(depth, parent, inner);
                let follows = kind == Some(UseKind::Arithmetic) && is_moved(parent);
                self.found.extend(kind);
                if follows {
                    self.moved_use(depth);
                }
                return;
            }
            inner = parent;
        }
    }

    /// The use of a pointer that was moved: of the sum at `depth`.
    fn moved_use(&mut self, depth: usize) {
        let mut inner = self.parents[depth];
        for (at, parent) in self.parents[..depth].iter().enumerate().rev() {
            let parent = *parent;
            if is_wrapper(parent) || parent.kind() == CXCursor_CStyleCastExpr || is_moved(parent) {
                inner = parent;
                continue;
            }
            let is_deref = parent.kind() == CXCursor_ArraySubscriptExpr
                || parent.kind() == CXCursor_UnaryOperator
                    && parent.unary_operator() == CXUnaryOperator_Deref;
            let used = match parent.kind() {
                CXCursor_CallExpr => Some(self.call(parent, inner)),
                _ if is_deref => Some(UseKind::Deref(access(&self.parents[..at], parent))),
                // Comparisons and differences need no memory, and the parameter itself is followed.
                CXCursor_BinaryOperator if !is_pointer(parent) => None,
                CXCursor_BinaryOperator if self.is_own(parent) => None,
                _ => Some(UseKind::Other),
            };
            self.found.extend(used);
            return;
        }
    }

    /// Whether a copy of the parameter is assigned.
    fn is_own(&self, assignment: Cursor<'tu>) -> bool {
        let left = assignment.children().first().copied().and_then(named);
        left.is_some_and(|local| self.copies.of(local) == Some(self.position))
    }

    fn kind(&mut self, depth: usize, parent: Cursor<'tu>, inner: Cursor<'tu>) -> Option<UseKind> {
        let above = &self.parents[..depth];
        let children = parent.children();
        let is_first = children.first().is_some_and(|f| *f == inner);
        Some(match parent.kind() {
            CXCursor_ArraySubscriptExpr if is_first => {
                let index = *children.get(1)?;
                self.index(index, above, parent)
            }
            CXCursor_MemberRefExpr => UseKind::Field { name: parent.name(), access: access(above, parent) },
            CXCursor_UnaryOperator => return self.unary(depth, parent),
            CXCursor_BinaryOperator => return self.binary(depth, parent, inner),
            CXCursor_CompoundAssignOperator if is_first => match parent.binary_operator() {
                CXBinaryOperator_AddAssign | CXBinaryOperator_SubAssign => UseKind::Advance,
                _ => UseKind::Reassigned,
            },
            CXCursor_CompoundAssignOperator => UseKind::Arithmetic,
            CXCursor_CallExpr => self.call(parent, inner),
            CXCursor_ReturnStmt => UseKind::Returned,
            CXCursor_VarDecl => return self.copied_to(parent),
            CXCursor_InitListExpr => match above.iter().rev().find(|p| p.kind() == CXCursor_VarDecl) {
                Some(variable) => UseKind::Stored { to: variable.name() },
                None => UseKind::Other,
            },
            CXCursor_ConditionalOperator if !is_first => UseKind::Other,
            CXCursor_IfStmt
            | CXCursor_WhileStmt
            | CXCursor_ForStmt
            | CXCursor_DoStmt
            | CXCursor_ConditionalOperator => self.truth("!="),
            // `(void)p;` and `sizeof p` use no memory.
            CXCursor_CompoundStmt | CXCursor_UnaryExpr => return None,
            _ => UseKind::Other,
        })
    }

    fn index(&mut self, index: Cursor<'tu>, above: &[Cursor<'tu>], element: Cursor<'tu>) -> UseKind {
        UseKind::Index {
            index: self.index_text(index),
            constant: index.evaluate(),
            access: access(above, element),
        }
    }

    /// The text of the index, or its value if macros left no text.
    fn index_text(&mut self, index: Cursor<'tu>) -> String {
        let text = self.sources.text(index);
        if text.is_empty() { index.evaluate().map(|v| v.to_string()).unwrap_or_default() } else { text }
    }

    /// The use as a condition.
    fn truth(&self, op: &str) -> UseKind {
        if is_pointer(self.mention) {
            UseKind::NullCheck
        } else {
            UseKind::Compare { op: op.into(), with: "0".into() }
        }
    }

    fn unary(&mut self, depth: usize, parent: Cursor<'tu>) -> Option<UseKind> {
        Some(match parent.unary_operator() {
            CXUnaryOperator_Deref => UseKind::Deref(access(&self.parents[..depth], parent)),
            CXUnaryOperator_PostInc
            | CXUnaryOperator_PostDec
            | CXUnaryOperator_PreInc
            | CXUnaryOperator_PreDec => {
                // `*p++` also reads or writes the target of `p`.
                if let Some((above, deref)) = self.deref_above(depth) {
                    self.found.push(UseKind::Deref(access(above, deref)));
                }
                UseKind::Advance
            }
            CXUnaryOperator_AddrOf => UseKind::AddressOf,
            CXUnaryOperator_LNot => self.truth("=="),
            _ => UseKind::Other,
        })
    }

    /// The `*` directly above the node at `depth`, with its ancestors.
    fn deref_above(&self, depth: usize) -> Option<(&[Cursor<'tu>], Cursor<'tu>)> {
        let at = (0..depth).rev().find(|i| !is_wrapper(self.parents[*i]))?;
        let node = self.parents[at];
        let is_deref =
            node.kind() == CXCursor_UnaryOperator && node.unary_operator() == CXUnaryOperator_Deref;
        is_deref.then(|| (&self.parents[..at], node))
    }

    fn binary(&mut self, depth: usize, parent: Cursor<'tu>, inner: Cursor<'tu>) -> Option<UseKind> {
        let [left, right] = parent.children()[..] else { return Some(UseKind::Other) };
        let is_left = left == inner;
        let other = if is_left { right } else { left };
        Some(match parent.binary_operator() {
            CXBinaryOperator_EQ | CXBinaryOperator_NE if is_pointer(self.mention) && is_zero(other) => {
                UseKind::NullCheck
            }
            CXBinaryOperator_EQ | CXBinaryOperator_NE | CXBinaryOperator_LT | CXBinaryOperator_LE
            | CXBinaryOperator_GT | CXBinaryOperator_GE => {
                let written = parent.operator_text();
                let op = if is_left { written } else { mirrored(&written) };
                UseKind::Compare { op, with: self.sources.text(other) }
            }
            CXBinaryOperator_LAnd | CXBinaryOperator_LOr => self.truth("!="),
            CXBinaryOperator_Assign if is_left => return self.overwritten(right),
            CXBinaryOperator_Assign => match named(left) {
                Some(local) if is_local(local) => return self.copied_to(local),
                Some(own) if self.copies.of(own) == Some(self.position) => return None,
                _ => UseKind::Stored { to: self.sources.text(left) },
            },
            CXBinaryOperator_Add if is_pointer(self.mention) => match self.deref_above(depth) {
                Some((above, deref)) => {
                    let access = access(above, deref);
                    let index = self.index_text(other);
                    UseKind::Index { index, constant: other.evaluate(), access }
                }
                None => UseKind::Arithmetic,
            },
            CXBinaryOperator_Comma => UseKind::Other,
            _ => UseKind::Arithmetic,
        })
    }

    /// The name is on the left of `=`.
    fn overwritten(&self, value: Cursor<'tu>) -> Option<UseKind> {
        let declaration = self.mention.referenced()?;
        if moved(declaration, value).is_some() {
            return Some(UseKind::Advance);
        }
        // For a local copy, this assignment makes it a copy.
        self.is_parameter.then_some(UseKind::Reassigned)
    }

    /// The value is assigned to a local. That is no new use if the local counts as the parameter, but the
    /// local's type may add information.
    fn copied_to(&self, local: Cursor<'tu>) -> Option<UseKind> {
        if self.copies.of(local) != Some(self.position) {
            return Some(UseKind::Other);
        }
        let pointee = |node: Cursor<'tu>| {
            let ty = node.ty().canonical();
            let target = if ty.kind() == CXType_Pointer { ty.pointee() } else { ty.element() };
            let spelling = target.canonical().spelling();
            spelling.strip_prefix("const ").map(str::to_owned).unwrap_or(spelling)
        };
        let retyped =
            is_pointer(local) && is_pointer(self.mention) && pointee(local) != pointee(self.mention);
        retyped.then(|| UseKind::Cast { to: local.ty().spelling() })
    }

    fn call(&mut self, call: Cursor<'tu>, inner: Cursor<'tu>) -> UseKind {
        let arguments = call.arguments();
        // The argument may be wrapped in a conversion that only adds `const`.
        let holds = |a: &Cursor<'tu>| *a == inner || (a.start() == inner.start() && a.end() == inner.end());
        let Some(position) = arguments.iter().position(holds) else { return UseKind::Called };
        let callee = call
            .referenced()
            .filter(|c| c.kind() == CXCursor_FunctionDecl)
            .map_or_else(|| "?".to_owned(), Cursor::name);
        let args = arguments.iter().map(|a| self.sources.text(*a)).collect();
        UseKind::Argument { callee, position, args }
    }
}

/// The operator with the same meaning when the operands are swapped.
fn mirrored(op: &str) -> String {
    match op {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        other => other,
    }
    .to_owned()
}
