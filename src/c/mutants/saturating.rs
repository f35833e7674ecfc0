//! The cheat that ignores wrapping of C's unsigned arithmetic: a copy of a function in which every unsigned `+`, `-`
//! and `*` of at least 32 bits saturates. A good test kills it.
//!
//! On overflow, `+` and `*` give all ones and `-` gives zero. The operands go into the compiler's overflow
//! builtins with their own types, so that a negative signed one keeps its value, and each is evaluated once.
//! Macro expansions and constant expressions stay unchanged. So does arithmetic of more than 64 bits, which
//! may need a compiler runtime that is not linked.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::edit::Edit;
use super::walk::between;
use crate::c::cursor::{Cursor, Location};
use crate::c::expr::{initialiser, strip};
use clang_sys::*;
use std::ops::Range;

/// The id of the cheat among a function's mutants.
pub const SATURATING: &str = "saturating";

/// The saturating copy of the function with this text; `None` if nothing in it wraps. `expansions` are the
/// ranges of macro expansions in its file.
pub(super) fn saturating(
    definition: Cursor<'_>,
    text: &str,
    expansions: &[(Location, Location)],
) -> Option<Edit> {
    let start = definition.start();
    let body = definition.children().into_iter().find(|c| c.kind() == CXCursor_CompoundStmt)?;
    let range = between(text, &start, (&body.start(), &body.end()))?;
    let macros = expansions.iter().filter_map(|(from, to)| between(text, &start, (from, to))).collect();
    let mut walk = Walk { text, start: &start, macros, count: 0, line: None };
    let by = walk.rewritten(body, &range);
    let places = if walk.count == 1 { "place" } else { "places" };
    let what = format!("saturates where C wraps ({} {places})", walk.count);
    Some(Edit { line: walk.line?, range, by, what })
}

/// The operations that can saturate.
#[derive(Clone, Copy)]
enum Operation {
    Add,
    Sub,
    Mul,
}

impl Operation {
    fn of(operator: &str) -> Option<Self> {
        Some(match operator.strip_suffix('=').unwrap_or(operator) {
            "+" => Self::Add,
            "-" => Self::Sub,
            "*" => Self::Mul,
            _ => return None,
        })
    }

    /// An expression of type `ty`, which is unsigned, for the saturated result; `n` makes variable names
    /// unique.
    fn stopped(self, ty: &str, (left, right): (&str, &str), n: usize) -> String {
        let (builtin, end) = match self {
            Self::Add => ("add", format!("~({ty})0")),
            Self::Sub => ("sub", format!("({ty})0")),
            Self::Mul => ("mul", format!("~({ty})0")),
        };
        let r = format!("implfuzz_r{n}");
        format!(
            "(__extension__ ({{ {ty} {r}; __builtin_{builtin}_overflow(({left}), ({right}), &{r}) ? {end} : {r}; }}))"
        )
    }
}

struct Walk<'a> {
    text: &'a str,
    start: &'a Location,
    /// Ranges of macro expansions.
    macros: Vec<Range<usize>>,
    /// Number of changed operations.
    count: usize,
    /// The line of the first one, in the file.
    line: Option<u32>,
}

/// A range of the text and its replacement.
type Change = (Range<usize>, String);

/// A node with its range in the text.
type Operand<'tu> = (Cursor<'tu>, Range<usize>);

