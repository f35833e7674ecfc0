//! Values of C types in words: numbers, lists, objects with fields.

use super::{Form, Said};
use crate::llm::quoted::{one_line, span};
use crate::symbol::{CType, Library, Record, TypeKind};

/// Largest number of enumerators that are named.
const NAMED: usize = 24;

/// A type as C writes it.
pub(super) fn spelling(ty: &CType) -> String {
    span(&ty.spelling)
}

/// The range of an integer type, if it is limited to 64 bits.
pub(super) fn limits(kind: &TypeKind) -> Option<(i128, i128)> {
    match *kind {
        TypeKind::Bool => Some((0, 1)),
        TypeKind::Int { bits, .. } if bits > 64 => None,
        TypeKind::Int { signed: true, bits, .. } => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        TypeKind::Int { bits, .. } => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}

/// Whether an element is a byte, so that a string can express many of them.
pub(super) fn is_byte(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Int { bits: 8, .. } | TypeKind::Void)
}

/// The target of a pointer, or the elements of an array.
pub(super) fn target(ty: &CType) -> &CType {
    match &ty.kind {
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => of,
        _ => ty,
    }
}

/// The JSON form of a type's values.
pub(super) fn value(library: &Library, ty: &CType, said: &mut Said) -> String {
    match &ty.kind {
        TypeKind::Int { bits, .. } if *bits > 64 => "a number, beyond 64 bits its digits as a string".into(),
        TypeKind::Bool | TypeKind::Int { .. } => {
            let (least, most) = limits(&ty.kind).unwrap_or_default();
            format!("a number, {least} to {most}")
        }
        TypeKind::Float { .. } => {
            said.forms.insert(Form::Float);
            "a float".into()
        }
        TypeKind::Enum { values, .. } => {
            let all: Vec<i64> = values.iter().filter_map(|(_, value)| i64::try_from(*value).ok()).collect();
            listed(ty, &all)
        }
        TypeKind::Array { of, len } => {
            let len = len.unwrap_or(0);
            format!("a buffer of exactly {len} {}", elements(library, of, said))
        }
        TypeKind::Record(key) => match library.records.get(key) {
            Some(record) => record_value(library, (key, record), said),
            None => "an object of its fields".into(),
        },
        _ => "a value of its type".into(),
    }
}

/// One of these values, with C's names for them.
pub(super) fn listed(ty: &CType, values: &[i64]) -> String {
    let name = |value: &i64| {
        let TypeKind::Enum { values, .. } = &ty.kind else { return value.to_string() };
        match values.iter().find(|(_, other)| *other == i128::from(*value)) {
            Some((name, _)) => format!("{value} ({name})"),
            None => value.to_string(),
        }
    };
    let names: Vec<String> = values.iter().take(NAMED).map(name).collect();
    let more = if values.len() > NAMED { ", …" } else { "" };
    format!("one of {}{more}", names.join(", "))
}

/// Elements of a buffer.
pub(super) fn elements(library: &Library, of: &CType, said: &mut Said) -> String {
    if is_byte(of) {
        said.forms.insert(Form::Bytes);
        return "bytes".into();
    }
    said.forms.insert(Form::List);
    format!("elements, each {}", value(library, of, said))
}

fn record_value(library: &Library, (key, record): (&str, &Record), said: &mut Said) -> String {
    let name = if record.c_name.is_empty() { &record.rust_name } else { &record.c_name };
    let name = one_line(name);
    if !said.structs.contains_key(key) {
        // Registered before its fields, which may refer to it.
        said.structs.insert(key.to_owned(), String::new());
        let field = |field: &crate::symbol::Field, said: &mut Said| {
            format!("`{}` {}", one_line(&field.name), value(library, &field.ty, said))
        };
        let fields: Vec<String> = record.fields.iter().map(|one| field(one, said)).collect();
        let words =
            format!("A `{name}` is an object; fields that are left out are zero: {}.", fields.join("; "));
        said.structs.insert(key.to_owned(), words);
    }
    format!("a `{name}`")
}
