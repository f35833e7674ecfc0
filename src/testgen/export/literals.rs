//! Values of C types as Rust expressions.

use super::json::{Prepared, Whole, float, many, shown, within};
use crate::c::bindgen_names::bindgen_name;
use crate::contract::flat::flat;
use crate::fuzz::values::json::Many;
use crate::symbol::{CType, Field, Library, TypeKind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use serde_json::{Value, json};

/// Length from which equal elements are written as a repetition.
const REPEAT_FROM: usize = 9;
/// Number of bytes in one literal.
const PER_LITERAL: usize = 80;

/// Fields by their names in Rust.
pub(super) type Fields<'a> = Vec<(Ident, &'a Field)>;

/// The Rust form of a library's types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Types<'a>(pub &'a Library);

/// Whether elements of this type are bytes; `void` counts as bytes.
pub(super) fn is_byte(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Void | TypeKind::Int { bits: 8, .. })
}

impl<'a> Types<'a> {
    /// The name and the fields of a struct of numbers.
    pub fn fields(self, ty: &CType) -> Result<(Ident, Fields<'a>), String> {
        let TypeKind::Record(key) = &ty.kind else { return Err(no_literal(ty)) };
        let record = self.0.records.get(key).filter(|_| flat(self.0, ty));
        let record = record.ok_or_else(|| no_literal(ty))?;
        let fields =
            record.fields.iter().map(|field| (format_ident!("{}", bindgen_name(&field.name)), field));
        Ok((format_ident!("{}", record.rust_name), fields.collect()))
    }

    /// One value.
    pub fn value(self, ty: &CType, value: &Value) -> Result<TokenStream, String> {
        match &ty.kind {
            TypeKind::Void => whole(value, false, 8),
            TypeKind::Bool => match Whole::read(value)?.digits().as_str() {
                "0" => Ok(quote!(false)),
                "1" => Ok(quote!(true)),
                _ => Err(format!("{} is no bool", shown(value))),
            },
            TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => {
                whole(value, *signed, *bits)
            }
            TypeKind::Float { bits: 32 } => Ok(single(float(value)?)),
            TypeKind::Float { bits: 64 } => Ok(double(float(value)?)),
            TypeKind::Array { of, len: Some(len) } => {
                let elements = self.elements(of, value)?;
                if elements.len() as u64 != *len {
                    return Err(format!("an array of {len} elements has {}", elements.len()));
                }
                Ok(array(&elements))
            }
            TypeKind::Record(_) => self.record(ty, value),
            _ => Err(no_literal(ty)),
        }
    }