impl Walk<'_> {
    /// The text of a node after all changes in it.
    fn rewritten(&mut self, node: Cursor<'_>, range: &Range<usize>) -> String {
        let mut changes = Vec::new();
        self.visit(node, &mut changes);
        changes.sort_by_key(|(range, _)| range.start);
        let (mut text, mut at) = (String::new(), range.start);
        for (changed, by) in changes {
            // A node with two parents is changed only once.
            if changed.start < at || changed.end > range.end {
                continue;
            }
            text.push_str(&self.text[at..changed.start]);
            text.push_str(&by);
            at = changed.end;
        }
        text.push_str(&self.text[at..range.end]);
        text
    }

    /// Collects changes that do not overlap: each change includes those of its operands.
    fn visit(&mut self, node: Cursor<'_>, changes: &mut Vec<Change>) {
        let change = match node.kind() {
            CXCursor_BinaryOperator => self.binary(node),
            CXCursor_CompoundAssignOperator => self.compound(node),
            CXCursor_UnaryOperator => self.step(node),
            _ => None,
        };
        match change {
            Some(change) => {
                self.line = self.line.min(Some(node.start().line)).or(Some(node.start().line));
                changes.push(change);
            }
            None => computed(node).into_iter().for_each(|child| self.visit(child, changes)),
        }
    }

    fn binary(&mut self, node: Cursor<'_>) -> Option<Change> {
        let ty = wrapping(node)?;
        let (left, right, operation) = self.parts(node)?;
        // The expression may be required to be constant.
        if node.evaluate().is_some() {
            return None;
        }
        let n = self.next();
        let whole = left.1.start..right.1.end;
        let (left, right) = (self.rewritten(left.0, &left.1), self.rewritten(right.0, &right.1));
        Some((whole, operation.stopped(ty, (&left, &right), n)))
    }

    /// `left += right`: the address of `left` is computed once.
    fn compound(&mut self, node: Cursor<'_>) -> Option<Change> {
        let ty = wrapping(node)?;
        let (left, right, operation) = self.parts(node)?;
        let place = Place::of(left.0)?;
        if !is_integer(right.0) {
            return None;
        }
        let n = self.next();
        let whole = left.1.start..right.1.end;
        let right = self.rewritten(right.0, &right.1);
        let stopped = |at: &str| format!("{at} = {}", operation.stopped(ty, (at, &right), n));
        Some((whole, self.assigned(place, left, (n, &stopped))))
    }

    /// `++` and `--`, prefix or postfix.
    fn step(&mut self, node: Cursor<'_>) -> Option<Change> {
        let ty = wrapping(node)?;
        let (operation, mark, is_before) = match node.unary_operator() {
            CXUnaryOperator_PreInc => (Operation::Add, "++", true),
            CXUnaryOperator_PostInc => (Operation::Add, "++", false),
            CXUnaryOperator_PreDec => (Operation::Sub, "--", true),
            CXUnaryOperator_PostDec => (Operation::Sub, "--", false),
            _ => return None,
        };
        let [operand] = node.children()[..] else { return None };
        let place = Place::of(operand)?;
        let (whole, own) = (self.range(node)?, self.range(operand)?);
        let gap = if is_before { whole.start..own.start } else { own.end..whole.end };
        if self.text.get(gap.clone())?.trim() != mark || self.is_expanded(&gap) {
            return None;
        }
        let n = self.next();
        let stopped = |at: &str| {
            let next = operation.stopped(ty, (at, "1"), n);
            match is_before {
                true => format!("{at} = {next}"),
                false => {
                    let old = format!("implfuzz_o{n}");
                    format!("__extension__ ({{ {ty} {old} = {at}; {at} = {next}; {old}; }})")
                }
            }
        };
        Some((whole, self.assigned(place, (operand, own), (n, &stopped))))
    }

    /// An expression that assigns to `place` the value that `stopped` computes from its name.
    fn assigned(
        &mut self,
        place: Place,
        (node, range): Operand<'_>,
        (n, stopped): (usize, &dyn Fn(&str) -> String),
    ) -> String {
        let own = self.text[range.clone()].to_owned();
        match place {
            Place::Name => format!("({})", stopped(&own)),
            Place::Memory => {
                let (p, text) = (format!("implfuzz_p{n}"), self.rewritten(node, &range));
                let then = stopped(&format!("(*{p})"));
                format!("(__extension__ ({{ __typeof__({own}) *{p} = &({text}); {then}; }}))")
            }
        }
    }

    /// Both operands with their ranges, if nothing but the operator is between them.
    fn parts<'tu>(&self, node: Cursor<'tu>) -> Option<(Operand<'tu>, Operand<'tu>, Operation)> {
        let [left, right] = node.children()[..] else { return None };
        let operation = Operation::of(&node.operator_text())?;
        let (own, other) = (self.range(left)?, self.range(right)?);
        let gap = own.end..other.start;
        let is_plain = self.text.get(gap.clone())?.trim() == node.operator_text();
        (is_plain && !self.is_expanded(&gap)).then_some(((left, own), (right, other), operation))
    }

    fn range(&self, node: Cursor<'_>) -> Option<Range<usize>> {
        between(self.text, self.start, (&node.start(), &node.end()))
    }

    /// Whether an operator here is in a macro argument or in a macro expansion.
    fn is_expanded(&self, gap: &Range<usize>) -> bool {
        self.macros.iter().any(|range| range.start < gap.end && gap.start < range.end)
    }

    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }
}

/// How the target of an assignment is accessed.
#[derive(Clone, Copy)]
enum Place {
    /// By the variable's name; it may be a register variable.
    Name,
    /// Through a pointer.
    Memory,
}

impl Place {
    /// `None` for bit-fields, which have no address.
    fn of(node: Cursor<'_>) -> Option<Self> {
        let inner = strip(node);
        match inner.kind() {
            CXCursor_DeclRefExpr => Some(Self::Name),
            CXCursor_MemberRefExpr => inner.referenced().filter(|f| f.bit_width() < 0).map(|_| Self::Memory),
            _ => Some(Self::Memory),
        }
    }
}

/// The type of an operation that wraps, in C's spelling.
fn wrapping(node: Cursor<'_>) -> Option<&'static str> {
    let ty = node.ty().canonical();
    let name = match ty.kind() {
        CXType_UInt => "unsigned int",
        CXType_ULong => "unsigned long",
        CXType_ULongLong => "unsigned long long",
        _ => return None,
    };
    (ty.size() >= 4).then_some(name)
}

fn is_integer(node: Cursor<'_>) -> bool {
    let kind = node.ty().canonical().kind();
    (CXType_Bool..=CXType_ULongLong).contains(&kind)
        || (CXType_Char_S..=CXType_LongLong).contains(&kind)
        || kind == CXType_Enum
}

/// The child expressions that are evaluated at run time and may be replaced.
fn computed(node: Cursor<'_>) -> Vec<Cursor<'_>> {
    match node.kind() {
        // `sizeof` and similar operators, and operands of assembler.
        CXCursor_UnaryExpr | CXCursor_AsmStmt | CXCursor_MSAsmStmt => Vec::new(),
        CXCursor_CaseStmt => node.children().into_iter().next_back().into_iter().collect(),
        CXCursor_DeclStmt => {
            node.children().into_iter().filter(|child| child.kind() == CXCursor_VarDecl).collect()
        }
        // The sizes of arrays are children of the declaration too.
        CXCursor_VarDecl if matches!(node.storage(), CX_SC_Static | CX_SC_Extern) => Vec::new(),
        CXCursor_VarDecl => initialiser(node).into_iter().collect(),
        _ => node.children(),
    }
}
