//! Converts libclang's C types to `symbol::CType` and `symbol::Record`. `merge` joins the records of all
//! units.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::{Cursor, Type};
use crate::symbol::{CType, Field, Record, TypeKind};
use clang_sys::*;
use std::collections::{BTreeMap, BTreeSet};

/// Types nested deeper than this are not read.
const MAX_DEPTH: u32 = 24;

/// Collects the records that occur in the types of one translation unit.
#[derive(Default)]
pub(super) struct TypeReader {
    pub records: BTreeMap<String, Record>,
}

impl TypeReader {
    /// Reads a type and every record in it.
    pub(super) fn read(&mut self, ty: Type<'_>) -> CType {
        self.read_at(ty, 0)
    }

    /// Reads the type of a parameter: an array of numbers or pointers without a size is a pointer. One of structs is no
    /// object, which a pointer may be.
    pub(super) fn read_parameter(&mut self, ty: Type<'_>) -> CType {
        let read = self.read(ty);
        match read.kind {
            TypeKind::Array { of, len: None } if of.record_key().is_none() && of.element() == &*of => {
                let spelling = format!("{} *", of.spelling);
                CType { kind: TypeKind::Pointer(of), is_const: false, spelling }
            }
            kind => CType { kind, ..read },
        }
    }

    fn read_at(&mut self, ty: Type<'_>, depth: u32) -> CType {
        let canonical = ty.canonical();
        let spelling = ty.spelling();
        let is_const = ty.is_const() || canonical.is_const();
        let kind = if depth > MAX_DEPTH {
            TypeKind::Unsupported(format!("type nested too deeply: {spelling}"))
        } else {
            self.shape(ty, canonical, depth)
        };
        CType { spelling, is_const, kind }
    }

    fn shape(&mut self, ty: Type<'_>, canonical: Type<'_>, depth: u32) -> TypeKind {
        let bits = u16::try_from(canonical.size().max(0) * 8).unwrap_or(0);
        let int = |signed, plain_char| TypeKind::Int { signed, bits, plain_char };
        // The sugared form keeps the typedef names of the inner types.
        let sugared = unsugar(ty);
        let inner = if sugared.kind() == canonical.kind() { sugared } else { canonical };
        match canonical.kind() {
            CXType_Void => TypeKind::Void,
            CXType_Bool => TypeKind::Bool,
            CXType_Char_S => int(true, true),
            CXType_Char_U => int(false, true),
            CXType_SChar | CXType_Short | CXType_Int | CXType_Long | CXType_LongLong => int(true, false),
            CXType_UChar | CXType_UShort | CXType_UInt | CXType_ULong | CXType_ULongLong => int(false, false),
            CXType_WChar => int(true, false),
            CXType_Float | CXType_Double => TypeKind::Float { bits },
            CXType_Pointer => TypeKind::Pointer(Box::new(self.read_at(inner.pointee(), depth + 1))),
            CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray => TypeKind::Array {
                of: Box::new(self.read_at(inner.element(), depth + 1)),
                len: u64::try_from(canonical.extent()).ok(),
            },
            CXType_Record => self.record(canonical),
            CXType_Enum => canonical.declaration().map_or_else(|| unsupported(canonical), enumeration),
            CXType_FunctionProto | CXType_FunctionNoProto => TypeKind::Function {
                params: inner.parameters().into_iter().map(|p| self.read_at(p, depth + 1)).collect(),
                ret: Box::new(self.read_at(inner.result(), depth + 1)),
                variadic: canonical.kind() == CXType_FunctionProto && canonical.is_variadic(),
            },
            _ => unsupported(canonical),
        }
    }

    fn record(&mut self, canonical: Type<'_>) -> TypeKind {
        let Some(declaration) = canonical.declaration() else { return unsupported(canonical) };
        let usr = declaration.usr();
        if declaration.name() == "__va_list_tag" {
            return TypeKind::Unsupported(VA_LIST.into());
        }
        if self.records.get(&usr).is_some_and(|r| r.complete) {
            return TypeKind::Record(usr);
        }
        let definition = declaration.definition();
        let ty = definition.unwrap_or(declaration).ty();
        let placeholder = Record {
            rust_name: tag_name(declaration),
            c_name: c_name(declaration),
            is_union: declaration.kind() == CXCursor_UnionDecl,
            complete: definition.is_some(),
            opaque: false,
            size: u64::try_from(ty.size()).unwrap_or(0),
            align: u64::try_from(ty.align()).unwrap_or(0),
            fields: Vec::new(),
        };
        // Insert the record before reading its fields, because they may point back to it.
        self.records.insert(usr.clone(), placeholder);
        if definition.is_some() {
            let fields = ty.fields().into_iter().map(|f| self.field(f)).collect();
            if let Some(record) = self.records.get_mut(&usr) {
                record.fields = fields;
            }
        }
        TypeKind::Record(usr)
    }

    fn field(&mut self, field: Cursor<'_>) -> Field {
        // libclang names an anonymous member after its location; in C it has no name.
        let name = field.name();
        Field {
            name: if name.contains('(') { String::new() } else { name },
            // The depth restarts at 0: every record is read once, whatever its nesting depth.
            ty: self.read_at(field.ty(), 0),
            bits: u32::try_from(field.bit_width()).ok(),
            offset: u64::try_from(field.offset()).ok(),
        }
    }
}

