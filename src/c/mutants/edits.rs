//! The edits that make mutants: an operator replaced, a constant changed by one, a condition negated, a statement dropped,
//! a variable narrowed, and those of `call_edits.rs`. Text from macros stays unchanged, unless a function has no other.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::call_edits::call;
use super::edit::Edit;
use super::operator_replacements::others;
use super::walk::Walk;
use crate::c::cursor::Cursor;
use crate::c::expr::is_zero;
use clang_sys::*;

/// All edits of a definition with this text, in text order.
pub(super) fn edits(definition: Cursor<'_>, text: &str) -> Vec<Edit> {
    let start = definition.start();
    let Some(body) = definition.children().into_iter().find(|c| c.kind() == CXCursor_CompoundStmt) else {
        return Vec::new();
    };
    let mut walk = Walk { text, start: &start, edits: Vec::new() };
    walk.visit(body);
    walk.sorted()
}

impl Walk<'_> {
    fn visit(&mut self, node: Cursor<'_>) {
        if !node.is_in_macro() {
            match node.kind() {
                CXCursor_BinaryOperator | CXCursor_CompoundAssignOperator => self.binary(node),
                CXCursor_UnaryOperator => self.step(node),
                CXCursor_IntegerLiteral | CXCursor_CharacterLiteral => self.constant(node),
                CXCursor_IfStmt | CXCursor_ConditionalOperator => self.condition(node),
                CXCursor_VarDecl => self.narrow(node),
                CXCursor_ReturnStmt => self.returned(node),
                CXCursor_CallExpr => call(self, node),
                _ => {}
            }
        }
        let children = node.children();
        for child in &children {
            let is_statement = match node.kind() {
                CXCursor_CompoundStmt => true,
                // The condition is the first child, or the last one.
                CXCursor_IfStmt | CXCursor_WhileStmt | CXCursor_ForStmt => Some(child) != children.first(),
                CXCursor_CaseStmt | CXCursor_DefaultStmt | CXCursor_LabelStmt => {
                    Some(child) == children.last()
                }
                _ => false,
            };
            if is_statement && !child.is_in_macro() && is_droppable(*child) && self.ends_in_semicolon(*child)
            {
                self.push(*child, self.range(*child), "((void)0)", "dropped");
            }
            self.visit(*child);
        }
    }

    fn binary(&mut self, node: Cursor<'_>) {
        let [left, right] = node.children()[..] else { return };
        let Some(gap) = self.between(&left.end(), &right.start()) else { return };
        let operator = node.operator_text();
        // Only if nothing else is between the operands: a comment or a macro there would be cut.
        let between = &self.text[gap.clone()];
        if operator.is_empty() || between.trim() != operator {
            return;
        }
        let at = gap.start + between.find(&operator).unwrap_or(0);
        for by in others(&operator) {
            self.push(node, Some(at..at + operator.len()), by, "");
        }
    }

    /// `++` and `--`.
    fn step(&mut self, node: Cursor<'_>) {
        let (from, by) = match node.unary_operator() {
            CXUnaryOperator_PostInc | CXUnaryOperator_PreInc => ("++", "--"),
            CXUnaryOperator_PostDec | CXUnaryOperator_PreDec => ("--", "++"),
            CXUnaryOperator_Not => ("~", ""),
            CXUnaryOperator_LNot => ("!", "!!"),
            CXUnaryOperator_Minus => ("-", "+"),
            _ => return,
        };
        let Some(range) = self.range(node) else { return };
        let text = &self.text[range.clone()];
        let at = if text.starts_with(from) {
            Some(0)
        } else {
            text.ends_with(from).then(|| text.len() - from.len())
        };
        let place = at.map(|at| range.start + at..range.start + at + from.len());
        let what = if by.is_empty() { "dropped" } else { "" };
        self.push(node, place, by, what);
    }

    fn constant(&mut self, node: Cursor<'_>) {
        let Some(range) = self.range(node) else { return };
        let text = self.text[range.clone()].to_owned();
        self.push(node, Some(range.clone()), &format!("({text} + 1)"), "");
        if node.evaluate() != Some(0) {
            self.push(node, Some(range), &format!("({text} - 1)"), "");
        }
    }

    fn condition(&mut self, node: Cursor<'_>) {
        let Some(condition) = node.children().first().copied().filter(|c| !c.is_in_macro()) else { return };
        let Some(range) = self.range(condition) else { return };
        let by = format!("!({})", &self.text[range.clone()]);
        self.push(condition, Some(range), &by, "turned round");
    }

    /// Changes a value that is only read and returned, because such a statement has nothing else to change. A
    /// pointer becomes null.
    fn returned(&mut self, node: Cursor<'_>) {
        let Some(value) = node.children().first().copied() else { return };
        if value.is_in_macro() {
            return self.returned_macro(node, value);
        }
        let mut inner = value;
        while let (CXCursor_UnexposedExpr, [only]) = (inner.kind(), &inner.children()[..]) {
            inner = *only;
        }
        let is_read = matches!(
            inner.kind(),
            CXCursor_DeclRefExpr | CXCursor_MemberRefExpr | CXCursor_ArraySubscriptExpr | CXCursor_CallExpr
        );
        let Some(range) = self.range(value) else { return };
        let is_pointer = value.ty().canonical().kind() == CXType_Pointer;
        let by = match is_read {
            true => format!("!({})", &self.text[range.clone()]),
            false if is_pointer && !is_zero(value) => "((void *)0)".to_owned(),
            false => return,
        };
        self.push(value, Some(range), &by, "");
    }

    /// Replaces a returned value that comes from a macro.
    fn returned_macro(&mut self, node: Cursor<'_>, value: Cursor<'_>) {
        let Some(start) = node.start().offset.checked_sub(self.start.offset) else { return };
        let Some(text) = self.text.get(start..).and_then(|text| text.strip_prefix("return")) else { return };
        let Some((value_text, _)) = text.split_once(';') else { return };
        let start = start + "return".len();
        let range = start..start + value_text.len();
        let no = match value.ty().canonical().kind() {
            CXType_Pointer => " ((void *)0)".to_owned(),
            _ => format!(" !({})", value_text.trim()),
        };
        for by in [format!(" ({} + 1)", value_text.trim()), no] {
            self.push(node, Some(range.clone()), &by, "");
        }
    }

    /// Narrows a local integer variable to 8 bits.
    fn narrow(&mut self, node: Cursor<'_>) {
        let ty = node.ty().canonical();
        let by = match ty.kind() {
            CXType_Int | CXType_Long | CXType_LongLong => "signed char ",
            CXType_UInt | CXType_ULong | CXType_ULongLong => "unsigned char ",
            _ => return,
        };
        let Some(range) = self.between(&node.start(), &node.at()) else { return };
        let words = &self.text[range.clone()];
        let is_plain = words.split_whitespace().all(|word| {
            word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !matches!(word, "static" | "const" | "register" | "extern")
        });
        if is_plain && words.ends_with(char::is_whitespace) {
            self.push(node, Some(range), by, &format!("`{}` with 8 bits", node.name()));
        }
    }

    /// Whether the node is a whole statement: only `;` may follow.
    fn ends_in_semicolon(&self, node: Cursor<'_>) -> bool {
        let Some(range) = self.range(node) else { return false };
        self.text[range.end..].trim_start().starts_with(';')
    }
}

/// Whether the function stays valid without the statement.
pub(super) fn is_droppable(node: Cursor<'_>) -> bool {
    match node.kind() {
        CXCursor_CallExpr | CXCursor_CompoundAssignOperator | CXCursor_BreakStmt | CXCursor_ContinueStmt => {
            true
        }
        CXCursor_BinaryOperator => node.binary_operator() == CXBinaryOperator_Assign,
        CXCursor_UnaryOperator => matches!(
            node.unary_operator(),
            CXUnaryOperator_PostInc
                | CXUnaryOperator_PreInc
                | CXUnaryOperator_PostDec
                | CXUnaryOperator_PreDec
        ),
        CXCursor_ReturnStmt => node.children().is_empty(),
        _ => false,
    }
}
