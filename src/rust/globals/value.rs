//! Converts the bytes of a C variable, along its type, to Rust types and values.

use super::records_with_text::is_text;
use super::{function_pointers, records_with_text};
use crate::c::bindgen_names::bindgen_name;
use crate::c::data::{Data, Target};
use crate::symbol::{CType, Record, TypeKind};
use std::collections::BTreeMap;

/// A Rust constant expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A number, a boolean or an optional string.
    Plain(String),
    Array(Vec<Value>),
    /// The same element, this many times.
    Repeat(Box<Value>, u64),
    /// A struct: its path and its fields.
    Record(String, Vec<(String, Value)>),
}

/// Length from which an array of equal elements is written as a repetition.
const REPEAT_FROM: usize = 9;

/// Reads one variable.
pub(super) struct Reader<'a> {
    pub records: &'a BTreeMap<String, Record>,
    pub data: &'a Data,
    /// Whether C may change the variable: then its pointers are pointers in Rust, too, and no strings.
    pub may_change: bool,
}

/// Size and alignment, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    size: u64,
    align: u64,
}

impl Reader<'_> {
    /// The Rust type as bindgen has it, but with strings for `const char *`.
    pub(super) fn rust_type(&self, ty: &CType) -> Result<String, String> {
        if let Some(pointer) = self.function_pointer(ty) {
            return pointer;
        }
        Ok(match &ty.kind {
            TypeKind::Bool => "bool".into(),
            TypeKind::Int { bits: 8, plain_char: true, .. } => "core::ffi::c_char".into(),
            TypeKind::Int { signed, bits, .. } => integer(&ty.spelling, *signed, *bits)?,
            TypeKind::Enum { signed, bits, .. } => integer("", *signed, *bits)?,
            TypeKind::Float { bits: bits @ (32 | 64) } => format!("f{bits}"),
            TypeKind::Array { of, len } => {
                let len = self.length(of, *len)?;
                format!("[{}; {len}]", self.rust_type(of)?)
            }
            TypeKind::Record(key) => self.path(self.record(key)?),
            TypeKind::Pointer(_) if self.may_change => {
                let number = |number: &CType| self.rust_type(number).ok();
                let pointer = function_pointers::passed(self.records, &number, ty);
                pointer.ok_or_else(|| format!("a pointer to an unknown type ({})", ty.spelling))?
            }
            TypeKind::Pointer(_) if is_text(ty) => "Option<&'static core::ffi::CStr>".into(),
            _ => return Err(unsupported(ty)),
        })
    }

    /// The type of a pointer to a function; `None` for another type.
    fn function_pointer(&self, ty: &CType) -> Option<Result<String, String>> {
        function_pointers::rust_type(self.records, &|number| self.rust_type(number).ok(), ty)
    }

    /// The path of a struct.
    fn path(&self, record: &Record) -> String {
        match self.may_change {
            true => format!("crate::ffi::{}", record.rust_name),
            false => records_with_text::path(self.records, record),
        }
    }

    /// The value, which must use all bytes.
    pub(super) fn value(&self, ty: &CType) -> Result<Value, String> {
        let ty = &match &ty.kind {
            TypeKind::Array { of, len } => CType {
                kind: TypeKind::Array { of: of.clone(), len: Some(self.length(of, *len)?) },
                ..ty.clone()
            },
            _ => ty.clone(),
        };
        let (size, bytes) = (self.layout(ty)?.size, self.data.bytes.len());
        if u64::try_from(bytes) != Ok(size) {
            return Err(format!("its type has {size} bytes and its value {bytes}"));
        }
        self.value_at(ty, 0)
    }

    /// The content of a `char` array as a Rust literal, if it is text.
    pub(super) fn shown_text(&self, ty: &CType) -> Option<String> {
        let TypeKind::Array { of, .. } = &ty.kind else { return None };
        if !of.is_char() {
            return None;
        }
        let text = self.data.bytes.strip_suffix(&[0]).unwrap_or(&self.data.bytes);
        let is_text = text.iter().all(|b| b.is_ascii_graphic() || *b == b' ') && !text.contains(&b'`');
        (is_text && !text.is_empty()).then(|| format!("`\"{}\"`", text.escape_ascii()))
    }

    /// The length of an array; that of the outermost array may follow from the bytes alone.
    fn length(&self, of: &CType, len: Option<u64>) -> Result<u64, String> {
        if let Some(len) = len {
            return Ok(len);
        }
        let size = self.layout(of)?.size;
        let bytes = self.data.bytes.len() as u64;
        let len = bytes.checked_div(size).filter(|len| len * size == bytes);
        len.ok_or_else(|| "an array in it has no known extent".into())
    }

    /// A struct that can be a Rust constant.
    pub(super) fn record(&self, key: &str) -> Result<&Record, String> {
        let record = self.records.get(key).ok_or("a struct in it is not known")?;
        let name = &record.rust_name;
        let problem = if record.is_union {
            "is a union"
        } else if !record.complete {
            "is incomplete"
        } else if record.opaque {
            "is known to Rust by its size only"
        } else if record.fields.is_empty() {
            "has no fields"
        } else if record.fields.iter().any(|f| f.bits.is_some()) {
            "has bit-fields"
        } else if record.fields.iter().any(|f| f.name.is_empty()) {
            "has an anonymous part"
        } else if record.fields.iter().any(|f| matches!(f.ty.kind, TypeKind::Array { len: None, .. })) {
            "ends in a flexible array"
        } else if syn::parse_str::<syn::Ident>(name).is_err() {
            "has no name in Rust"
        } else {
            return Ok(record);
        };
        Err(if name.is_empty() { format!("a struct {problem}") } else { format!("{name} {problem}") })
    }

    fn layout(&self, ty: &CType) -> Result<Layout, String> {
        let scalar = |bits: u16| Ok(Layout { size: u64::from(bits / 8), align: u64::from(bits / 8) });
        match &ty.kind {
            TypeKind::Bool => scalar(8),
            TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } | TypeKind::Float { bits }
                if matches!(bits, 8 | 16 | 32 | 64) =>
            {
                scalar(*bits)
            }
            TypeKind::Pointer(to)
                if self.may_change || is_text(ty) || matches!(to.kind, TypeKind::Function { .. }) =>
            {
                scalar(64)
            }
            TypeKind::Array { of, len: Some(len) } => {
                let element = self.layout(of)?;
                let size = element.size.checked_mul(*len).ok_or("an array in it is too large")?;
                Ok(Layout { size, ..element })
            }
            TypeKind::Record(key) => {
                let record = self.record(key)?;
                Ok(self.offsets(record)?.1)
            }
            _ => Err(unsupported(ty)),
        }
    }

    /// The offsets of the fields of a struct without attributes, checked against the size that clang gives.
    fn offsets(&self, record: &Record) -> Result<(Vec<u64>, Layout), String> {
        let mut offsets = Vec::new();
        let (mut end, mut align) = (0_u64, 1);
        for field in &record.fields {
            let is_known =
                self.may_change || is_text(&field.ty) || self.function_pointer(&field.ty).is_some();
            if matches!(field.ty.kind, TypeKind::Pointer(_)) && !is_known {
                return Err(format!("{} ({}.{})", unsupported(&field.ty), record.rust_name, field.name));
            }
            let layout = self.layout(&field.ty)?;
            let start = end.next_multiple_of(layout.align.max(1));
            offsets.push(start);
            end = start + layout.size;
            align = layout.align.max(align);
        }
        let size = end.next_multiple_of(align);
        if size != record.size {
            let name = &record.rust_name;
            return Err(format!(
                "{name} has {} bytes where its fields make {size}: packed or aligned",
                record.size
            ));
        }
        Ok((offsets, Layout { size, align }))
    }

    fn value_at(&self, ty: &CType, at: u64) -> Result<Value, String> {
        let plain = |text: String| Ok(Value::Plain(text));
        match &ty.kind {
            TypeKind::Bool => match self.number(at, 8)? {
                0 => plain("false".into()),
                1 => plain("true".into()),
                other => Err(format!("a bool in it is {other}")),
            },
            TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => {
                let number = self.number(at, *bits)?;
                plain(if *signed { signed_text(number, *bits) } else { hex(number, *bits) })
            }
            TypeKind::Float { bits: 32 } => {
                let bits = u32::try_from(self.number(at, 32)?).expect("32 bits were read");
                let number = f32::from_bits(bits);
                plain(if number.is_finite() {
                    format!("{number:?}")
                } else {
                    format!("f32::from_bits({bits:#x})")
                })
            }
            TypeKind::Float { .. } => {
                let bits = self.number(at, 64)?;
                let number = f64::from_bits(bits);
                plain(if number.is_finite() {
                    format!("{number:?}")
                } else {
                    format!("f64::from_bits({bits:#x})")
                })
            }
            TypeKind::Pointer(_) => match self.function_pointer(ty) {
                Some(pointer) => {
                    let target = self.data.targets.get(&at);
                    let number = if target.is_some() { 0 } else { self.number(at, 64)? };
                    function_pointers::value(&pointer?, target, number).map(Value::Plain)
                }
                None if self.may_change => self.pointer_at(ty, at).map(Value::Plain),
                None => self.text_at(at).map(Value::Plain),
            },
            TypeKind::Array { of, len } => self.array_at(of, len.unwrap_or(0), at),
            TypeKind::Record(key) => self.record_at(self.record(key)?, at),
            _ => Err(unsupported(ty)),
        }
    }

    fn array_at(&self, of: &CType, len: u64, at: u64) -> Result<Value, String> {
        let size = self.layout(of)?.size;
        let elements: Vec<Value> =
            (0..len).map(|index| self.value_at(of, at + index * size)).collect::<Result<_, _>>()?;
        Ok(match elements.first() {
            Some(first) if elements.len() >= REPEAT_FROM && elements.iter().all(|e| e == first) => {
                Value::Repeat(Box::new(first.clone()), len)
            }
            _ => Value::Array(elements),
        })
    }

    fn record_at(&self, record: &Record, at: u64) -> Result<Value, String> {
        let (offsets, whole) = self.offsets(record)?;
        let mut fields = Vec::new();
        let mut end = 0;
        for (field, offset) in record.fields.iter().zip(offsets) {
            self.check_padding(record, at + end, at + offset)?;
            fields.push((bindgen_name(&field.name), self.value_at(&field.ty, at + offset)?));
            end = offset + self.layout(&field.ty)?.size;
        }
        self.check_padding(record, at + end, at + whole.size)?;
        Ok(Value::Record(self.path(record), fields))
    }

    /// Checks that padding is zero, as in all statics; other bytes show that a field has another offset than
    /// computed.
    fn check_padding(&self, record: &Record, start: u64, end: u64) -> Result<(), String> {
        if self.slice(start, end - start)?.iter().all(|b| *b == 0) {
            return Ok(());
        }
        Err(format!("the fields of {} are not where the C rules put them", record.rust_name))
    }

    fn text_at(&self, at: u64) -> Result<String, String> {
        match self.data.targets.get(&at) {
            None if self.number(at, 64)? == 0 => Ok("None".into()),
            None => Err("a pointer in it is a plain number".into()),
            Some(Target::Text(text)) => Ok(format!("Some(c\"{}\")", text.escape_ascii())),
            Some(Target::Symbol { name, .. }) => {
                Err(format!("a pointer in it points into {name}, which is not a constant string"))
            }
            Some(Target::Unnamed(place)) => {
                Err(format!("a pointer in it points to {place}, which is not a constant string"))
            }
        }
    }

    /// A pointer of a variable.
    fn pointer_at(&self, ty: &CType, at: u64) -> Result<String, String> {
        let is_const = matches!(&ty.kind, TypeKind::Pointer(to) if to.is_const);
        match self.data.targets.get(&at) {
            None if self.number(at, 64)? == 0 => {
                Ok(format!("core::ptr::{}()", if is_const { "null" } else { "null_mut" }))
            }
            None => Err("a pointer in it is a plain number".into()),
            Some(Target::Text(text)) if is_character(ty) => {
                let end = if is_const { "" } else { ".cast_mut()" };
                Ok(format!("c\"{}\".as_ptr(){end}", text.escape_ascii()))
            }
            Some(Target::Text(_)) => Err(format!("a pointer in it leads to a text ({})", ty.spelling)),
            Some(Target::Symbol { name, .. }) => Err(format!("a pointer in it points into {name}")),
            Some(Target::Unnamed(place)) => Err(format!("a pointer in it points to {place}")),
        }
    }

    /// A number that is not a pointer.
    fn number(&self, at: u64, bits: u16) -> Result<u64, String> {
        let size = u64::from(bits / 8);
        if bits != 64 || !self.data.targets.contains_key(&at) {
            let bytes = self.slice(at, size)?;
            return Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
        Err("an integer in it holds an address".into())
    }

    fn slice(&self, at: u64, len: u64) -> Result<&[u8], String> {
        let range = usize::try_from(at).ok().zip(usize::try_from(len).ok());
        let bytes = range.and_then(|(at, len)| self.data.bytes.get(at..)?.get(..len));
        bytes.ok_or_else(|| "its value is shorter than its type".into())
    }
}

