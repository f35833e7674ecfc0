//! Parameters of a contract in words: the JSON that is expected for each.

use super::values::{self, spelling, target};
use super::{Form, Said};
use crate::contract::types::{Contract, Direction, Life, Parameter, Role};
use crate::symbol::{CType, Function, Library, TypeKind};

/// Number of bytes of an element whose size is an argument.
const ELEMENT: usize = 16;

/// A line for each parameter.
pub(super) fn lines(
    library: &Library,
    (function, contract): (&Function, &Contract),
    said: &mut Said,
) -> Vec<String> {
    let typed = contract.params.iter().zip(&function.params);
    typed
        .map(|(param, c)| {
            let words = expected(library, (contract, param), &c.ty, said);
            format!("`{}` ({}): {words}", param.name, spelling(&c.ty))
        })
        .collect()
}

fn expected(
    library: &Library,
    (contract, param): (&Contract, &Parameter),
    ty: &CType,
    said: &mut Said,
) -> String {
    let of = target(ty);
    let text = match &param.role {
        Role::Value { min, max } => number(library, ty, (*min, *max), said),
        Role::OneOf { values } => values::listed(ty, values),
        Role::Buffer { direction: Direction::Out, length, max, .. } => {
            said.forms.insert(Form::Room);
            format!("room for 0 to {max} elements, which C writes{}", shared(contract, length))
        }
        Role::Buffer { direction, length, max, .. } => {
            let elements = values::elements(library, of, said);
            format!("a buffer of 0 to {max} {elements}, which C {}{}", verb(*direction), shared(contract, length))
        }
        Role::Length => length(contract, param, ty),
        Role::CString { max, .. } => {
            said.forms.insert(Form::Bytes);
            format!("a text: a buffer of 0 to {max} bytes, none of them 0; C gets a 0 behind it")
        }
        Role::Pointer { direction, .. } => {
            format!("what it points to, which C {}: {}", verb(*direction), values::value(library, of, said))
        }
        Role::FixedArray { direction, len } => {
            let elements = values::elements(library, of, said);
            format!("a buffer of exactly {len} {elements}, which C {}", verb(*direction))
        }
        Role::Room { direction: Direction::Out, .. } => {
            "memory that C writes: {\"fill\": {\"hex\": \"5a5a5a5a\"}}, the four bytes that stand there, over and over, before \
             the call"
                .into()
        }
        Role::Room { len, direction, .. } => {
            let elements = values::elements(library, of, said);
            format!("a buffer of at most {len} {elements}, which C {}; the rest of it is zero", verb(*direction))
        }
        Role::Elements { max, direction, .. } => {
            said.forms.insert(Form::Bytes);
            format!(
                "{{\"size\": s, \"bytes\": <buffer>}}, elements of s bytes (1 to {ELEMENT}), {max} at most, which C {}",
                verb(*direction)
            )
        }
        Role::Callback { order: true, .. } => {
            "a function that orders what two pointers point to: the number of an order, 0 to 7".into()
        }
        Role::Callback { .. } => {
            said.forms.insert(Form::Bytes);
            "a function that is called back: {\"answers\": <buffer of bytes>}, from which its results are taken".into()
        }
        Role::UserData => "is only handed on; leave it out".into(),
        Role::Given { max, .. } => {
            said.forms.insert(Form::Bytes);
            format!("an allocated block: a buffer of 0 to {max} bytes")
        }
        Role::Lent { pointers, numbers, .. } => {
            said.forms.insert(Form::Bytes);
            lent(pointers, numbers)
        }
        Role::Handle { life, through, .. } => handle(*life, through.as_deref()),
    };
    if param.role.is_nullable() { format!("{text}; or null") } else { text }
}

/// A number within its type and the contract.
fn number(library: &Library, ty: &CType, (min, max): (Option<i64>, Option<i64>), said: &mut Said) -> String {
    match values::limits(&ty.kind) {
        Some((least, most)) if min.is_some() || max.is_some() => {
            let least = min.map_or(least, |min| least.max(i128::from(min)));
            let most = max.map_or(most, |max| most.min(i128::from(max)));
            format!("a number, {least} to {most}")
        }
        _ => values::value(library, ty, said),
    }
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "reads",
        Direction::Out => "writes",
        Direction::InOut => "reads and writes",
    }
}

/// A remark on buffers that share a length.
fn shared(contract: &Contract, length: &str) -> String {
    match contract.buffers_of(length).count() {
        0 | 1 => format!("; its length is `{length}`"),
        _ => format!("; as long as all buffers with the length `{length}`"),
    }
}

fn length(contract: &Contract, param: &Parameter, ty: &CType) -> String {
    let names = |params: Vec<&Parameter>| {
        params.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(" and ")
    };
    let measured: Vec<&Parameter> = contract.elements_of(&param.name).collect();
    if !measured.is_empty() {
        return format!("follows from {}; leave it out", names(measured));
    }
    let of: Vec<&Parameter> = contract.buffers_of(&param.name).collect();
    let mut text = format!("the length of {}; leave it out", names(of.clone()));
    if of.iter().any(|p| p.role.is_nullable()) {
        text += ", but give the number where all of them are null";
    }
    let behind = target(ty);
    if matches!(behind.kind, TypeKind::Int { signed: true, .. }) && std::ptr::eq(behind, ty) {
        text += "; or a number below zero, -1 minus the length of the buffers";
    }
    text
}

fn lent(pointers: &[(String, Vec<String>)], numbers: &[String]) -> String {
    let pointers = pointers.iter().map(|(name, _)| format!("`{name}` a buffer of bytes or null"));
    let numbers = numbers.iter().map(|name| format!("`{name}` a number of 32 bits"));
    let fields: Vec<String> = pointers.chain(numbers).collect();
    format!("an object, what is left out is null or 0: {}", fields.join("; "))
}

fn handle(life: Life, through: Option<&str>) -> String {
    let what = match life {
        Life::Makes => "the place of a handle that is made here",
        Life::Uses => "a handle that is there",
        Life::Ends => "a handle, which ends here",
    };
    let through =
        through.map_or_else(String::new, |field| format!(", by what its field `{field}` points to"));
    format!("{what}{through}: 0 or 1; left out, 0")
}
