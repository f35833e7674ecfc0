//! Questions about C expressions, shared by the body walk and the use analysis: the expression beneath the casts,
//! how an lvalue is accessed, the source text of a node.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::{Cursor, Location};
use crate::symbol::Access;
use clang_sys::*;
use std::collections::HashMap;

/// Source files, each read once. The text of nodes is taken from them.
#[derive(Default)]
pub(super) struct Sources(HashMap<String, Vec<u8>>);

impl Sources {
    /// The whole file; empty when it cannot be read.
    pub(super) fn bytes(&mut self, file: &str) -> &[u8] {
        self.0.entry(file.to_owned()).or_insert_with(|| fs_err::read(file).unwrap_or_default())
    }

    /// The text of a node as written; empty if macros spread it over several places.
    pub(super) fn text(&mut self, node: Cursor<'_>) -> String {
        self.between(&node.start(), &node.end())
    }

    /// Whether the node is `pointer ?: other`, for which libclang has no name.
    pub(super) fn is_default(&mut self, node: Cursor<'_>, pointer: Cursor<'_>) -> bool {
        let is_first = |children: &[Cursor<'_>]| children.len() > 1 && children[0] == pointer;
        node.kind() == CXCursor_UnexposedExpr
            && is_pointer(pointer)
            && is_first(&node.children())
            && self.text(node).replace(char::is_whitespace, "").contains("?:")
    }

    pub(super) fn between(&mut self, start: &Location, end: &Location) -> String {
        if start.file != end.file {
            return String::new();
        }
        let bytes = self.bytes(&start.file).get(start.offset..end.offset).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Whether the node is a parenthesis or an implicit conversion; neither changes what is accessed.
pub(super) fn is_wrapper(node: Cursor<'_>) -> bool {
    matches!(node.kind(), CXCursor_ParenExpr | CXCursor_UnexposedExpr)
}

/// Whether libclang has no name for the expression, and it is no conversion: those have one operand.
pub(super) fn is_nameless(node: Cursor<'_>) -> bool {
    node.kind() == CXCursor_UnexposedExpr && node.children().len() > 1
}

/// The expression inside parentheses, implicit conversions and casts.
pub(super) fn strip(mut node: Cursor<'_>) -> Cursor<'_> {
    while is_wrapper(node) || node.kind() == CXCursor_CStyleCastExpr {
        let inner: Vec<_> = node.children().into_iter().filter(|c| c.kind() != CXCursor_TypeRef).collect();
        match inner.last() {
            Some(last) if inner.len() == 1 || node.kind() == CXCursor_CStyleCastExpr => node = *last,
            _ => break,
        }
    }
    node
}

/// The declaration that a plain name refers to; casts around the name are ignored.
pub(super) fn named(node: Cursor<'_>) -> Option<Cursor<'_>> {
    let node = strip(node);
    (node.kind() == CXCursor_DeclRefExpr).then(|| node.referenced()).flatten()
}

/// The initialiser of a variable, if it has one.
pub(super) fn initialiser(variable: Cursor<'_>) -> Option<Cursor<'_>> {
    // It is the last child. Without an initialiser, the last child may be the size of an array, and then the
    // declaration ends after it, with the bracket.
    let last = variable.children().into_iter().last()?;
    (last.is_expression() && last.end() == variable.end()).then_some(last)
}

/// Whether an expression is the null pointer constant or zero.
pub(super) fn is_zero(node: Cursor<'_>) -> bool {
    let node = strip(node);
    node.kind() == CXCursor_IntegerLiteral && node.evaluate() == Some(0)
}

pub(super) fn is_pointer(node: Cursor<'_>) -> bool {
    matches!(
        node.ty().canonical().kind(),
        CXType_Pointer | CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray
    )
}

fn is_array(node: Cursor<'_>) -> bool {
    matches!(
        node.ty().canonical().kind(),
        CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray
    )
}

/// How the object that `lvalue` denotes is accessed; `parents` are its ancestors, outermost first.
pub(super) fn access(parents: &[Cursor<'_>], lvalue: Cursor<'_>) -> Access {
    access_or_address(parents, lvalue).0
}

/// The same, and whether code elsewhere gets the address of the object.
pub(super) fn access_or_address(parents: &[Cursor<'_>], lvalue: Cursor<'_>) -> (Access, bool) {
    let mut inner = lvalue;
    for parent in parents.iter().rev() {
        let first = || parent.children().first().is_some_and(|f| *f == inner);
        match parent.kind() {
            CXCursor_ParenExpr => {}
            // An operand of assembly may be an output.
            CXCursor_AsmStmt | CXCursor_MSAsmStmt => return (Access::ReadWrite, false),
            // Not a conversion, but an expression without a name, such as an atomic operation.
            CXCursor_UnexposedExpr if is_nameless(*parent) => {
                return (by_pointer(inner), is_pointer(inner) && escapes(inner));
            }
            // After conversion to a pointer, an array is still the same object; any other conversion reads
            // it.
            CXCursor_UnexposedExpr if is_array(inner) => {}
            // A pointer to the object that is being passed on.
            CXCursor_UnexposedExpr | CXCursor_CStyleCastExpr if is_pointer(inner) && escapes(inner) => {}
            CXCursor_MemberRefExpr | CXCursor_ArraySubscriptExpr if first() => {}
            CXCursor_BinaryOperator if parent.binary_operator() == CXBinaryOperator_Assign && first() => {
                return (Access::Write, false);
            }
            CXCursor_CompoundAssignOperator if first() => return (Access::ReadWrite, false),
            CXCursor_UnaryOperator => match parent.unary_operator() {
                CXUnaryOperator_PostInc
                | CXUnaryOperator_PostDec
                | CXUnaryOperator_PreInc
                | CXUnaryOperator_PreDec => return (Access::ReadWrite, false),
                CXUnaryOperator_AddrOf => {}
                CXUnaryOperator_Deref if is_array(inner) || escapes(inner) => {}
                _ => return (Access::Read, false),
            },
            _ => return (by_pointer(inner), is_pointer(inner) && escapes(inner)),
        }
        inner = *parent;
    }
    (Access::Read, false)
}

/// Whether the node is an address that was just taken (`&x`, or an array as a pointer) and is being passed on.
fn escapes(node: Cursor<'_>) -> bool {
    let node = strip(node);
    is_array(node) || node.kind() == CXCursor_UnaryOperator && node.unary_operator() == CXUnaryOperator_AddrOf
}

/// How code that gets this address may access the object.
fn by_pointer(node: Cursor<'_>) -> Access {
    let ty = node.ty().canonical();
    if !is_pointer(node) || !escapes(node) {
        return Access::Read;
    }
    let target = if ty.kind() == CXType_Pointer { ty.pointee() } else { ty.element() };
    if target.canonical().is_const() { Access::Read } else { Access::ReadWrite }
}

/// The operator with the same meaning when the operands are swapped.
pub(super) fn mirrored(op: &str) -> String {
    match op {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        other => other,
    }
    .to_owned()
}
