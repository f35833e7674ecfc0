//! C types, records, and type definitions.

use super::{SourceRange, SymbolKey};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CType {
    pub spelling: String,
    pub is_const: bool,
    pub kind: TypeKind,
}

impl CType {
    /// This type and all types in it; records count as one.
    pub fn parts(&self) -> impl Iterator<Item = &CType> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            match &next.kind {
                TypeKind::Pointer(of) | TypeKind::Array { of, .. } => open.push(of),
                TypeKind::Function { params, ret, .. } => open.extend(params.iter().chain([&**ret])),
                _ => {}
            }
            Some(next)
        })
    }

    /// The innermost element of an array; any other type itself.
    pub fn element(&self) -> &CType {
        match &self.kind {
            TypeKind::Array { of, .. } => of.element(),
            _ => self,
        }
    }

    /// What a pointer leads to, or a parameter that is declared as an array.
    pub fn target(&self) -> Option<&CType> {
        match &self.kind {
            TypeKind::Pointer(of) | TypeKind::Array { of, .. } => Some(of),
            _ => None,
        }
    }

    /// The key of the record that this is.
    pub fn record_key(&self) -> Option<&str> {
        match &self.kind {
            TypeKind::Record(key) => Some(key),
            _ => None,
        }
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self.kind, TypeKind::Pointer(_))
    }

    /// Whether it is `char`, neither `signed` nor `unsigned`.
    pub fn is_char(&self) -> bool {
        matches!(self.kind, TypeKind::Int { plain_char: true, .. })
    }

    /// The keys of the records in this type.
    pub fn record_keys(&self) -> impl Iterator<Item = &String> {
        self.parts().filter_map(|part| match &part.kind {
            TypeKind::Record(key) => Some(key),
            _ => None,
        })
    }
}

/// The canonical shape of a C type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeKind {
    Void,
    Bool,
    /// `plain_char` is true for `char` without `signed` or `unsigned`.
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
    /// `len` is absent for `T[]`. A parameter declared as `T a[9]` is an `Array` that keeps its length.
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
    /// `long double`, vectors, complex numbers and other types without a faithful Rust type; the text names the type.
    Unsupported(String),
}

/// A struct or union.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// bindgen's name for it in `ffi.rs`.
    pub rust_name: String,
    /// The name that C code outside any function can use, `struct s` or a typedef; empty if there is none.
    pub c_name: String,
    pub is_union: bool,
    /// False when only a forward declaration is visible.
    pub complete: bool,
    /// `ffi.rs` has its size and alignment, but no fields.
    pub opaque: bool,
    /// Bytes.
    pub size: u64,
    /// Bytes; 0 if unknown.
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
    /// The offset in bits from the start of the record; absent if the record is incomplete.
    pub offset: Option<u64>,
}

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
    pub place: SourceRange,
    /// The definition as written.
    pub text: String,
    /// Raw, with its markers.
    pub comment: String,
    /// False where the library only declares the tag.
    pub complete: bool,
}
