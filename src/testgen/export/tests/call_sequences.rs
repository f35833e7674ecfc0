//! Call sequences as Rust statements.

use super::library::*;
use crate::symbol::TypeKind;
use crate::testgen::export::*;
use serde_json::json;

const SEQUENCE: &str =
    "[sequence]\nof = \"ring\"\nmakers = [\"make\"]\noperations = [\"push\"]\nenders = [\"end\", \"done\"]\n";

/// The functions `make`, `push` and `end`.
fn ring() -> [Case; 3] {
    let handle = || pointer(ty("ring", TypeKind::Record("ring".into())));
    let uses = "role = \"handle\"\nlife = \"uses\"";
    let make = function("fn make(n: usize) -> *mut ring", vec![int(false, 64)], handle());
    let push = function("fn push(r: *mut ring, v: i32) -> i32", vec![handle(), int(true, 32)], int(true, 32));
    let end = function("fn end(r: *mut ring)", vec![handle()], void());
    [
        Case::new(make, "handle", &format!("{}{SEQUENCE}", params(&[("n", "role = \"value\"")]))),
        Case::new(push, "value", &format!("{}{SEQUENCE}", params(&[("r", uses), ("v", "role = \"value\"")]))),
        Case::new(
            end,
            "nothing",
            &format!("{}{SEQUENCE}", params(&[("r", "role = \"handle\"\nlife = \"ends\"")])),
        ),
    ]
}

