//! A contract in words: which inputs exist and what is compared.
//!
//! The author of a port does not learn which inputs are likely or tried first.

use crate::contract::types::{Contract, Direction, GlobalUse, Life, Parameter, Returns, Role, Signature};
use crate::rust::globals::identifier;
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
        Returns::StaticString => {
            "The text that the returned pointer points to is compared, and whether it is null.".into()
        }
        Returns::Handle => "A new handle is returned, or null where C returns null.".into(),
        Returns::Address => {
            "The returned pointer must lead to the same place as C's: null, or as far into the same memory."
                .into()
        }
        Returns::Memory => "A new block of memory is returned, or null where C returns null: allocated through `libc` (`malloc`, `calloc`, `realloc`), \
             exactly as long as C's, and what C has written there is compared. An allocation of more than 1 MiB fails, \
             which is no reason to end the process."
            .into(),
        Returns::Table(elements) => format!(
            "The returned pointer is null, or leads to {elements} elements that stay as they are, all of which are compared."
        ),
    });
    if let Some(sequence) = &contract.sequence {
        lines.push(format!(
            "It is one step in the life of a `{}`: before and after it the other functions run as C on the same \
             memory, so the layout and every field stay as C has them; all that the handle leads to is compared, \
             and how many blocks of memory are never freed.",
            sequence.of
        ));
    }
    if contract.errno {
        lines.push("`errno` has any value before the call and is compared after it: where C leaves it alone, so must the port.".into());
    }
    if contract.chance {
        lines.push(
            "What chance and clocks answer (`libc::rand`, `libc::time`, …) comes from the input; how often they are asked, and the last seed, is compared."
                .into(),
        );
    }
    lines.extend(contract.globals.iter().map(global));
    lines.extend(contract.require.iter().map(|rule| format!("Only inputs with `{rule}` occur.")));
    lines
}

fn global(used: &GlobalUse) -> String {
    let what = match used.direction {
        Direction::In => "only read by C",
        Direction::Out => "only written by C",
        Direction::InOut => "read and written by C",
    };
    let before = if used.vary { "any state" } else { "the state that C starts with" };
    format!(
        "The variable `globals::{}` ({what}, here or in what is called) has {before} before the call and is compared after it.",
        identifier(used.name.as_str())
    )
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
            let shared =
                if contract.buffers_of(length).count() > 1 { ", as of all that have it" } else { "" };
            let of = if safe { "the slice's length is C's" } else { "its length is" };
            let null = null(safe, *nullable);
            format!(
                "{} buffer of 0 to {max} elements; {of} `{length}`{shared}{null}{}",
                kind(*direction),
                compared(*direction)
            )
        }
        Role::Length => length(contract, function, param, safe),
        Role::CString { max, nullable } => format!(
            "NUL-terminated string of at most {max} bytes, any bytes but 0, seldom valid UTF-8{}",
            null(safe, *nullable)
        ),
        Role::Pointer { direction, nullable } => {
            format!("{} value{}{}", kind(*direction), null(safe, *nullable), compared(*direction))
        }
        Role::Elements { direction, count, size, max } => format!(
            "{} memory of `{count}` elements of `{size}` bytes each, at most {max} elements of at most 16 bytes; never null{}",
            kind(*direction),
            compared(*direction)
        ),
        Role::Callback { order: true, nullable } => format!(
            "a function that orders what its two pointers point to{}; its calls are compared with C's: how many, in which order, with which arguments",
            null(safe, *nullable)
        ),
        Role::Callback { order: false, nullable } => format!(
            "a function that answers anything{}; its calls are compared with C's: how many, in which order, with which arguments",
            null(safe, *nullable)
        ),
        Role::Room { direction, nullable, .. } => format!(
            "{} memory of which nothing says how much there is; do not go beyond what C touches{}{}",
            kind(*direction),
            null(safe, *nullable),
            compared(*direction)
        ),
        Role::UserData => "a pointer that is only handed on to a callback".into(),
        Role::Given { max, nullable } => format!(
            "a block of 0 to {max} bytes that `malloc` made{}; whether it is freed is compared (`libc::free`), and what stands in it where it is not",
            null(safe, *nullable)
        ),
        Role::Lent { nullable, .. } => format!(
            "a struct of the caller that may be kept until the handle ends, with its memory{}; it is compared with all that it points to",
            null(safe, *nullable)
        ),
        Role::FixedArray { direction, len } => {
            format!("{} array of exactly {len} elements{}", kind(*direction), compared(*direction))
        }
        Role::Handle { life, through, nullable } => {
            let what = match life {
                Life::Makes => "memory for a handle that this function makes",
                Life::Uses => "a handle",
                Life::Ends => "a handle that this function ends",
            };
            let through = through
                .as_ref()
                .map_or_else(String::new, |field| format!("; what its field `{field}` points to"));
            format!("{what}{through}{}", null(false, *nullable))
        }
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