fn unsupported(ty: Type<'_>) -> TypeKind {
    TypeKind::Unsupported(match ty.kind() {
        CXType_LongDouble => "long double".into(),
        CXType_Int128 | CXType_UInt128 => "__int128".into(),
        CXType_Complex => format!("complex number ({})", ty.spelling()),
        CXType_Vector | CXType_ExtVector => format!("vector ({})", ty.spelling()),
        _ => ty.spelling(),
    })
}

/// Removes typedefs, `struct` keywords and attributes, one layer at a time.
fn unsugar(mut ty: Type<'_>) -> Type<'_> {
    loop {
        ty = match ty.kind() {
            CXType_Elaborated => ty.named(),
            CXType_Attributed => ty.modified(),
            CXType_Typedef => match ty.declaration() {
                Some(declaration) => declaration.underlying(),
                None => return ty,
            },
            CXType_Unexposed => return ty.canonical(),
            _ => return ty,
        };
    }
}

/// The tag, else the name from a typedef; empty if it has neither.
pub(super) fn tag_name(declaration: Cursor<'_>) -> String {
    if declaration.is_anonymous() {
        return String::new();
    }
    let spelling = declaration.ty().spelling();
    let name = spelling.rsplit(' ').next().unwrap_or_default();
    if name.contains([')', '(', ':']) { String::new() } else { name.to_owned() }
}

/// The name by which all code of the unit can refer to the type; empty for a type without a name or inside a
/// function.
fn c_name(declaration: Cursor<'_>) -> String {
    let is_local = declaration.usr().contains("@F@");
    let name = tag_name(declaration);
    if is_local || name.is_empty() {
        return String::new();
    }
    let spelling = declaration.ty().spelling();
    match spelling.split_once(' ') {
        Some((keyword, _)) => format!("{keyword} {name}"),
        None => name,
    }
}

fn enumeration(declaration: Cursor<'_>) -> TypeKind {
    let declaration = declaration.definition().unwrap_or(declaration);
    let integer = declaration.enum_integer().canonical();
    let signed = matches!(
        integer.kind(),
        CXType_Char_S | CXType_SChar | CXType_Short | CXType_Int | CXType_Long | CXType_LongLong
    );
    let values = declaration
        .children()
        .into_iter()
        .filter(|c| c.kind() == CXCursor_EnumConstantDecl)
        .map(|c| {
            let value = if signed { i128::from(c.enum_value()) } else { i128::from(c.enum_value_unsigned()) };
            (c.name(), value)
        })
        .collect();
    let bits = u16::try_from(integer.size().max(0) * 8).unwrap_or(32);
    TypeKind::Enum { name: tag_name(declaration), signed, bits, values }
}

/// The type for passing on variadic arguments. bindgen lays it out correctly, but ports cannot use it.
const VA_LIST: &str = "va_list";

/// The first part of a type that cannot appear in a signature. It looks through pointers, arrays, callbacks
/// and records passed by value.
pub(super) fn unfaithful(ty: &CType, records: &BTreeMap<String, Record>) -> Option<String> {
    match &ty.kind {
        TypeKind::Record(key) => {
            let record = records.get(key)?;
            Some(format!("{} in {}", wrong_layout(record, records)?, record.rust_name))
        }
        TypeKind::Unsupported(what) => Some(what.clone()),
        // A record behind a pointer is not passed itself.
        TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Record(_)) => None,
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => unfaithful(of, records),
        TypeKind::Function { params, ret, .. } => {
            params.iter().chain([&**ret]).find_map(|p| unfaithful(p, records))
        }
        _ => None,
    }
}

/// The first type that a record holds by value and that bindgen lays out wrongly.
pub(super) fn wrong_layout(record: &Record, records: &BTreeMap<String, Record>) -> Option<String> {
    record.fields.iter().find_map(|field| match &field.ty.element().kind {
        TypeKind::Unsupported(what) => (what != VA_LIST).then(|| what.clone()),
        TypeKind::Record(key) => wrong_layout(records.get(key)?, records),
        _ => None,
    })
}

/// The first record passed by value of which `ffi.rs` knows only the size (it is in `opaque`). Its fields,
/// which are unknown, determine the registers in which it is passed.
pub(super) fn opaque_by_value(
    ty: &CType,
    records: &BTreeMap<String, Record>,
    opaque: &BTreeSet<String>,
) -> Option<String> {
    let TypeKind::Record(key) = &ty.kind else { return None };
    let record = records.get(key)?;
    if opaque.contains(&record.rust_name) {
        return Some(record.rust_name.clone());
    }
    record.fields.iter().find_map(|field| opaque_by_value(field.ty.element(), records, opaque))
}

/// Whether bindgen writes a typedef of this type wrongly. Typedefs of records are kept, because the record
/// itself becomes opaque.
pub(super) fn is_wrong_alias(ty: &CType) -> bool {
    ty.parts().any(|part| matches!(&part.kind, TypeKind::Unsupported(what) if what != VA_LIST))
}
