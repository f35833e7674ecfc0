//! A contract in words: what inputs there are and what is compared.
//!
//! Only what the author of a port must know; which inputs are likely or tried first is not told.

use crate::contract::types::{Contract, Direction, Parameter, Returns, Role, Signature};
use crate::symbol::{Function, TypeKind};

/// One sentence for each parameter, the result, `errno` and each precondition.
pub fn describe(contract: &Contract, function: &Function) -> Vec<String> {
    let mut lines: Vec<String> =
        contract.params.iter().map(|param| parameter(contract, function, param)).collect();
    lines.push(match contract.returns {
        Returns::Nothing => "Nothing is returned.".into(),
        Returns::Value => "The return value is compared.".into(),
        Returns::StaticString if contract.signature == Signature::Safe => {
            "The returned text is compared; C's null pointer is `None`.".into()
        }
        Returns::StaticString => "The text that the returned pointer points to is compared, and whether it is null.".into(),
    });
    if contract.errno {
        lines.push(
            "`errno` is 0 before the call and compared after it: where C sets it, write \
             `unsafe { *libc::__errno_location() = libc::E… }`."
                .into(),
        );
    }
    lines.extend(contract.require.iter().map(|rule| format!("Only inputs with `{rule}` occur.")));
    lines
}

fn parameter(contract: &Contract, function: &Function, param: &Parameter) -> String {
    let safe = contract.signature == Signature::Safe;
    let text = match &param.role {
        Role::Value { min, max } => value(*min, *max),
        Role::OneOf { values } => {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            format!("one of {}", values.join(", "))
        }
        Role::Buffer { direction, length, max, nullable } => {
            let kind = content(*direction, "buffer");
            let shared = contract.buffers_of(length).count() > 1;
            let length = match (safe, shared) {
                (false, _) => format!("its length is `{length}`"),
                (true, false) => format!("the slice's length is C's `{length}`"),
                (true, true) => format!("the slice's length is C's `{length}`, the same for all that have it"),
            };
            format!("{kind} of 0 to {max} elements; {length}{}", null(safe, *nullable))
        }
        Role::Length => length(contract, function, param, safe),
        Role::CString { max, nullable } => format!(
            "NUL-terminated string of at most {max} bytes, any bytes but 0, seldom valid UTF-8{}",
            null(safe, *nullable)
        ),
        Role::Pointer { direction, nullable } => {
            format!("{}{}", content(*direction, "single value"), null(safe, *nullable))
        }
        Role::FixedArray { direction, len } => format!("{} of exactly {len} elements", content(*direction, "array")),
    };
    format!("`{}`: {text}.", param.name)
}

fn value(min: Option<i64>, max: Option<i64>) -> String {
    match (min, max) {
        (None, None) => "any value of its type".into(),
        (Some(min), None) => format!("any value from {min}"),
        (None, Some(max)) => format!("any value up to {max}"),
        (Some(min), Some(max)) => format!("any value from {min} to {max}"),
    }
}

fn content(direction: Direction, what: &str) -> String {
    match direction {
        Direction::In => format!("input {what}"),
        Direction::Out => format!(
            "output {what}; all of it is compared after the call, its contents before are arbitrary and stay where C \
             does not write"
        ),
        Direction::InOut => format!("{what} that is read and written; all of it is compared after the call"),
    }
}

fn length(contract: &Contract, function: &Function, param: &Parameter, safe: bool) -> String {
    let of: Vec<String> = contract.buffers_of(&param.name).map(|p| format!("`{}`", p.name)).collect();
    let mut text = format!("the length of {}", of.join(" and "));
    if safe {
        text += "; no parameter of its own in Rust";
    }
    let signed = function.params.iter().any(|p| {
        p.name == param.name && matches!(p.ty.kind, TypeKind::Int { signed: true, .. })
    });
    match (signed, safe) {
        (true, true) => text += "; where it is negative in C, the slice is empty",
        (true, false) => text += "; may be negative",
        (false, _) => {}
    }
    text
}

fn null(safe: bool, nullable: bool) -> &'static str {
    match (nullable, safe) {
        (true, true) => "; may be null in C, which is `None`",
        (true, false) => "; may be null",
        (false, _) => "; never null",
    }
}
