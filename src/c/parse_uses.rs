//! How a body uses its parameters, directly, through plain local copies, or through what a function returns for them.
//! `contract` infers roles from the uses (a length, a string, an out-parameter).

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::expr::{Sources, access, is_nameless, is_pointer, is_wrapper, is_zero, mirrored, named};
use super::memory_before;
use super::parse_copies::{Copies, Passed, is_local, is_moved, moves};
use super::text_loops::stays_in_text;
use crate::symbol::{ParamUse, UseKind};
use clang_sys::*;

/// The uses at one mention of a name: the positions of parameters, and the kinds of use. `parents` are the
/// ancestors of `mention`, outermost first.
pub(super) fn uses(
    copies: &Copies,
    sources: &mut Sources,
    parents: &[Cursor<'_>],
    mention: Cursor<'_>,
) -> Vec<(usize, ParamUse)> {
    let Some(declaration) = mention.referenced() else { return Vec::new() };
    let is_parameter = copies.is_parameter(declaration);
    let mut found = Vec::new();
    let mut look = |position, passed: Option<&Passed>| {
        let in_text = stays_in_text(sources, parents, mention);
        let mut look = Look { copies, sources, parents, mention, position, is_parameter, found: Vec::new() };
        look.climb();
        let line = mention.start().line;
        let kinds = look.found.into_iter().map(|used| match passed {
            Some(passed) => from_call(passed, used),
            None => used,
        });
        found.extend(kinds.map(|kind| (position, ParamUse { line, kind, in_text })));
    };
    match copies.of(declaration) {
        Some(position) => look(position, None),
        None => copies.result(declaration).iter().for_each(|passed| look(passed.parameter, Some(passed))),
    }
    found
}

fn from_call(passed: &Passed, used: UseKind) -> UseKind {
    UseKind::FromCall { callee: passed.callee.clone(), position: passed.position, used: Box::new(used) }
}

/// Whether a value is one of the two that `?:` chooses from.
fn is_choice(node: Cursor<'_>, value: Cursor<'_>) -> bool {
    node.kind() == CXCursor_ConditionalOperator && node.children().first() != Some(&value)
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
                if is_pointer(self.mention)
                    && parent.ty().canonical().kind() != CXType_Void
                    && !is_pointer(parent)
                {
                    self.number_use(depth);
                }
            } else if self.sources.is_default(parent, inner) {
                self.found.push(UseKind::NullCheck);
            } else if is_pointer(self.mention) && is_nameless(parent) {
                // Such as an atomic operation.
                self.found.push(UseKind::Other);
                return;
            } else if !is_wrapper(parent) && !is_choice(parent, inner) {
                let kind = self.kind(depth, parent, inner);
                let kind = kind.filter(|kind| *kind != UseKind::NullCheck || !self.is_asserted());
                let is_step = kind == Some(UseKind::Advance) && is_pointer(parent);
                let is_moved = is_step || kind == Some(UseKind::Arithmetic) && is_moved(parent);
                let leads_back =
                    self.is_parameter && memory_before::leads_back(&self.parents[..depth], parent);
                self.found.extend(leads_back.then_some(UseKind::Back));
                let passed = kind.as_ref().and_then(|kind| self.comes_back(parent, kind));
                self.found.extend(kind);
                self.element_address(depth);
                if is_moved {
                    let used = self.pointer_use(depth);
                    self.found.extend(used);
                } else if let Some(passed) = passed {
                    let used = self.pointer_use(depth);
                    self.found.extend(used.into_iter().map(|used| from_call(&passed, used)));
                }
                return;
            }
            inner = parent;
        }
    }

    /// Whether the condition around the mention is one without which the program ends: `assert(p)` says that `p` is never null.
    /// Its `sizeof` looks at types alone.
    fn is_asserted(&self) -> bool {
        let fails = |of: &Cursor<'tu>| of.kind() == CXCursor_CallExpr && of.name().starts_with("__assert");
        self.parents.iter().any(|of| match of.kind() {
            CXCursor_UnaryExpr => true,
            CXCursor_IfStmt | CXCursor_ConditionalOperator => of.children().iter().any(fails),
            _ => false,
        })
    }

    /// The parameter in a call that returns a pointer, which may be the parameter's.
    fn comes_back(&self, call: Cursor<'tu>, kind: &UseKind) -> Option<Passed> {
        let UseKind::Argument { callee, position, .. } = kind else { return None };
        let (parameter, callee) = (self.position, callee.clone());
        is_pointer(call).then_some(Passed { parameter, callee, position: *position })
    }

    /// The uses of a pointer that came from the parameter: of a sum, of `p++`, or of the result of a call, at `depth`.
    fn pointer_use(&mut self, depth: usize) -> Vec<UseKind> {
        let mut inner = self.parents[depth];
        for (at, parent) in self.parents[..depth].iter().enumerate().rev() {
            let parent = *parent;
            let is_comma = parent.kind() == CXCursor_BinaryOperator
                && parent.binary_operator() == CXBinaryOperator_Comma;
            if is_comma && parent.children().first() == Some(&inner) {
                return Vec::new();
            }
            let is_cast = parent.kind() == CXCursor_CStyleCastExpr;
            if is_wrapper(parent) || is_cast || is_moved(parent) || is_choice(parent, inner) || is_comma {
                inner = parent;
                continue;
            }
            let kind = parent.kind();
            let is_deref = kind == CXCursor_ArraySubscriptExpr
                || kind == CXCursor_UnaryOperator && parent.unary_operator() == CXUnaryOperator_Deref;
            let used = match kind {
                CXCursor_CallExpr => {
                    let argument = self.call(parent, inner);
                    let Some(passed) = self.comes_back(parent, &argument) else { return vec![argument] };
                    let used = self.pointer_use(at).into_iter().map(|used| from_call(&passed, used));
                    return std::iter::once(argument).chain(used).collect();
                }
                _ if is_deref => Some(UseKind::Deref(access(&self.parents[..at], parent))),
                CXCursor_MemberRefExpr => {
                    Some(UseKind::Field { name: parent.name(), access: access(&self.parents[..at], parent) })
                }
                CXCursor_VarDecl => self.copied_to(parent),
                CXCursor_BinaryOperator if parent.binary_operator() == CXBinaryOperator_Assign => {
                    self.assigned_to(parent)
                }
                CXCursor_ReturnStmt => Some(UseKind::ReturnedInside),
                // Comparisons and differences need no memory; neither do statements.
                CXCursor_BinaryOperator if !is_pointer(parent) => None,
                CXCursor_UnaryOperator if parent.unary_operator() == CXUnaryOperator_LNot => None,
                CXCursor_CompoundStmt
                | CXCursor_ForStmt
                | CXCursor_WhileStmt
                | CXCursor_DoStmt
                | CXCursor_IfStmt
                | CXCursor_CaseStmt
                | CXCursor_DefaultStmt
                | CXCursor_LabelStmt
                | CXCursor_ConditionalOperator
                | CXCursor_UnaryExpr => None,
                _ => Some(UseKind::Other),
            };
            return used.into_iter().collect();
        }
        Vec::new()
    }

    /// The uses of `&p[i]`, which leads to more than the one element. Where they are not followed, they may go anywhere.
    fn element_address(&mut self, depth: usize) {
        let is_element = self.parents[depth].kind() == CXCursor_ArraySubscriptExpr;
        let Some(at) = self.above(depth, CXUnaryOperator_AddrOf).filter(|_| is_element) else { return };
        let used = self.pointer_use(at);
        self.found.extend(used.contains(&UseKind::Other).then_some(UseKind::Arithmetic));
        self.found.extend(used);
    }

    /// Whether the uses of a local are those of the parameter, as those of what a function returned for it.
    fn is_followed(&self, local: Cursor<'tu>) -> bool {
        self.copies.result(local).iter().any(|passed| passed.parameter == self.position)
    }

    /// What a moved pointer is assigned to.
    fn assigned_to(&mut self, assignment: Cursor<'tu>) -> Option<UseKind> {
        let left = *assignment.children().first()?;
        match named(left) {
            Some(own) if self.copies.of(own) == Some(self.position) || self.is_followed(own) => None,
            Some(local) if is_local(local) => Some(UseKind::Other),
            _ => Some(UseKind::Stored { to: self.sources.text(left) }),
        }
    }

    /// The use of a pointer as a number, by the cast at `depth`: what is computed from it may be a pointer again, unless it is
    /// compared.
    fn number_use(&mut self, depth: usize) {
        let is_compared = |node: &Cursor<'tu>| match node.kind() {
            CXCursor_BinaryOperator => matches!(
                node.binary_operator(),
                CXBinaryOperator_EQ
                    | CXBinaryOperator_NE
                    | CXBinaryOperator_LT
                    | CXBinaryOperator_LE
                    | CXBinaryOperator_GT
                    | CXBinaryOperator_GE
                    | CXBinaryOperator_LAnd
                    | CXBinaryOperator_LOr
                    | CXBinaryOperator_Rem
            ),
            CXCursor_UnaryOperator => node.unary_operator() == CXUnaryOperator_LNot,
            CXCursor_IfStmt | CXCursor_WhileStmt | CXCursor_ForStmt | CXCursor_DoStmt => true,
            _ => false,
        };
        let is_inside = |node: &&Cursor<'tu>| {
            is_wrapper(**node)
                || matches!(
                    node.kind(),
                    CXCursor_BinaryOperator
                        | CXCursor_UnaryOperator
                        | CXCursor_CStyleCastExpr
                        | CXCursor_IfStmt
                        | CXCursor_WhileStmt
                        | CXCursor_ForStmt
                        | CXCursor_DoStmt
                )
        };
        if !self.parents[..depth].iter().rev().take_while(is_inside).any(is_compared) {
            self.found.push(UseKind::Other);
        }
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
            CXCursor_IfStmt
            | CXCursor_WhileStmt
            | CXCursor_ForStmt
            | CXCursor_DoStmt
            | CXCursor_ConditionalOperator => self.truth("!="),
            // `(void)p;` and `sizeof p` use no memory; the value of `({ p; })` goes on.
            CXCursor_CompoundStmt if above.last().is_none_or(|of| of.kind() != CXCursor_StmtExpr) => {
                return None;
            }
            CXCursor_UnaryExpr => return None,
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
            | CXUnaryOperator_PreDec => UseKind::Advance,
            CXUnaryOperator_AddrOf => UseKind::AddressOf,
            CXUnaryOperator_LNot => self.truth("=="),
            _ => UseKind::Other,
        })
    }

    /// The place of this operator, where it is directly above the node at `depth`.
    fn above(&self, depth: usize, operator: CXUnaryOperatorKind) -> Option<usize> {
        let at = (0..depth).rev().find(|i| !is_wrapper(self.parents[*i]))?;
        let node = self.parents[at];
        (node.kind() == CXCursor_UnaryOperator && node.unary_operator() == operator).then_some(at)
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
            CXBinaryOperator_Add if is_pointer(self.mention) => {
                match self.above(depth, CXUnaryOperator_Deref) {
                    Some(at) => {
                        let access = access(&self.parents[..at], self.parents[at]);
                        let index = self.index_text(other);
                        UseKind::Index { index, constant: other.evaluate(), access }
                    }
                    None => UseKind::Arithmetic,
                }
            }
            CXBinaryOperator_Comma => UseKind::Other,
            _ => UseKind::Arithmetic,
        })
    }

    /// The name is on the left of `=`.
    fn overwritten(&self, value: Cursor<'tu>) -> Option<UseKind> {
        let declaration = self.mention.referenced()?;
        if moves(declaration, value) {
            return Some(UseKind::Advance);
        }
        // For a local copy, this assignment makes it a copy.
        self.is_parameter.then_some(UseKind::Reassigned)
    }

    /// The value is assigned to a local. That is no new use if the local counts as the parameter, but the
    /// local's type may add information.
    fn copied_to(&self, local: Cursor<'tu>) -> Option<UseKind> {
        if self.is_followed(local) {
            return None;
        }
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
