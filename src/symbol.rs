//! The contents of a C library: names, types, functions, globals.
//!
//! This is plain data. `c` reads it from C; `rust` and `contract` turn it into Rust.

#[cfg(test)]
pub(crate) mod fixture;
mod library;
mod types;

pub use library::{Gap, LeftOut, Library, LibraryIndex, Unit};
pub use types::{CType, Field, Record, TypeDefinition, TypeForm, TypeKind};

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A symbol's name on the Rust side and on the command line: the C name, or `<file>__<name>` for a static whose
/// name occurs in several files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SymbolName(String);

impl SymbolName {
    /// Wraps a name that comes from the C front end or the command line.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SymbolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies a symbol in every run: clang's USR, plus the file for statics, whose USR has only the base name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SymbolKey(pub String);

/// A path relative to the root of the C project, with `/` between its parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RelPath(pub Utf8PathBuf);

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// Where a definition stands: byte range `start..end` and lines `line..=end_line`, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRange {
    pub file: RelPath,
    pub start: usize,
    pub end: usize,
    pub line: u32,
    pub end_line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Linkage {
    External,
    Static,
}

/// Whether an access reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Access {
    Read,
    Write,
    ReadWrite,
}

/// One use of a parameter (or of a local that is a plain copy of it) inside the function's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParamUse {
    pub line: u32,
    pub kind: UseKind,
    /// It goes no further than the NUL at which a loop ends, as in `while (*p) p++`, or needs no memory, as `p - q`.
    pub in_text: bool,
}

/// How a parameter is used. Texts are C source as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum UseKind {
    /// `*p`
    Deref(Access),
    /// `p[index]`; `constant` is the index's value if it is known at compile time
    Index {
        index: String,
        constant: Option<i64>,
        access: Access,
    },
    /// `p->field`
    Field {
        name: String,
        access: Access,
    },
    /// `p++`, `p += n`
    Advance,
    /// `p + n`, `p - q`
    Arithmetic,
    /// `p[-1]`, or `p - 1` that is not only compared: besides its use, the address leads to memory before `p`
    Back,
    /// `!p`, `p == NULL`, `if (p)`, `p && …`
    NullCheck,
    /// any other comparison; `with` is the other side
    Compare {
        op: String,
        with: String,
    },
    /// passed as argument `position` (from 0) to `callee` (`?` when called through a pointer)
    Argument {
        callee: String,
        position: usize,
        args: Vec<String>,
    },
    /// called: the parameter is a function pointer
    Called,
    /// `return p`
    Returned,
    /// `return p + n`
    ReturnedInside,
    /// The use of what `callee` returned, which had the parameter as argument `position`.
    FromCall {
        callee: String,
        position: usize,
        used: Box<UseKind>,
    },
    /// assigned to something that is not a local: `to` is its text
    Stored {
        to: String,
    },
    /// the parameter itself is overwritten
    Reassigned,
    /// `&p`
    AddressOf,
    /// cast to this type before further use
    Cast {
        to: String,
    },
    Other,
}

/// A member of a struct, or an element of it, that is an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberPassed {
    pub callee: String,
    /// From 0.
    pub position: usize,
    /// The key of the struct.
    pub record: String,
    pub member: String,
    /// Whether the first string literal before it, taken for a format, prints it whole: `%s` without a precision. `None` if
    /// there is none.
    pub is_printed: Option<bool>,
}

/// A comparison in a body, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub line: u32,
    pub left: String,
    pub op: String,
    pub right: String,
    /// The values of both sides, as far as they are constants.
    pub values: [Option<i64>; 2],
}

/// What a `return` statement returns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Returned {
    Param(String),
    Local(String),
    /// `p + 1` of a local `p`
    InsideLocal(String),
    Global(String),
    Call(String),
    StringLiteral,
    /// `0`, `NULL`, another constant
    Constant(String),
    Expression(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// As in the definition; `arg<i>` if the parameter has no name.
    pub name: String,
    pub ty: CType,
    pub uses: Vec<ParamUse>,
}

