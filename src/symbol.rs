//! What a C library consists of, as the rest of the tool sees it: names, types, functions, globals.
//!
//! Plain data. How it is read from C lives in `c`; what Rust makes of it lives in `rust` and `contract`.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// A symbol's name on the Rust side and on the command line: the C name, or `<file>__<name>` for a static whose
/// name occurs in several files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SymbolName(String);

impl SymbolName {
    /// Wraps a name; the caller has it from the C front end or the command line.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The bare text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SymbolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identity of a symbol over runs: clang's USR, and the file for statics (whose USR has only the base name).
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
pub struct Place {
    pub file: RelPath,
    pub start: usize,
    pub end: usize,
    pub line: u32,
    pub end_line: u32,
}

/// A C type with its spelling as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CType {
    pub spelling: String,
    pub is_const: bool,
    pub kind: TypeKind,
}

/// The canonical shape of a C type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeKind {
    Void,
    Bool,
    /// `plain_char` marks `char` without `signed` or `unsigned`.
    Int {
        signed: bool,
        bits: u16,
        plain_char: bool,
    },
    Float {
        bits: u16,
    },
    /// Enumerators in order: name and value.
    Enum {
        name: String,
        signed: bool,
        bits: u16,
        values: Vec<(String, i128)>,
    },
    Pointer(Box<CType>),
    /// `len` is absent for `T[]`; a parameter declared `T a[9]` is an `Array` with its extent kept.
    Array {
        of: Box<CType>,
        len: Option<u64>,
    },
    /// Key into `Library::records`.
    Record(String),
    /// A function type (behind a pointer: a callback).
    Function {
        params: Vec<CType>,
        ret: Box<CType>,
        variadic: bool,
    },
    /// `long double`, vectors, complex, and whatever else has no faithful Rust type; the text says what it is.
    Unsupported(String),
}

/// A struct or union.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The name that bindgen gives it in `ffi.rs`.
    pub rust_name: String,
    pub is_union: bool,
    /// False when only a forward declaration is visible.
    pub complete: bool,
    pub size: u64,
    pub fields: Vec<Field>,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub ty: CType,
    /// Width of a bit-field.
    pub bits: Option<u32>,
}

/// Who sees a symbol.
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
}

/// How a parameter is used. Texts are C source as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum UseKind {
    /// `*p`
    Deref(Access),
    /// `p[index]`; `constant` when the index evaluates at compile time, with its value.
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
    /// assigned to something that is not a local: `to` is its text
    Stored {
        to: String,
    },
    /// the parameter itself is overwritten
    Reassigned,
    /// `&p`
    AddressOf,
    /// Cast to this type before further use.
    Cast {
        to: String,
    },
    Other,
}

/// A comparison in a body, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub line: u32,
    pub left: String,
    pub op: String,
    pub right: String,
}

/// What a `return` statement returns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Returned {
    Param(String),
    Local(String),
    Global(String),
    Call(String),
    StringLiteral,
    /// `0`, `NULL`, another constant
    Constant(String),
    Expression(String),
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// As in the definition; `arg<i>` when it has none.
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
    pub place: Place,
    /// The definition as written, from its first specifier to the closing brace.
    pub text: String,
    /// The comment above the definition, else the one above a declaration; raw, with its markers.
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
    /// Names of functions called that the library does not define (`memcpy`, `__errno_location`, …).
    pub externs: Vec<String>,
    /// Calls through pointers.
    pub indirect_calls: u32,
    /// Library functions whose address is taken.
    pub address_taken: Vec<SymbolKey>,
    pub globals_read: Vec<SymbolKey>,
    pub globals_written: Vec<SymbolKey>,
    /// Macros expanded inside the body.
    pub macros: Vec<String>,
    /// Comparisons in the body, as text, and copies `left = right` between plain names.
    pub comparisons: Vec<Comparison>,
    pub assignments: Vec<(String, String)>,
    pub returns: Vec<Returned>,
    /// Function-local `static` variables: the function has state of its own.
    pub local_statics: Vec<String>,
    /// Why it cannot be ported, if it cannot: variadic, `long double`, setjmp, inline asm, …
    pub unsupported: Option<String>,
}

