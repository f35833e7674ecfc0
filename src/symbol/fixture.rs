//! Symbols for tests. They have little more than a name; tests fill in the rest.

use super::{CType, Function, Linkage, RelPath, SourceRange, SymbolKey, SymbolName, TypeKind};

/// Ten lines, beginning with this one.
pub fn place(line: u32) -> SourceRange {
    SourceRange { file: RelPath("src/sum.c".into()), start: 0, end: 0, line, end_line: line + 9 }
}

pub fn int(spelling: &str, signed: bool, bits: u16) -> CType {
    let plain_char = spelling == "char";
    CType { spelling: spelling.into(), is_const: false, kind: TypeKind::Int { signed, bits, plain_char } }
}

/// A function that takes nothing, returns a `uint32_t`, calls nothing and uses no globals.
pub fn function(name: &str) -> Function {
    Function {
        key: SymbolKey(format!("c:@F@{name}")),
        name: SymbolName::new(name),
        c_name: name.into(),
        module: "sum".into(),
        place: place(20),
        text: String::new(),
        comment: "/* Digests `n` bytes. */".into(),
        linkage: Linkage::External,
        is_inline: false,
        is_variadic: false,
        is_kr: false,
        params: Vec::new(),
        ret: int("uint32_t", false, 32),
        calls: Vec::new(),
        externs: Vec::new(),
        indirect_calls: 0,
        address_taken: Vec::new(),
        globals_read: Vec::new(),
        globals_written: Vec::new(),
        foreign_globals: Vec::new(),
        macros: Vec::new(),
        comparisons: Vec::new(),
        members_passed: Vec::new(),
        returns: Vec::new(),
        volatile: false,
        unsupported: None,
    }
}
