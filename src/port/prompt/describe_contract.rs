//! A contract in words: which inputs exist and what is compared. Each role in `contract::parameter_roles`
//! describes its parameter.
//!
//! The author of a port does not learn which inputs are likely or tried first.

use crate::contract::parameter_roles::ParameterContext;
use crate::contract::slots::places;
use crate::contract::types::{Contract, Direction, GlobalUse, Returns, Signature};
use crate::rust::globals::identifier;
use crate::symbol::Function;

/// What is compared where there is no contract, because programs that use the library judge the function.
pub const IN_PLACE: [&str; 4] = [
    "None is written. Programs that use the library judge the port: wherever they call the function, C runs first, and then the port \
     with the same arguments on the same memory.",
    "Compared are the return value, `errno`, all memory that C changes, whatever pointer leads there, and the library's variables.",
    "Memory that stays after the call comes from `libc::malloc`, `libc::calloc` or `libc::realloc`, with as many blocks as in C, since C \
     frees it. Memory of Rust's allocator must be gone when the port returns.",
    "Arguments are what these programs pass: no check is needed that C does not make.",
];

/// One sentence for each parameter, the result, `errno` and each precondition.
pub fn describe(contract: &Contract, function: &Function) -> Vec<String> {
    let parameter =
        |place: ParameterContext| format!("`{}`: {}.", place.param.name, place.param.role.describe(&place));
    let mut lines: Vec<String> = places(contract, function).map(parameter).collect();
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
            "The returned pointer must lead to the same place as C's: null, or as far into the same memory. What lies \
             there is compared, too."
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::parameter_roles;
    use crate::contract::types::{Life, Role};
    use crate::port::prompt::context::tests::{contract, digest};
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
            functions: false,
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
            (
                Role::Value(parameter_roles::Value { min: Some(1), max: Some(9) }),
                "`dst`: any value from 1 to 9.",
            ),
            (Role::Value(parameter_roles::Value { min: None, max: None }), "`dst`: any value of its type."),
            (Role::OneOf(parameter_roles::OneOf { values: vec![1, 2] }), "`dst`: one of 1, 2."),
            (
                Role::Pointer(parameter_roles::Pointer { direction: Direction::In, nullable: false }),
                "`dst`: input value; never null.",
            ),
            (
                Role::Handle(parameter_roles::Handle { life: Life::Ends, through: None, nullable: true }),
                "`dst`: a handle that this function ends; may be null.",
            ),
            (
                Role::FixedArray(parameter_roles::FixedArray { direction: Direction::In, len: 9 }),
                "`dst`: input array of exactly 9 elements.",
            ),
        ] {
            assert_eq!(told(role), words);
        }
        assert!(
            told(Role::CString(parameter_roles::CString { max: 80, nullable: false }))
                .contains("at most 80 bytes")
        );
        let shared = Role::Buffer(parameter_roles::Buffer {
            direction: Direction::InOut,
            length: "n".into(),
            max: 8,
            nullable: false,
        });
        assert!(told(shared.clone()).contains("`n`, as of all that have it"), "{}", told(shared));
    }
}
