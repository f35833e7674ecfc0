//! C types, records, and type definitions.

use super::{Place, SymbolKey};
use serde::{Deserialize, Serialize};

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
    /// What C code outside any function calls it, `struct s` or a typedef's name; empty where it has no such name.
    pub c_name: String,
    pub is_union: bool,
    /// False when only a forward declaration is visible.
    pub complete: bool,
    /// `ffi.rs` has its size and alignment, and no fields.
    pub opaque: bool,
    /// Bytes.
    pub size: u64,
    /// Bytes; 0 while it is not known.
    pub align: u64,
    pub fields: Vec<Field>,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub ty: CType,
    /// Width of a bit-field.
    pub bits: Option<u32>,
    /// Where it starts, in bits from the start of the record; absent in records that are not complete.
    pub offset: Option<u64>,
}

/// What a type definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeForm {
    Struct,
    Union,
    Enum,
    Typedef,
}

/// A type that the library's own files define. `typedef struct s s;` and `typedef struct { … } s;` are one type with
/// the struct's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeDefinition {
    pub key: SymbolKey,
    pub name: String,
    pub form: TypeForm,
    pub place: Place,
    /// The definition as written.
    pub text: String,
    /// Raw, with its markers.
    pub comment: String,
    /// False where the library only declares the tag.
    pub complete: bool,
}