    /// A struct; missing fields and padding are zero.
    fn record(self, ty: &CType, value: &Value) -> Result<TokenStream, String> {
        let (name, fields) = self.fields(ty)?;
        let object = value.as_object().ok_or_else(|| format!("{} is not a struct", shown(value)))?;
        if let Some(unknown) = object.keys().find(|key| !fields.iter().any(|(_, field)| field.name == **key))
        {
            return Err(format!("`{unknown}` is not a field of {name}"));
        }
        let told = fields.iter().filter_map(|(ident, field)| Some((ident, field, object.get(&field.name)?)));
        let told = told.map(|(ident, field, value)| {
            let value = self.value(&field.ty, value)?;
            Ok(quote!(#ident: #value))
        });
        let told = told.collect::<Result<Vec<_>, String>>()?;
        Ok(quote!(ffi::#name { #(#told,)* ..core::mem::zeroed() }))
    }

    /// The elements of a buffer, one by one.
    pub fn elements(self, of: &CType, value: &Value) -> Result<Vec<TokenStream>, String> {
        let bytes = match many(value)? {
            Many::Elements(elements) => return elements.iter().map(|value| self.value(of, value)).collect(),
            Many::Bytes(bytes) => bytes,
        };
        let (signed, bits) = match &of.kind {
            TypeKind::Void => (false, 8),
            TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => (*signed, *bits),
            _ => return Err(format!("{} are bytes, but the elements are not", shown(value))),
        };
        let width = usize::from(bits / 8).max(1);
        if bytes.len() % width != 0 {
            return Err(format!("{} bytes cannot be divided into elements of {width}", bytes.len()));
        }
        let element = |bytes: &[u8]| number(Whole::from_memory(bytes, signed));
        Ok(bytes.chunks(width).map(element).collect())
    }

    /// The JSON value of an output before the call, with this many elements.
    pub fn filled(self, of: &CType, length: usize, fill: [u8; 4]) -> Result<Value, String> {
        within(length)?;
        let mut bytes = fill.into_iter().cycle();
        (0..length).map(|_| self.one_filled(of, &mut bytes, false)).collect()
    }

    /// A value from the next bytes; padding consumes none. An enum field becomes one of its values.
    fn one_filled(
        self,
        of: &CType,
        bytes: &mut dyn Iterator<Item = u8>,
        is_field: bool,
    ) -> Result<Value, String> {
        let mut take = |bits: u16| (&mut *bytes).take(usize::from(bits / 8).max(1)).collect::<Vec<u8>>();
        Ok(match &of.kind {
            TypeKind::Void => json!(take(8)[0]),
            TypeKind::Bool => json!(take(8)[0] & 1),
            TypeKind::Enum { values, .. } if is_field && !values.is_empty() => {
                let chosen = Whole::from_memory(&take(16), false).magnitude;
                let (_, value) = &values[usize::try_from(chosen).unwrap_or(0) % values.len()];
                json!(value.to_string())
            }
            TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => {
                json!(Whole::from_memory(&take(*bits), *signed).digits())
            }
            TypeKind::Float { bits } => json!({ "bits": format!("{:#x}", widened(&take(*bits))) }),
            TypeKind::Array { of, len: Some(len) } => {
                (0..*len).map(|_| self.one_filled(of, bytes, is_field)).collect::<Result<Value, _>>()?
            }
            TypeKind::Record(_) => {
                let (_, fields) = self.fields(of)?;
                let one = |(_, field): &(Ident, &Field)| {
                    Ok((field.name.clone(), self.one_filled(&field.ty, bytes, true)?))
                };
                Value::Object(fields.iter().map(one).collect::<Result<_, String>>()?)
            }
            _ => return Err(no_literal(of)),
        })
    }

    /// The content of an output before the call: the given content, or this many elements of a pattern.
    pub fn prepared(self, of: &CType, told: Option<&Value>, room: Option<usize>) -> Result<Value, String> {
        let prepared = match told {
            None => Prepared::PLAIN,
            Some(told) => match Prepared::read(told)? {
                None => return Ok(told.clone()),
                Some(prepared) => prepared,
            },
        };
        let room = prepared.room.or(room).ok_or("the size of the room is not given")?;
        self.filled(of, room, prepared.fill)
    }
}

/// A buffer of bytes; numbers in it may have either sign, like C's `char`.
pub(super) fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    let elements = match many(value)? {
        Many::Bytes(bytes) => return Ok(bytes),
        Many::Elements(elements) => elements,
    };
    let one = |value: &Value| {
        let whole = Whole::read(value)?;
        let fits = whole.fits(true, 8) || whole.fits(false, 8);
        fits.then(|| whole.low_byte()).ok_or_else(|| format!("{} is no byte", shown(value)))
    };
    elements.iter().map(one).collect()
}

/// Zero in JSON, for missing parts of a struct.
pub(super) fn zero(ty: &CType) -> Value {
    match &ty.kind {
        TypeKind::Array { of, len: Some(len) } => (0..*len).map(|_| zero(of)).collect(),
        TypeKind::Record(_) => json!({}),
        _ => json!(0),
    }
}

/// The bits of a float, as those of a double.
fn widened(bytes: &[u8]) -> u64 {
    let bits = Whole::from_memory(bytes, false).magnitude;
    match (u32::try_from(bits), bytes.len()) {
        (Ok(bits), 4) => of_single(f32::from_bits(bits)),
        _ => u64::try_from(bits).unwrap_or(0),
    }
}

/// The fraction bits of a single.
const FRACTION: u32 = 0x007f_ffff;

/// The bits of a single's value as a double; a numeric conversion could change a NaN.
fn of_single(value: f32) -> u64 {
    let bits = value.to_bits();
    match value.is_nan() {
        true => u64::from(bits >> 31) << 63 | 0x7ff << 52 | u64::from(bits & FRACTION) << 29,
        false => f64::from(value).to_bits(),
    }
}

/// The inverse; other doubles give the nearest single.
fn narrowed(value: f64) -> f32 {
    let [low, high] = [value.to_bits() >> 29, value.to_bits() >> 32].map(low_half);
    match (value.is_nan(), low & FRACTION) {
        (false, _) => nearest(value),
        // Without a fraction it would be infinite.
        (true, 0) => f32::from_bits(high & 0x8000_0000 | 0x7fc0_0000),
        (true, fraction) => f32::from_bits(high & 0x8000_0000 | 0x7f80_0000 | fraction),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
fn low_half(bits: u64) -> u32 {
    bits as u32
}

#[expect(clippy::cast_possible_truncation, reason = "a float of C that JSON has as a double")]
fn nearest(value: f64) -> f32 {
    value as f32
}

fn whole(value: &Value, signed: bool, bits: u16) -> Result<TokenStream, String> {
    let whole = Whole::read(value)?;
    if !whole.fits(signed, bits) {
        let sign = if signed { "signed" } else { "unsigned" };
        return Err(format!("{} is not a number of {bits} bits ({sign})", shown(value)));
    }
    Ok(number(whole))
}

/// A number without a suffix.
pub(super) fn number(whole: Whole) -> TokenStream {
    let literal = parsed(&whole.digits());
    quote!(#literal)
}

fn single(value: f64) -> TokenStream {
    let value = narrowed(value);
    let is_usual = value.to_bits() == f32::NAN.to_bits();
    float_literal(
        format_ident!("f32"),
        value.into(),
        &format!("{value:?}"),
        (value.to_bits().into(), is_usual),
    )
}

fn double(value: f64) -> TokenStream {
    let is_usual = value.to_bits() == f64::NAN.to_bits();
    float_literal(format_ident!("f64"), value, &format!("{value:?}"), (value.to_bits(), is_usual))
}

/// A float of this type; `is_usual` says whether it is the usual NaN.
fn float_literal(ty: Ident, value: f64, text: &str, (bits, is_usual): (u64, bool)) -> TokenStream {
    match value {
        _ if value.is_finite() => parsed(text).into_token_stream(),
        _ if is_usual => quote!(#ty::NAN),
        _ if value.is_nan() => {
            let bits = parsed(&format!("{bits:#x}"));
            quote!(#ty::from_bits(#bits))
        }
        _ if value > 0.0 => quote!(#ty::INFINITY),
        _ => quote!(#ty::NEG_INFINITY),
    }
}

fn parsed(text: &str) -> Literal {
    text.parse().expect("a number's text is a literal")
}

/// An array of these elements.
pub(super) fn array(elements: &[TokenStream]) -> TokenStream {
    let first = elements.first().map(ToString::to_string);
    let is_repeated = || elements.iter().all(|element| Some(element.to_string()) == first);
    match elements {
        [element, ..] if elements.len() >= REPEAT_FROM && is_repeated() => {
            let length = Literal::usize_unsuffixed(elements.len());
            quote!([#element; #length])
        }
        _ => quote!([#(#elements),*]),
    }
}

/// An array of bytes.
pub(super) fn byte_array(bytes: &[u8]) -> TokenStream {
    match bytes {
        [first, ..] if bytes.len() >= REPEAT_FROM && bytes.iter().all(|byte| byte == first) => {
            let (value, length) = (parsed(&format!("{first:#04x}")), Literal::usize_unsuffixed(bytes.len()));
            quote!([#value; #length])
        }
        _ if bytes.len() > PER_LITERAL => {
            let pieces = bytes.chunks(PER_LITERAL).map(Literal::byte_string);
            quote!(joined(&[#(#pieces),*]))
        }
        _ => {
            let literal = Literal::byte_string(bytes);
            quote!(*#literal)
        }
    }
}

/// A text with its NUL.
pub(super) fn text(bytes: &[u8]) -> Result<TokenStream, String> {
    if bytes.contains(&0) {
        return Err("a string contains a NUL".to_owned());
    }
    // ASCII only, because other letters could change the direction of their line.
    let literal = format!("c\"{}\"", bytes.escape_ascii());
    literal.parse().map_err(|_| format!("{literal} is not a literal"))
}

fn no_literal(ty: &CType) -> String {
    format!("no literal has the type `{}`", ty.spelling)
}
