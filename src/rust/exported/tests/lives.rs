//! Lives of handles as calls in their order.

use super::library::*;
use crate::rust::exported::*;
use crate::symbol::TypeKind;
use serde_json::json;

const SEQUENCE: &str =
    "[sequence]\nof = \"ring\"\nmakers = [\"make\"]\noperations = [\"push\"]\nenders = [\"end\"]\n";

/// `make`, `push` and `end`.
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
        (json!({"args": args}), json!([push]), "a life begins with one constructor"),
        (json!({"make": make, "args": args}), json!([made]), "the result has fewer calls than the input"),
        (
            json!({"make": make, "args": args}),
            json!([made, made]),
            "call 2 of the result is another one than that of the input",
        ),
        (
            json!({"make": make, "args": args}),
            json!([made, push, push]),
            "C was called more often than the input says",
        ),
        (
            json!({"make": make, "args": args}),
            json!([made, null]),
            "C leaves nothing behind that could be compared",
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
            "`file` is no part of a life",
        ),
    ] {
        assert_eq!(lived(1, input, json!({"steps": steps})), Err(why.to_owned()));
    }
    let text =
        lived(0, json!({"args": {"n": 0}}), json!({"steps": [{"call": "make", "left": {"return": false}}]}));
    has(&text.unwrap(), &["let returned_1 = capi::make(0); assert_eq!(returned_1.is_null(), true"]);
    // A destructor alone leaves nothing behind.
    let why =
        lived(2, json!({"make": make, "args": {}}), json!({"steps": [made, {"call": "end", "left": {}}]}));
    assert_eq!(why, Err("C leaves nothing behind that could be compared".to_owned()));
}
