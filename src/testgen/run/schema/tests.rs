use super::*;
use crate::contract::parameter_roles::{self, Direction, Life, Role};
use crate::llm::{Block, Prompt};
use crate::symbol::CType;
use crate::testgen::fixture::{buffer, contract, digest, function, int, library, pointer, record, steps};
use serde_json::json;

/// The schema of a function without other functions.
fn alone(function: &Function, contract: &Contract) -> Schema {
    let other = |_: &SymbolName| None;
    Schema::of(&Sources { library: &library(), function, contract, other: &other })
}

fn tokens(text: &str) -> u64 {
    let block = Block { text: text.into(), cache: false };
    let prompt = Prompt {
        role: String::new(),
        symbol: SymbolName::new("f"),
        attempt: 1,
        enlarged: false,
        system: vec![block],
        messages: Vec::new(),
        max_tokens: 1,
    };
    prompt.estimate().0
}

#[test]
fn of_a_function_over_bytes() {
    let (function, contract) = digest();
    let schema = alone(&function, &contract);
    insta::assert_snapshot!(schema.text());
    assert_eq!(schema.result, ["return", "dst", "errno", "$globals"]);
    assert!(tokens(&schema.text()) < 1_500);
}

#[test]
fn of_a_function_on_handles() {
    let (all, library) = (steps(), library());
    let other = |name: &SymbolName| {
        all.iter()
            .find(|(function, _)| function.name == *name)
            .map(|(function, contract)| (function, contract))
    };
    let of = |at: usize| {
        let (function, contract) = &all[at];
        Schema::of(&Sources { library: &library, function, contract, other: &other })
    };
    insta::assert_snapshot!(of(1).text());
    let maker = of(0);
    assert!(!maker.lines.iter().any(|line| line.starts_with("`make`")), "{maker:?}");
    assert_eq!(
        maker.example,
        json!({"before": [], "args": {"m": 0}, "after": [{"call": "s_end", "args": {}}]})
    );
    assert_eq!(maker.result, ["steps"]);
    assert!(tokens(&of(1).text()) < 1_500);
}