/// A global variable or table defined in the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    pub key: SymbolKey,
    pub name: SymbolName,
    pub c_name: String,
    pub module: String,
    pub place: Place,
    pub linkage: Linkage,
    pub ty: CType,
    pub is_const: bool,
    pub is_thread_local: bool,
    /// Why it cannot be bound, if it cannot.
    pub unsupported: Option<String>,
}

/// A macro of the library's own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Macro {
    pub name: String,
    pub file: RelPath,
    pub line: u32,
    pub is_function_like: bool,
    /// `#define NAME …` as written, without `#define`.
    pub text: String,
}

/// A source file that is compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    pub file: RelPath,
    pub module: String,
    /// Compiler arguments that matter: `-I`, `-D`, `-std`, …; paths relative to the root.
    pub flags: Vec<String>,
}

/// A source file that is left out, and why (tests, `main`, error diagnostics).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub file: RelPath,
    pub reason: String,
}

/// Everything known about a C library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    pub units: Vec<Unit>,
    pub left_out: Vec<LeftOut>,
    /// In porting order: callees before callers, members of a cycle next to each other.
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    pub records: BTreeMap<String, Record>,
    pub macros: Vec<Macro>,
    /// The unit in which each symbol was seen first; for what a header defines, the first unit that includes it.
    pub unit_of: BTreeMap<SymbolKey, RelPath>,
    /// Mutually recursive functions, each group with more than one member.
    pub cycles: Vec<Vec<SymbolKey>>,
}

impl Library {
    /// The function with this key.
    pub fn function(&self, key: &SymbolKey) -> Option<&Function> {
        self.functions.iter().find(|f| f.key == *key)
    }

    /// The function with this name on the Rust side, or `file.c:name`.
    pub fn find(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name.as_str() == name).or_else(|| {
            let (file, c_name) = name.split_once(':')?;
            self.functions.iter().find(|f| {
                f.c_name == c_name && (f.place.file.0 == file || f.place.file.0.file_name() == Some(file))
            })
        })
    }

    /// The global with this key.
    pub fn global(&self, key: &SymbolKey) -> Option<&Global> {
        self.globals.iter().find(|g| g.key == *key)
    }
}

/// Functions and globals by key: for whoever asks about all of them, since [`Library::function`] looks through the
/// whole list.
#[derive(Debug)]
pub struct LibraryIndex<'a> {
    functions: HashMap<&'a SymbolKey, &'a Function>,
    globals: HashMap<&'a SymbolKey, &'a Global>,
}

impl<'a> LibraryIndex<'a> {
    /// The index of `library` as it is now.
    pub fn of(library: &'a Library) -> Self {
        Self {
            functions: library.functions.iter().map(|f| (&f.key, f)).collect(),
            globals: library.globals.iter().map(|g| (&g.key, g)).collect(),
        }
    }

    /// The function with this key.
    pub fn function(&self, key: &SymbolKey) -> Option<&'a Function> {
        self.functions.get(key).copied()
    }

    /// The global with this key.
    pub fn global(&self, key: &SymbolKey) -> Option<&'a Global> {
        self.globals.get(key).copied()
    }

    /// `function`, and everything of the library that `next` leads to from there.
    pub fn reached(
        &self,
        function: &'a Function,
        next: impl Fn(&'a Function) -> Vec<&'a SymbolKey>,
    ) -> Vec<&'a Function> {
        let mut seen = BTreeSet::from([&function.key]);
        let mut all = vec![function];
        let mut at = 0;
        while let Some(from) = all.get(at) {
            let found: Vec<_> = next(from).into_iter().filter_map(|key| self.function(key)).collect();
            all.extend(found.into_iter().filter(|f| seen.insert(&f.key)));
            at += 1;
        }
        all
    }
}