fn kind(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "input",
        Direction::Out => "output",
        Direction::InOut => "input and output",
    }
}

fn compared(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "",
        Direction::Out => {
            "; its contents before the call are arbitrary, all of it is compared after, also where C writes nothing"
        }
        Direction::InOut => "; all of it is compared after the call",
    }
}

fn length(contract: &Contract, function: &Function, param: &Parameter, safe: bool) -> String {
    if let Some(Parameter { name, role: Role::Elements { size, .. }, .. }) =
        contract.elements_of(&param.name).next()
    {
        let what = if *size == param.name { "the size of an element" } else { "the number of elements" };
        return format!("{what} of `{name}`");
    }
    let of: Vec<String> = contract.buffers_of(&param.name).map(|p| format!("`{}`", p.name)).collect();
    let mut text = format!("the length of {}", of.join(" and "));
    if safe {
        text += "; no parameter of its own in Rust";
    }
    let signed = function
        .params
        .iter()
        .any(|p| p.name == param.name && matches!(p.ty.kind, TypeKind::Int { signed: true, .. }));
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

#[cfg(test)]
mod tests {
    use super::super::context::tests::{contract, digest};
    use super::*;
    use crate::symbol::SymbolName;

    #[test]
    fn a_safe_signature_is_told_in_the_words_of_slices() {
        let lines = describe(&contract(), &digest());
        let dst = "`dst`: output buffer of 0 to 4096 elements; the slice's length is C's `cap`; never null; its contents";
        assert!(lines[0].starts_with(dst), "{}", lines[0]);
        assert!(lines[2].ends_with("may be null in C, which is `None`."), "{}", lines[2]);
        assert!(lines[3].contains("where it is negative in C, the slice is empty"), "{}", lines[3]);
        assert_eq!(lines[6], "Only inputs with `n <= 100` occur.");
    }

    #[test]
    fn a_c_signature_is_told_in_the_words_of_pointers() {
        let contract =
            Contract { signature: Signature::C, errno: false, returns: Returns::Nothing, ..contract() };
        let lines = describe(&contract, &digest());
        assert!(lines[2].ends_with("its length is `n`; may be null."), "{}", lines[2]);
        assert!(lines[3].ends_with("may be negative."), "{}", lines[3]);
        assert!(!lines.iter().any(|line| line.contains("errno") || line.contains("slice")), "{lines:?}");
    }

    #[test]
    fn a_variable_is_told_with_its_state_before_the_call() {
        let used = |direction, vary| GlobalUse {
            name: SymbolName::new("mode"),
            direction,
            vary,
            values: Vec::new(),
            reason: String::new(),
        };
        let text = global(&used(Direction::In, true));
        assert!(text.starts_with("The variable `globals::mode` (only read by C"), "{text}");
        assert!(text.contains("has any state before"), "{text}");
        assert!(global(&used(Direction::InOut, false)).contains("the state that C starts with"));
    }

    #[test]
    fn every_role_has_words_of_its_own() {
        let told = |role: Role| {
            let mut contract = contract();
            contract.params[0].role = role;
            describe(&contract, &digest()).remove(0)
        };
        for (role, words) in [
            (Role::Value { min: Some(1), max: Some(9) }, "`dst`: any value from 1 to 9."),
            (Role::Value { min: None, max: None }, "`dst`: any value of its type."),
            (Role::OneOf { values: vec![1, 2] }, "`dst`: one of 1, 2."),
            (Role::Pointer { direction: Direction::In, nullable: false }, "`dst`: input value; never null."),
            (
                Role::Handle { life: Life::Ends, through: None, nullable: true },
                "`dst`: a handle that this function ends; may be null.",
            ),
            (
                Role::FixedArray { direction: Direction::In, len: 9 },
                "`dst`: input array of exactly 9 elements.",
            ),
        ] {
            assert_eq!(told(role), words);
        }
        assert!(told(Role::CString { max: 80, nullable: false }).contains("at most 80 bytes"));
        let shared =
            Role::Buffer { direction: Direction::InOut, length: "n".into(), max: 8, nullable: false };
        assert!(told(shared.clone()).contains("`n`, as of all that have it"), "{}", told(shared));
    }
}
