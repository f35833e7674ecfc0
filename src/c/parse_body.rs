//! The facts about a function's body: calls, globals, comparisons, returns, and unsupported constructs.
//! `parse_uses` reads the uses of parameters.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::expr::{Sources, access_or_address, is_pointer, is_zero, strip};
use super::parse_copies::{Copies, is_inside_local};
use super::parse_uses::uses;
use super::text::prints_whole;
use crate::symbol::{Access, Comparison, MemberPassed, ParamUse, Returned, SymbolKey};
use clang_sys::*;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that can return twice, and those that make them do so.
const JUMPS: &[&str] = &[
    "setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "longjmp", "_longjmp", "siglongjmp", "__builtin_setjmp",
    "__builtin_longjmp",
];

#[derive(Default)]
pub(super) struct Body<'tu> {
    /// Functions that it calls, and functions whose address it takes, with their C names.
    pub called: BTreeMap<SymbolKey, String>,
    pub addressed: BTreeMap<SymbolKey, String>,
    pub indirect_calls: u32,
    pub globals_read: BTreeSet<SymbolKey>,
    pub globals_written: BTreeSet<SymbolKey>,
    pub comparisons: Vec<Comparison>,
    pub members_passed: Vec<MemberPassed>,
    pub returns: BTreeSet<Returned>,
    /// Variables whose address other code gets, even where that may only read.
    pub lent: BTreeSet<SymbolKey>,
    /// Static variables inside it that may change.
    pub local_statics: Vec<Cursor<'tu>>,
    /// The names of all static variables inside it.
    pub static_names: Vec<String>,
    pub volatile: bool,
    /// By position of the parameter.
    pub uses: BTreeMap<usize, Vec<ParamUse>>,
    pub unsupported: Option<String>,
}

/// Reads a body. `key` names functions and globals.
pub(super) fn read<'tu>(
    body: Cursor<'tu>,
    parameters: &[Cursor<'tu>],
    sources: &mut Sources,
    key: &dyn Fn(Cursor<'tu>) -> SymbolKey,
) -> Body<'tu> {
    let copies = Copies::find(parameters, body);
    let mut walk =
        Walk { sources, key, copies, parents: Vec::new(), statics: BTreeMap::new(), body: Body::default() };
    walk.visit(body);
    walk.add_statics();
    walk.body
}

/// A static variable inside a function that is not constant, and what the function does with it.
struct Static<'tu> {
    variable: Cursor<'tu>,
    is_read: bool,
    is_written: bool,
    is_lent: bool,
}

/// Whether an expression stands for `volatile` or atomic memory, or is one of the compiler's atomic operations.
fn is_volatile(node: Cursor, sources: &mut Sources) -> bool {
    if !node.is_expression() {
        return false;
    }
    let ty = node.ty().canonical();
    let is_own = ty.is_volatile() || ty.kind() == CXType_Atomic || node.name().starts_with("__sync_");
    // libclang has no name for `__atomic_load_n(…)`.
    is_own || node.kind() == CXCursor_UnexposedExpr && sources.text(node).starts_with("__atomic_")
}

struct Walk<'a, 'tu> {
    sources: &'a mut Sources,
    key: &'a dyn Fn(Cursor<'tu>) -> SymbolKey,
    copies: Copies,
    parents: Vec<Cursor<'tu>>,
    /// By USR.
    statics: BTreeMap<String, Static<'tu>>,
    body: Body<'tu>,
}