/// The integer type of this width. Bindgen maps a few typedefs to the pointer-sized types.
fn integer(spelling: &str, signed: bool, bits: u16) -> Result<String, String> {
    let name = spelling.split(' ').rfind(|word| !matches!(*word, "const" | "volatile"));
    match (name, bits) {
        (Some("size_t" | "uintptr_t"), 64) => Ok("usize".into()),
        (Some("ssize_t" | "intptr_t" | "ptrdiff_t"), 64) => Ok("isize".into()),
        (_, 8 | 16 | 32 | 64) => Ok(format!("{}{bits}", if signed { 'i' } else { 'u' })),
        _ => Err(format!("an integer of {bits} bits")),
    }
}

/// Whether it is a pointer to `char`.
fn is_character(ty: &CType) -> bool {
    let TypeKind::Pointer(to) = &ty.kind else { return false };
    to.is_char()
}

fn signed_text(number: u64, bits: u16) -> String {
    let unused = 64 - u32::from(bits);
    (number.cast_signed() << unused >> unused).to_string()
}

/// A hexadecimal number with all digits of its width, so that the columns of a table align.
fn hex(number: u64, bits: u16) -> String {
    format!("{number:#0width$x}", width = usize::from(bits / 4) + 2)
}

fn unsupported(ty: &CType) -> String {
    match &ty.kind {
        TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Function { .. }) => {
            format!("a function pointer ({})", ty.spelling)
        }
        TypeKind::Pointer(_) => format!("a pointer that is not a constant string ({})", ty.spelling),
        TypeKind::Array { .. } => "an array in it has no known extent".into(),
        TypeKind::Unsupported(what) => what.clone(),
        _ => format!("no Rust static has the type {}", ty.spelling),
    }
}