fn lived(symbol: usize, input: Value, left: Value) -> Result<String, String> {
    let ring = ring();
    let others: Vec<&Case> = ring.iter().collect();
    let exported = ring[symbol].try_exported(&others, &[(input, left)]).unwrap();
    match exported.left_out.into_iter().next() {
        Some((_, why)) => Err(why),
        None => Ok(exported.text.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

#[test]
fn a_life_is_its_calls_in_order_on_the_handles_that_c_had() {
    let make = json!({"call": "make", "args": {"n": 2}});
    let text = lived(
        1,
        json!({"make": make, "before": [make, {"call": "end", "args": {"r": 0}}], "args": {"r": 0, "v": 5}, "after": [make]}),
        json!({"steps": [
            {"call": "make", "left": {"return": true}}, {"call": "make", "left": {"return": true}},
            {"call": "end", "left": {}}, {"call": "push", "left": {"return": 1}},
            {"call": "make", "left": {"return": false}}, {"call": "end", "left": {}},
        ]}),
    )
    .unwrap();
    has(
        &text,
        &[
            "let handle_0 = capi::make(2); assert_eq!(handle_0.is_null(), false, \"return value of make, call 1\");",
            "let handle_1 = capi::make(2);",
            "capi::end(handle_0 as _); let returned_4 = capi::push(handle_1 as _, 5);",
            "assert_eq!(returned_4, 1, \"return value of push, call 4\");",
            "let returned_5 = capi::make(2); assert_eq!(returned_5.is_null(), true,",
            "capi::end(handle_1 as _); } }",
        ],
    );
}

#[test]
fn a_life_that_cannot_be_told_is_left_out() {
    let make = json!({"call": "make", "args": {"n": 2}});
    let made = json!({"call": "make", "left": {"return": true}});
    let push = json!({"call": "push", "left": {"return": 1}});
    let args = json!({"v": 5});
    for (input, steps, why) in [
        (json!({"args": args}), json!([push]), "a call sequence begins with one constructor"),
        (json!({"make": make, "args": args}), json!([made]), "the result has fewer calls than the input"),
        (
            json!({"make": make, "args": args}),
            json!([made, made]),
            "call 2 of the result differs from that of the input",
        ),
        (
            json!({"make": make, "args": args}),
            json!([made, push, push]),
            "C was called more often than the input says",
        ),
        (
            json!({"make": make, "args": args}),
            json!([made, null]),
            "C produces nothing that could be compared",
        ),
        (
            json!({"make": make, "args": args}),
            json!([null, push]),
            "call 2, push: there is no handle for `r`",
        ),
        (
            json!({"make": make, "before": [{"feed": 0}], "args": args}),
            json!([made, null, push]),
            "`{\"feed\":0}` is no call",
        ),
        (
            json!({"make": make, "args": args, "file": "x"}),
            json!([made, push]),
            "`file` is not part of a call sequence",
        ),
    ] {
        assert_eq!(lived(1, input, json!({"steps": steps})), Err(why.to_owned()));
    }
    let text =
        lived(0, json!({"args": {"n": 0}}), json!({"steps": [{"call": "make", "left": {"return": false}}]}));
    has(&text.unwrap(), &["let returned_1 = capi::make(0); assert_eq!(returned_1.is_null(), true"]);
    // A destructor alone has no comparable effects.
    let why =
        lived(2, json!({"make": make, "args": {}}), json!({"steps": [made, {"call": "end", "left": {}}]}));
    assert_eq!(why, Err("C produces nothing that could be compared".to_owned()));
}

/// The text of a call sequence that ends with `ender`, according to C's last steps.
fn ended_by(ender: Case, enders: &Value) -> String {
    let [make, push, end] = ring();
    let input = json!({"make": {"call": "make", "args": {"n": 2}}, "args": {"v": 5}});
    let mut steps = vec![
        json!({"call": "make", "left": {"return": true}}),
        json!({"call": "push", "left": {"return": 1}}),
    ];
    steps.extend(enders.as_array().unwrap().iter().cloned());
    let exported =
        push.try_exported(&[&make, &push, &end, &ender], &[(input, json!({"steps": steps}))]).unwrap();
    assert_eq!(exported.left_out, []);
    exported.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_handle_is_ended_as_c_was_called_and_not_at_all_where_it_was_not() {
    let buffer = "role = \"buffer\"\ndirection = \"out\"\nlength = \"n\"\nmax = 9\nnullable = true";
    let done = |role: &str| {
        let handle = pointer(ty("ring", TypeKind::Record("ring".into())));
        let signature =
            "fn done(r: *mut ring, to: *mut u8, n: usize, how: i32, note: *const ::core::ffi::c_char) -> i32";
        let types =
            vec![handle, pointer(int(false, 8)), int(false, 64), int(true, 32), pointer(int(true, 8))];
        let roles = [
            ("r", "role = \"handle\"\nlife = \"ends\""),
            ("to", buffer),
            ("n", "role = \"length\""),
            ("how", "role = \"value\"\nmin = 2\nmax = 4"),
            ("note", role),
        ];
        let contract = format!("{}{SEQUENCE}", params(&roles));
        Case::new(function(signature, types, int(true, 32)), "value", &contract)
    };
    let push = |text: String| {
        let (_, rest) =
            text.split_once("assert_eq!(returned_2, 1, \"return value of push, call 2\");").unwrap();
        rest.trim().to_owned()
    };
    let text = "role = \"c-string\"\nmax = 9\nnullable = true\ntexts = [\"end\"]";
    // The decoding of an empty input: no null, and zero moved into the limits.
    let step = json!([{"call": "done", "left": {"return": 0, "to": "", "n": 0}}]);
    let got = push(ended_by(done(text), &step));
    has(
        &got,
        &[
            "let mut to_3: [u8; 0] = *b\"\"; let note_3 = c\"end\".to_owned();",
            "let returned_3 = capi::done( handle_0 as _, to_3.as_mut_ptr() as _, 0, 3, note_3.as_ptr() as _, );",
        ],
    );
    // C did not get an argument that the contract excludes, and no replacement is used.
    assert_eq!(push(ended_by(done(text), &json!([null]))), "} }); }");
    // An argument that only the harness can supply: the handle stays.
    let callback = "role = \"callback\"\nnullable = true";
    assert_eq!(push(ended_by(done(callback), &step)), "} }); }");
}