impl<'tu> Walk<'_, 'tu> {
    fn visit(&mut self, node: Cursor<'tu>) {
        self.limits(node);
        self.body.volatile |= is_volatile(node, self.sources);
        match node.kind() {
            CXCursor_UnaryExpr => return,
            CXCursor_CallExpr => self.call(node),
            CXCursor_VarDecl => self.variable(node),
            CXCursor_BinaryOperator => self.comparison(node),
            CXCursor_ReturnStmt => self.returned(node),
            CXCursor_DeclRefExpr => self.mention(node),
            _ => {}
        }
        self.parents.push(node);
        let mut children = node.children();
        // `h->n = h->n + 1` reads before it writes.
        if node.kind() == CXCursor_BinaryOperator && node.binary_operator() == CXBinaryOperator_Assign {
            children.reverse();
        }
        for child in children {
            self.visit(child);
        }
        self.parents.pop();
    }

    /// Records the first construct that Rust cannot express.
    fn limits(&mut self, node: Cursor<'tu>) {
        if self.body.unsupported.is_some() {
            return;
        }
        let reason = match node.kind() {
            CXCursor_AsmStmt | CXCursor_MSAsmStmt => Some("inline assembly".to_owned()),
            CXCursor_IndirectGotoStmt | CXCursor_AddrLabelExpr => Some("computed goto".to_owned()),
            CXCursor_BlockExpr => Some("a block".to_owned()),
            kind if !node.is_expression() && kind != CXCursor_VarDecl => None,
            _ => match node.ty().canonical().kind() {
                CXType_LongDouble => Some("long double".to_owned()),
                CXType_Complex => Some("complex numbers".to_owned()),
                _ => None,
            },
        };
        self.body.unsupported = reason.map(|what| format!("uses {what} (line {})", node.start().line));
    }

    fn call(&mut self, node: Cursor<'tu>) {
        match node.referenced().filter(|c| c.kind() == CXCursor_FunctionDecl) {
            Some(function) => {
                let name = function.name();
                if JUMPS.contains(&name.as_str()) && self.body.unsupported.is_none() {
                    self.body.unsupported = Some(format!("calls {name} (line {})", node.start().line));
                }
                self.body.members_passed.extend(members_passed(node, &name));
                self.body.called.insert((self.key)(function), name);
            }
            None => self.body.indirect_calls += 1,
        }
    }

    fn variable(&mut self, node: Cursor<'tu>) {
        let ty = node.ty().canonical();
        // A constant is not state: all calls see the same value.
        let constant = ty.is_const() || ty.element().is_const();
        if node.storage() == CX_SC_Static {
            self.body.static_names.push(node.name());
        }
        if node.storage() == CX_SC_Static && !constant {
            let is_read = ty.is_volatile();
            let new = Static { variable: node, is_read, is_written: is_read, is_lent: false };
            self.statics.insert(node.usr(), new);
        }
    }

    /// Static variables inside the function that may change count as variables of the library.
    fn add_statics(&mut self) {
        for one in std::mem::take(&mut self.statics).into_values() {
            if !one.is_written && !one.is_lent {
                continue;
            }
            let key = (self.key)(one.variable);
            self.body.local_statics.push(one.variable);
            if one.is_read {
                self.body.globals_read.insert(key.clone());
            }
            if one.is_lent {
                self.body.lent.insert(key.clone());
            }
            if one.is_written {
                self.body.globals_written.insert(key);
            }
        }
    }

    fn comparison(&mut self, node: Cursor<'tu>) {
        let [left, right] = node.children()[..] else { return };
        if matches!(
            node.binary_operator(),
            CXBinaryOperator_LT
                | CXBinaryOperator_LE
                | CXBinaryOperator_GT
                | CXBinaryOperator_GE
                | CXBinaryOperator_EQ
                | CXBinaryOperator_NE
        ) {
            let comparison = Comparison {
                line: node.start().line,
                left: self.sources.text(left),
                op: node.operator_text(),
                right: self.sources.text(right),
                values: [left.evaluate(), right.evaluate()],
            };
            self.body.comparisons.push(comparison);
        }
    }

    fn returned(&mut self, node: Cursor<'tu>) {
        if let Some(value) = node.children().into_iter().next() {
            self.returned_value(value);
        }
    }

    fn returned_value(&mut self, value: Cursor<'tu>) {
        let text = self.sources.text(value);
        let inner = strip(value);
        // For a pointer, record both arms: its origin determines what can be compared.
        if let (CXCursor_ConditionalOperator, [_, yes, no]) = (inner.kind(), &inner.children()[..])
            && is_pointer(value)
        {
            self.returned_value(*yes);
            return self.returned_value(*no);
        }
        let what = match inner.kind() {
            CXCursor_CallExpr => {
                let callee = inner.referenced().filter(|c| c.kind() == CXCursor_FunctionDecl);
                Returned::Call(callee.map_or_else(|| "?".to_owned(), Cursor::name))
            }
            CXCursor_DeclRefExpr => match inner.referenced() {
                Some(d) if d.kind() == CXCursor_ParmDecl => Returned::Param(d.name()),
                Some(d) if d.kind() == CXCursor_VarDecl && is_global(d) => Returned::Global(d.name()),
                Some(d) if d.kind() == CXCursor_VarDecl => Returned::Local(d.name()),
                Some(d) if d.kind() == CXCursor_EnumConstantDecl => Returned::Constant(text),
                _ => Returned::Expression(text),
            },
            CXCursor_StringLiteral => Returned::StringLiteral,
            _ if is_zero(inner) || value.evaluate().is_some() => Returned::Constant(text),
            _ if is_inside_local(inner) => Returned::InsideLocal(text),
            _ => Returned::Expression(text),
        };
        self.body.returns.insert(what);
    }

    fn mention(&mut self, node: Cursor<'tu>) {
        let Some(declaration) = node.referenced() else { return };
        match declaration.kind() {
            CXCursor_FunctionDecl if !self.is_callee(node) => {
                self.body.addressed.insert((self.key)(declaration), declaration.name());
            }
            CXCursor_VarDecl if is_global(declaration) => {
                let key = (self.key)(declaration);
                let (access, is_lent) = access_or_address(&self.parents, node);
                if is_lent {
                    self.body.lent.insert(key.clone());
                }
                if access != Access::Write {
                    self.body.globals_read.insert(key.clone());
                }
                if access != Access::Read {
                    self.body.globals_written.insert(key);
                }
            }
            CXCursor_VarDecl => {
                if let Some(one) = self.statics.get_mut(&declaration.usr()) {
                    let (access, is_lent) = access_or_address(&self.parents, node);
                    one.is_read |= access != Access::Write;
                    one.is_written |= access != Access::Read;
                    one.is_lent |= is_lent;
                }
            }
            _ => {}
        }
        for (position, new) in uses(&self.copies, self.sources, &self.parents, node) {
            let known = self.body.uses.entry(position).or_default();
            // Unrolled loops repeat the same use on one line.
            if !known.contains(&new) {
                known.push(new);
            }
        }
    }

    /// Whether the name is the callee of a call.
    fn is_callee(&self, node: Cursor<'tu>) -> bool {
        let mut inner = node;
        for parent in self.parents.iter().rev() {
            match parent.kind() {
                CXCursor_UnexposedExpr | CXCursor_ParenExpr => inner = *parent,
                CXCursor_UnaryOperator => inner = *parent,
                CXCursor_CallExpr => return parent.children().first().is_some_and(|f| *f == inner),
                _ => return false,
            }
        }
        false
    }
}

