//! Arguments in the C text of a driver that is made from contracts. The functions `driver_…` are in
//! `templates/driver_of_contracts.c`.

use super::{Buffer, Direction, Elements, ParameterContext, buffers_of, elements_of, most};
use crate::symbol::{CType, TypeKind};

/// How a call in a driver gets one argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InDriver {
    /// Functions that it needs.
    pub functions: Vec<String>,
    /// Statements before the call.
    pub before: Vec<String>,
    pub argument: String,
}

impl InDriver {
    /// A variable that is named after the parameter.
    pub(super) fn variable(place: &ParameterContext, declaration: String) -> Self {
        Self { before: vec![declaration], argument: variable(&place.param.name), ..Self::default() }
    }

    /// Memory of so many bytes, which the call only writes, or which the input fills.
    pub(super) fn memory(place: &ParameterContext, direction: Direction, bytes: &str) -> Self {
        let make = match direction {
            Direction::Out => "driver_room",
            Direction::In | Direction::InOut => "driver_block",
        };
        Self::pointer(place, &format!("{make}({bytes})"))
    }

    /// The same for a buffer with a length: bytes may be what another call has made.
    pub(super) fn buffer(place: &ParameterContext, direction: Direction, bytes: &str) -> Self {
        let is_bytes = matches!(place.target().kind, TypeKind::Int { bits: 8, .. } | TypeKind::Void);
        match direction {
            Direction::In | Direction::InOut if is_bytes => {
                Self::pointer(place, &format!("driver_data({bytes})"))
            }
            _ => Self::memory(place, direction, bytes),
        }
    }

    /// A pointer. If the role allows null, some inputs make it null.
    pub(super) fn pointer(place: &ParameterContext, value: &str) -> Self {
        let value = match place.param.role.is_nullable() {
            true => format!("driver_is_null() ? NULL : {value}"),
            false => value.to_owned(),
        };
        Self::variable(place, format!("void *{} = {value};", variable(&place.param.name)))
    }
}

/// The size of what a pointer leads to, as C text.
pub(super) fn size_behind(place: &ParameterContext) -> String {
    match place.target().kind {
        TypeKind::Void => "1".to_owned(),
        _ => format!("sizeof({})", scalar(place.target())),
    }
}

/// The type of a number that is passed by value. A typedef may be in a C file that a driver does not see, so integers
/// and floats get names that every C file knows.
pub(super) fn scalar(ty: &CType) -> String {
    let spelled = variable_type(ty);
    let is_known = spelled.split(' ').all(|word| KNOWN.contains(&word));
    match ty.kind {
        TypeKind::Int { signed, bits: bits @ (8 | 16 | 32 | 64), .. } if !is_known => {
            format!("{}int{bits}_t", if signed { "" } else { "u" })
        }
        TypeKind::Float { bits: 32 } => "float".to_owned(),
        TypeKind::Float { bits: 64 } => "double".to_owned(),
        _ => spelled.to_owned(),
    }
}

/// Words in the names of numbers that every C file knows.
const KNOWN: [&str; 7] = ["signed", "unsigned", "char", "short", "int", "long", "size_t"];

/// The type of a variable that gets its value later, or through which memory is written.
pub fn variable_type(ty: &CType) -> &str {
    ty.spelling.strip_prefix("const ").unwrap_or(&ty.spelling)
}

/// The variable of a parameter. A parameter's own name may be that of its type, or of the function.
pub fn variable(name: &str) -> String {
    format!("arg_{name}")
}

/// The number that the parameter counts: elements of buffers, or the size of one.
pub(super) fn count(place: &ParameterContext) -> String {
    let name = &place.param.name;
    let elements = || elements_of(place.params, name).filter_map(|of| of.role.elements());
    if elements().any(|of: &Elements| of.size == *name) {
        return "1 + driver_count(15)".to_owned();
    }
    let buffers = buffers_of(place.params, name).filter_map(|of| of.role.buffer());
    let largest = buffers.map(|of| of.max).chain(elements().map(|of| of.max)).min().unwrap_or(0);
    let mut counted = buffers_of(place.params, name);
    let make = if counted.any(|of| of.role.buffer().is_some_and(Buffer::is_input)) {
        "driver_length"
    } else {
        "driver_count"
    };
    format!("{make}({})", largest.min(most(Some(place.ty))))
}

/// Numbers, as the initialiser of an array.
pub(super) fn numbers(values: &[i64]) -> String {
    let text: Vec<String> = values.iter().map(|value| number(*value)).collect();
    format!("(const long long[]){{{}}}, {}", text.join(", "), values.len())
}

/// A number that C reads as it is; there is no literal for the smallest one.
pub(super) fn number(value: i64) -> String {
    match value {
        i64::MIN => "(-9223372036854775807LL - 1)".to_owned(),
        _ => format!("{value}LL"),
    }
}

/// The variable with the number that the parameter `name` counts.
pub(super) fn length(place: &ParameterContext, name: &str) -> Option<String> {
    place.params.iter().find(|param| param.name == name && param.role.length().is_some())?;
    Some(format!("{}_count", variable(name)))
}

/// Texts, as the initialiser of an array.
pub(super) fn texts(texts: &[String]) -> String {
    if texts.is_empty() {
        return "NULL, 0".to_owned();
    }
    let quoted = texts.iter().map(|text| format!("\"{}\"", text.bytes().map(character).collect::<String>()));
    format!("(const char *const[]){{{}}}, {}", quoted.collect::<Vec<_>>().join(", "), texts.len())
}

/// A byte in a C string.
fn character(byte: u8) -> String {
    match byte {
        b'"' | b'\\' | b'?' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}
