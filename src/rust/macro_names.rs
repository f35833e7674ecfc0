//! What can stand before the `!` of a macro call.

/// Macros of Rust's own libraries that need no import, or that `core` and `std` have at their root. They take no names
/// apart.
#[rustfmt::skip]
pub const STD_MACROS: &[&str] = &[
    "assert", "assert_eq", "assert_ne", "compile_error", "concat", "format", "format_args", "matches", "panic",
    "unreachable", "vec", "write", "writeln",
];

/// Keywords before an expression: a `!` behind one negates. No macro has such a name but a raw one.
pub const BEFORE_NOT: [&str; 8] = ["break", "else", "if", "in", "match", "move", "return", "while"];