/// A function defined in the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    pub key: SymbolKey,
    pub name: SymbolName,
    /// The name in C.
    pub c_name: String,
    /// The Rust module that holds its port.
    pub module: String,
    pub place: SourceRange,
    /// The definition as written, from its first specifier to the closing brace.
    pub text: String,
    /// The comment above the definition, or else above a declaration; raw, with its markers.
    pub comment: String,
    pub linkage: Linkage,
    pub is_inline: bool,
    pub is_variadic: bool,
    /// `f()` without a prototype.
    pub is_kr: bool,
    pub params: Vec<Param>,
    pub ret: CType,
    /// Library functions called directly, in name order.
    pub calls: Vec<SymbolKey>,
    /// Names of called functions that the library does not define (`memcpy`, `__errno_location`, …).
    pub externs: Vec<String>,
    /// Calls through pointers.
    pub indirect_calls: u32,
    /// Library functions with their address taken.
    pub address_taken: Vec<SymbolKey>,
    pub globals_read: Vec<SymbolKey>,
    pub globals_written: Vec<SymbolKey>,
    /// Variables that the library does not define (`environ`, `stdout`).
    pub foreign_globals: Vec<String>,
    /// Macros expanded inside the body.
    pub macros: Vec<String>,
    /// Comparisons in the body, as text.
    pub comparisons: Vec<Comparison>,
    pub members_passed: Vec<MemberPassed>,
    pub returns: Vec<Returned>,
    /// Whether the body accesses `volatile` or atomic memory.
    pub volatile: bool,
    /// Why the function cannot be ported: variadic, `long double`, setjmp, inline asm, …
    pub unsupported: Option<String>,
}

/// C's three streams; macOS has these other names behind the macros.
pub const STREAMS: [&str; 6] = ["stdin", "stdout", "stderr", "__stdinp", "__stdoutp", "__stderrp"];

impl Function {
    /// The streams of the system that its body names.
    pub fn streams(&self) -> impl Iterator<Item = &String> {
        self.foreign_globals.iter().filter(|name| STREAMS.contains(&name.as_str()))
    }
}

/// A global variable or table defined in the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    pub key: SymbolKey,
    pub name: SymbolName,
    pub c_name: String,
    pub module: String,
    pub place: SourceRange,
    pub linkage: Linkage,
    pub ty: CType,
    pub is_const: bool,
    pub is_thread_local: bool,
    /// It is not `const`, but no code can write to it: it is static, and nothing writes to it or has its address.
    pub never_written: bool,
    /// It is static, in a header that several files include: each has its own.
    #[serde(default)]
    pub is_in_each_unit: bool,
    /// The C name of the function whose static variable it is, if it is declared inside of one.
    pub local_to: Option<String>,
    /// Why the global cannot be bound.
    pub unsupported: Option<String>,
}

impl Global {
    /// Whether it may change: neither it nor its element type is `const`, and something can write to it.
    pub fn is_variable(&self) -> bool {
        !self.is_const && !self.ty.element().is_const && !self.never_written
    }

    /// A name that tells it from variables of other functions.
    pub fn full_name(&self) -> String {
        match &self.local_to {
            Some(function) => format!("{function}__{}", self.c_name),
            None => self.c_name.clone(),
        }
    }

    /// The name of a variable inside a function for the linker, as clang makes it.
    pub fn local_symbol(&self) -> Option<String> {
        self.local_to.as_ref().map(|function| format!("{function}.{}", self.c_name))
    }
}

/// A macro of the library's own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Macro {
    pub key: SymbolKey,
    pub name: String,
    pub place: SourceRange,
    pub is_function_like: bool,
    /// `#define NAME …` as written, without `#define`.
    pub text: String,
    /// The comment above; raw, with its markers.
    pub comment: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(ty: CType, is_const: bool, never_written: bool) -> Global {
        Global {
            key: SymbolKey("c:@table".into()),
            name: SymbolName::new("table"),
            c_name: "table".into(),
            module: "sum".into(),
            place: fixture::place(1),
            linkage: Linkage::Static,
            ty,
            is_const,
            is_thread_local: false,
            never_written,
            is_in_each_unit: false,
            local_to: None,
            unsupported: None,
        }
    }

    #[test]
    fn what_nothing_can_write_is_no_variable() {
        let number = || fixture::int("int", true, 32);
        let constant = || CType { is_const: true, ..number() };
        let array = |of: CType| {
            let kind = TypeKind::Array { of: Box::new(of), len: Some(2) };
            CType { spelling: "int [2]".into(), is_const: false, kind }
        };
        let is_variable = |ty, is_const, never_written| global(ty, is_const, never_written).is_variable();
        assert!(is_variable(number(), false, false) && is_variable(array(number()), false, false));
        assert!(!is_variable(number(), true, false) && !is_variable(number(), false, true));
        assert!(!is_variable(array(constant()), false, false));
    }
}