#[test]
fn every_role_has_words_and_an_example_of_its_own() {
    let byte = || pointer("uint8_t *", int("uint8_t", false, 8));
    let word = || pointer("const int *", int("int", true, 32));
    let int32 = || int("int", true, 32);
    for (role, ty, words, example) in [
        (
            Role::Value(parameter_roles::Value { min: None, max: None }),
            int32(),
            "a number, -2147483648 to 2147483647",
            json!(1),
        ),
        (
            Role::Value(parameter_roles::Value { min: Some(5), max: None }),
            int32(),
            "a number, 5 to 2147483647",
            json!(5),
        ),
        (
            Role::Value(parameter_roles::Value { min: None, max: None }),
            int("__int128", true, 128),
            "its digits as a string",
            json!(1),
        ),
        (Role::OneOf(parameter_roles::OneOf { values: vec![3, 9] }), int32(), "one of 3, 9", json!(3)),
        (
            buffer(Direction::In, "n", false),
            word(),
            "a buffer of 0 to 4096 elements, each a number",
            json!([1, 1, 1]),
        ),
        (
            buffer(Direction::Out, "n", true),
            word(),
            "room for 0 to 4096 elements, which C writes; its length is `n`; or null",
            json!(3),
        ),
        (
            Role::CString(parameter_roles::CString { max: 80, nullable: true }),
            byte(),
            "0 to 80 bytes, none of them 0; C gets a 0 behind it; or null",
            json!("abc"),
        ),
        (
            Role::Pointer(parameter_roles::Pointer { direction: Direction::InOut, nullable: false }),
            word(),
            "which C reads and writes: a number",
            json!(1),
        ),
        (
            Role::Pointer(parameter_roles::Pointer { direction: Direction::In, nullable: false }),
            pointer("struct p *", record("struct p")),
            "which C reads: a `struct p`",
            json!({"x": 1.5, "at": [1, 1]}),
        ),
        (
            Role::FixedArray(parameter_roles::FixedArray { direction: Direction::Out, len: 9 }),
            byte(),
            "a buffer of exactly 9 bytes, which C writes",
            json!({"repeat": {"hex": "07"}, "times": 9}),
        ),
        (
            Role::Room(parameter_roles::Room { direction: Direction::Out, len: 9, nullable: false }),
            byte(),
            "{\"fill\": {\"hex\": \"5a5a5a5a\"}}",
            json!({"fill": {"hex": "5a5a5a5a"}}),
        ),
        (
            Role::Room(parameter_roles::Room { direction: Direction::InOut, len: 9, nullable: false }),
            byte(),
            "at most 9 bytes",
            json!("abc"),
        ),
        (
            Role::Elements(parameter_roles::Elements {
                direction: Direction::In,
                count: "n".into(),
                size: "n".into(),
                max: 64,
            }),
            byte(),
            "elements of s bytes (1 to 16), 64 at most",
            json!({"size": 2, "bytes": {"hex": "010002000300"}}),
        ),
        (
            Role::Callback(parameter_roles::Callback { order: true, nullable: false }),
            byte(),
            "the number of an order, 0 to 7",
            json!(1),
        ),
        (
            Role::Callback(parameter_roles::Callback { order: false, nullable: true }),
            byte(),
            "from which its results are taken; or null",
            json!({"answers": [0, 1]}),
        ),
        (
            Role::Given(parameter_roles::Given { max: 40, nullable: false }),
            byte(),
            "an allocated block: a buffer of 0 to 40 bytes",
            json!("abc"),
        ),
        (
            Role::Lent(parameter_roles::Lent {
                of: "p".into(),
                pointers: vec![("name".into(), vec![])],
                numbers: vec!["flags".into()],
                nullable: true,
            }),
            byte(),
            "`name` a buffer of bytes or null; `flags` a number of 32 bits; or null",
            json!({"name": "abc", "flags": 1}),
        ),
    ] {
        let function = function("f", "", vec![("p", ty), ("n", int("size_t", false, 64))]);
        let schema =
            alone(&function, &contract("f", vec![("p", role), ("n", Role::Length(parameter_roles::Length))]));
        assert!(schema.lines[0].contains(words), "{words}: {}", schema.lines[0]);
        assert_eq!(schema.example, json!({"p": example}), "{words}");
    }
    let handle = Role::Handle(parameter_roles::Handle {
        life: Life::Uses,
        through: Some("inner".into()),
        nullable: true,
    });
    let function = function("f", "", vec![("p", byte()), ("q", byte())]);
    let schema = alone(
        &function,
        &contract("f", vec![("p", handle), ("q", Role::UserData(parameter_roles::UserData))]),
    );
    assert!(schema.lines[0].contains("by what its field `inner` points to: 0 or 1; left out, 0; or null"));
    assert!(schema.lines[1].contains("leave it out"));
    assert_eq!(schema.example, json!({}));
}

#[test]
fn lengths_say_when_they_are_given() {
    let byte = || pointer("uint8_t *", int("uint8_t", false, 8));
    let words = |nullable: bool, ty: CType| {
        let function = function("f", "", vec![("p", byte()), ("n", ty)]);
        alone(
            &function,
            &contract(
                "f",
                vec![
                    ("p", buffer(Direction::In, "n", nullable)),
                    ("n", Role::Length(parameter_roles::Length)),
                ],
            ),
        )
        .lines[1]
            .clone()
    };
    let plain = words(false, int("size_t", false, 64));
    assert!(plain.ends_with("the length of `p`; leave it out"), "{plain}");
    assert!(words(true, int("size_t", false, 64)).ends_with("give the number where all of them are null"));
    assert!(words(false, int("int", true, 32)).ends_with("-1 minus the length of the buffers"));
    let behind = words(false, pointer("long *", int("long", true, 64)));
    assert!(behind.ends_with("leave it out"), "{behind}");
}

#[test]
fn where_a_target_reads_bytes_an_input_is_bytes() {
    let (function, contract) = digest();
    let contract =
        Contract { harness: Harness::Model, chance: false, globals: vec![], require: vec![], ..contract };
    let schema = alone(&function, &contract);
    assert_eq!(schema.lines.len(), 1);
    assert_eq!(schema.example, json!({"bytes": {"hex": "0102037f80ff"}}));
}

#[test]
fn names_from_c_stay_on_their_line() {
    let ty = CType { spelling: "struct `x`\n# Rules\n*".into(), ..int("int", true, 32) };
    let function = function("f", "", vec![("p", ty)]);
    let text = alone(
        &function,
        &contract("f", vec![("p", Role::Value(parameter_roles::Value { min: None, max: None }))]),
    )
    .text();
    assert!(text.starts_with("- `p` (`struct 'x' # Rules *`): a number"), "{text}");
}
