//! The JSON notation of inputs: values of C types in words, and as examples.

use crate::llm::quoted::{one_line, span};
use crate::symbol::{CType, Field, Library, Record, TypeKind};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of enumerators that are named.
const NAMED: usize = 24;
/// Largest nesting of structs in examples; deeper ones would not help a reader.
const DEPTH: usize = 4;

/// A notation that occurs in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Bytes,
    List,
    Float,
    Room,
}

impl Form {
    fn words(self) -> &'static str {
        match self {
            Self::Bytes => {
                "A buffer of bytes is a string (its UTF-8 bytes), {\"hex\": \"00ff\"}, a list of numbers, or \
                 {\"repeat\": <one of these>, \"times\": 300}."
            }
            Self::List => {
                "A buffer of other elements is a list of them, or {\"repeat\": <list>, \"times\": 300}."
            }
            Self::Float => {
                "A float is a number, {\"float\": \"nan\" | \"inf\" | \"-inf\" | \"-0.0\"}, or {\"bits\": \"0x…\"}, the 64 bits of \
                 a double."
            }
            Self::Room => {
                "Room is the number of elements that there is memory for, or {\"room\": 8, \"fill\": {\"hex\": \"5a5a5a5a\"}} with \
                 the four bytes that stand there, over and over, before the call."
            }
        }
    }
}

/// The notation of a library's values, with the notations used so far, which need one explanation each.
pub struct Notation<'a> {
    library: &'a Library,
    forms: BTreeSet<Form>,
    /// Structs by their keys in the library, with their fields.
    structs: BTreeMap<String, String>,
}

impl<'a> Notation<'a> {
    /// Number of elements of a buffer in an example.
    pub const FEW: usize = 3;

    /// A notation of which nothing was used.
    pub fn of(library: &'a Library) -> Self {
        Self { library, forms: BTreeSet::new(), structs: BTreeMap::new() }
    }

    /// Notes that the notation was used.
    pub fn uses(&mut self, form: Form) {
        self.forms.insert(form);
    }

    /// The explanations of everything that was used.
    pub fn explained(self) -> Vec<String> {
        let forms = self.forms.into_iter().map(|form| form.words().to_owned());
        self.structs.into_values().chain(forms).collect()
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

    /// The JSON form of a type's values.
    pub fn value(&mut self, ty: &CType) -> String {
        match &ty.kind {
            TypeKind::Int { bits, .. } if *bits > 64 => {
                "a number, beyond 64 bits its digits as a string".into()
            }
            TypeKind::Bool | TypeKind::Int { .. } => {
                let (least, most) = Self::limits(&ty.kind).unwrap_or_default();
                format!("a number, {least} to {most}")
            }
            TypeKind::Float { .. } => {
                self.uses(Form::Float);
                "a float".into()
            }
            TypeKind::Enum { values, .. } => {
                let all: Vec<i64> =
                    values.iter().filter_map(|(_, value)| i64::try_from(*value).ok()).collect();
                Self::listed(ty, &all)
            }
            TypeKind::Array { of, len } => {
                let len = len.unwrap_or(0);
                format!("a buffer of exactly {len} {}", self.elements(of))
            }
            TypeKind::Record(key) => match self.library.records.get(key) {
                Some(record) => self.record(key, record),
                None => "an object of its fields".into(),
            },
            _ => "a value of its type".into(),
        }
    }

    /// One of these values, with C's names for them.
    pub fn listed(ty: &CType, values: &[i64]) -> String {
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
    pub(super) fn elements(&mut self, of: &CType) -> String {
        if is_byte(of) {
            self.uses(Form::Bytes);
            return "bytes".into();
        }
        self.uses(Form::List);
        format!("elements, each {}", self.value(of))
    }

    fn record(&mut self, key: &str, record: &Record) -> String {
        let name = if record.c_name.is_empty() { &record.rust_name } else { &record.c_name };
        let name = one_line(name);
        if !self.structs.contains_key(key) {
            // Registered before its fields, which may refer to it.
            self.structs.insert(key.to_owned(), String::new());
            let mut field = |field: &Field| format!("`{}` {}", one_line(&field.name), self.value(&field.ty));
            let fields: Vec<String> = record.fields.iter().map(&mut field).collect();
            let words =
                format!("A `{name}` is an object; fields that are left out are zero: {}.", fields.join("; "));
            self.structs.insert(key.to_owned(), words);
        }
        format!("a `{name}`")
    }

    /// An example of a value.
    pub fn example(&self, ty: &CType) -> Json {
        self.nested(ty, DEPTH)
    }

    /// An example of a buffer.
    pub(super) fn buffer(&self, of: &CType, len: usize) -> Json {
        self.nested_buffer(of, len, DEPTH)
    }

    /// An example of a text.
    pub(super) fn text(len: usize) -> Json {
        json!("abc"[..len.min(Self::FEW)])
    }

    fn nested(&self, ty: &CType, depth: usize) -> Json {
        let Some(depth) = depth.checked_sub(1) else { return json!({}) };
        match &ty.kind {
            TypeKind::Float { .. } => json!(1.5),
            TypeKind::Enum { values, .. } => {
                json!(values.first().and_then(|(_, value)| i64::try_from(*value).ok()).unwrap_or(0))
            }
            TypeKind::Array { of, len } => {
                let len = len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0);
                self.nested_buffer(of, len, depth)
            }
            TypeKind::Record(key) => {
                let fields =
                    self.library.records.get(key).map(|record| &record.fields[..]).unwrap_or_default();
                Json::Object(fields.iter().map(|f| (f.name.clone(), self.nested(&f.ty, depth))).collect())
            }
            _ => json!(1),
        }
    }

    fn nested_buffer(&self, of: &CType, len: usize, depth: usize) -> Json {
        match (is_byte(of), len) {
            (true, 0..=Self::FEW) => Self::text(len),
            (true, _) => json!({"repeat": {"hex": "07"}, "times": len}),
            (false, 0..=Self::FEW) => vec![self.nested(of, depth); len].into(),
            (false, _) => json!({"repeat": [self.nested(of, depth)], "times": len}),
        }
    }
}

/// A type as C writes it.
pub fn spelling(ty: &CType) -> String {
    span(&ty.spelling)
}

/// Whether an element is a byte, so that a string can express many of them.
fn is_byte(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Int { bits: 8, .. } | TypeKind::Void)
}
