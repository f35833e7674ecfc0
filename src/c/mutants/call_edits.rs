//! The edits of calls that compare, copy or fill memory. A port that looks at the first byte alone, or forgets the last one,
//! differs from C only for arguments that share much: without these edits nothing would ask for such inputs.

use super::edit::Edit;
use super::walk::Walk;
use crate::c::cursor::Cursor;
use crate::c::expr::strip;
use clang_sys::{CXCursor_IntegerLiteral, CXCursor_UnaryExpr};
use std::ops::Range;

/// What a function of the C library does with the bytes that its arguments name.
enum Does {
    /// Compares two strings up to their ends; the builtin compares as many bytes as its last argument says.
    CompareTexts { limited: &'static str },
    /// Compares as many bytes as its last argument says.
    CompareBytes,
    /// Writes as many bytes as its last argument says.
    Write,
}

impl Does {
    fn of(callee: &str) -> Option<Self> {
        Some(match callee {
            "strcmp" => Self::CompareTexts { limited: "__builtin_strncmp" },
            "strcasecmp" => Self::CompareTexts { limited: "__builtin_strncasecmp" },
            "memcmp" | "strncmp" | "strncasecmp" => Self::CompareBytes,
            "memcpy" | "memmove" | "memset" => Self::Write,
            _ => return None,
        })
    }
}

/// Which of the bytes a mutant still looks at, or writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    First,
    AllButLast,
}

impl Kept {
    fn what(self) -> &'static str {
        match self {
            Self::First => "with the first byte alone",
            Self::AllButLast => "without the last byte",
        }
    }

    /// The number of bytes, of as many as the variable `n` says, of which the last ones are padding.
    fn count(self, n: &str, padding: u64) -> String {
        match self {
            Self::First => format!("{n} > 0"),
            Self::AllButLast if padding == 0 => format!("{n} - ({n} > 0)"),
            Self::AllButLast => format!("{n} - ({n} > {padding} ? {} : 0)", padding + 1),
        }
    }
}

/// Adds the edits of a call.
pub(super) fn call(walk: &mut Walk, node: Cursor<'_>) {
    let callee = node.name();
    let Some(range) = walk.range(node) else { return };
    match Does::of(&callee) {
        None => {}
        Some(Does::CompareTexts { limited }) => {
            let call = walk.text[range.clone()].trim_end();
            let arguments = call.strip_prefix(&*callee).and_then(|rest| rest.strip_suffix(')'));
            let Some(arguments) = arguments else { return };
            let by = format!("{limited}{arguments}, 1)");
            walk.push(node, Some(range), &by, Kept::First.what());
        }
        Some(Does::CompareBytes) => {
            counted(walk, (node, &range), Kept::First);
            counted(walk, (node, &range), Kept::AllButLast);
        }
        Some(Does::Write) => counted(walk, (node, &range), Kept::AllButLast),
    }
}

/// Changes the last argument, a number of bytes, which is computed once. People are shown the whole call.
fn counted(walk: &mut Walk, (node, call): (Cursor<'_>, &Range<usize>), kept: Kept) {
    const VALUE: &str = "implfuzz_n";
    let Some(count) = node.arguments().last().copied().filter(|count| !count.is_in_macro()) else { return };
    // A number has an edit of its own, which subtracts one.
    if strip(count).kind() == CXCursor_IntegerLiteral && kept == Kept::AllButLast {
        return;
    }
    let Some(range) = walk.range(count) else { return };
    let old = &walk.text[range.clone()];
    let by = format!(
        "(__extension__ ({{ __typeof__({old}) {VALUE} = ({old}); {}; }}))",
        kept.count(VALUE, padding(count))
    );
    let shown = &walk.text[call.clone()];
    walk.edits.push(Edit::new(node.start().line, range, by, (shown, kept.what())));
}

/// The bytes behind the last field of the struct that `sizeof` measures: no copy shows whether they are there.
fn padding(count: Cursor<'_>) -> u64 {
    let node = strip(count);
    let measured = || {
        let ty = node.children().first()?.ty().canonical();
        // `sizeof(struct item *)` names the struct, too.
        node.evaluate().filter(|size| *size == ty.size())?;
        let end = |field: Cursor<'_>| field.offset() + field.ty().size().max(0) * 8;
        let ends = ty.fields().into_iter().filter(|field| field.offset() >= 0).map(end).max()?;
        u64::try_from(ty.size() - (ends + 7) / 8).ok()
    };
    (node.kind() == CXCursor_UnaryExpr).then(measured).flatten().unwrap_or(0)
}
