//! The edits of calls that compare, copy or fill memory. A port that looks at the first byte alone, or forgets the last one,
//! differs from C only for arguments that share much: without these edits nothing would ask for such inputs.

use super::walk::Walk;
use crate::c::cursor::Cursor;
use crate::c::expr::strip;
use clang_sys::CXCursor_IntegerLiteral;

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

/// Adds the edits of a call.
pub(super) fn call(walk: &mut Walk, node: Cursor<'_>) {
    let callee = node.name();
    let Some(does) = Does::of(&callee) else { return };
    let Some(text) = walk.range(node).map(|range| walk.text[range].to_owned()) else { return };
    const FIRST: &str = "with the first byte alone";
    const LAST: &str = "without the last byte";
    match does {
        Does::CompareTexts { limited } => {
            let arguments = text.strip_prefix(&*callee).and_then(|rest| rest.trim_end().strip_suffix(')'));
            let Some(arguments) = arguments else { return };
            walk.push(node, walk.range(node), &format!("{limited}{arguments}, 1)"), FIRST);
        }
        Does::CompareBytes => {
            counted(walk, node, &text, ("{n} > 0", FIRST));
            counted(walk, node, &text, ("{n} - ({n} > 0)", LAST));
        }
        Does::Write => counted(walk, node, &text, ("{n} - ({n} > 0)", LAST)),
    }
}

/// Replaces the last argument by an expression of `{n}`, its value, which is computed once.
fn counted(walk: &mut Walk, node: Cursor<'_>, call: &str, (by, what): (&str, &str)) {
    const VALUE: &str = "implfuzz_n";
    let Some(count) = node.arguments().last().copied().filter(|count| !count.is_in_macro()) else { return };
    // A number has an edit of its own.
    if strip(count).kind() == CXCursor_IntegerLiteral && what.starts_with("without") {
        return;
    }
    let Some(range) = walk.range(count) else { return };
    let old = &walk.text[range.clone()];
    let by = by.replace("{n}", VALUE);
    let by = format!("(__extension__ ({{ __typeof__({old}) {VALUE} = ({old}); {by}; }}))");
    walk.push_told(node, (range, call), &by, what);
}