/// Whether it is declared outside functions.
fn is_global(declaration: Cursor<'_>) -> bool {
    declaration.linkage() != CXLinkage_NoLinkage
}

/// The members of structs, or elements of them, among the arguments of a call.
fn members_passed(call: Cursor<'_>, callee: &str) -> Vec<MemberPassed> {
    let arguments = call.arguments();
    let format_of = |position: usize| {
        let before = arguments[..position].iter().map(|argument| strip(*argument)).enumerate();
        before.into_iter().find(|(_, node)| node.kind() == CXCursor_StringLiteral)
    };
    let member = |(position, argument): (usize, &Cursor<'_>)| {
        let mut node = strip(*argument);
        while node.kind() == CXCursor_ArraySubscriptExpr {
            node = strip(*node.children().first()?);
        }
        if node.kind() != CXCursor_MemberRefExpr {
            return None;
        }
        let object = node.children().first()?.ty().canonical();
        let object = if object.kind() == CXType_Pointer { object.pointee().canonical() } else { object };
        let record = object.declaration()?.usr();
        let is_printed =
            format_of(position).map(|(at, format)| prints_whole(&format.name(), position - at - 1));
        Some(MemberPassed { callee: callee.to_owned(), position, record, member: node.name(), is_printed })
    };
    arguments.iter().enumerate().filter_map(member).collect()
}
