//! The text of each kind of test. `library` has the helpers of these tests, `call_sequences` the tests of functions
//! on handles.

mod library;
mod call_sequences;

use super::*;
use crate::symbol::TypeKind;
use library::*;
use serde_json::json;

#[test]
fn a_call_with_values_is_one_comparison() {
    let text = add().text(json!({"a": 7, "b": {"float": "-0.0"}}), json!({"return": {"float": "nan"}}));
    has(
        &text,
        &[
            "use my_port::{capi, ffi, globals};",
            "/// Because. #[test] fn correctness_t0() {",
            "let returned = capi::add(7, -0.0);",
            "assert_eq!(Exact(returned), Exact(f64::NAN), \"return value of add\");",
            "struct Exact<T>(T);",
        ],
    );
    assert!(!text.contains("alone") && !text.contains("text_at") && !text.contains("errno"), "{text}");
}

#[test]
fn buffers_are_as_long_as_promised_and_outputs_hold_what_the_input_says() {
    let left = json!({"out": {"hex": "010203"}});
    let text = copy()
        .text(json!({"out": {"room": 3, "fill": {"hex": "01020304"}}, "from": [1, 2, 65535]}), left.clone());
    has(
        &text,
        &[
            r#"let mut out: [u8; 3] = *b"\x01\x02\x03";"#,
            "let from: [u16; 3] = [1, 2, 65535];",
            "capi::copy(out.as_mut_ptr() as _, from.as_ptr() as _, 3);",
            r#"assert_eq!(out.as_slice(), b"\x01\x02\x03", "`out` after copy");"#,
        ],
    );
    // The output's size is not given, so it is that of the other buffer.
    let text = copy().text(json!({"from": {"hex": "010002000300"}}), left.clone());
    has(&text, &["let mut out: [u8; 3] = *b\"ZZZ\";", "let from: [u16; 3] = [1, 2, 3];"]);
    let text = copy().text(json!({"out": 20, "from": null}), json!({"out": {"repeat": "Z", "times": 20}}));
    has(
        &text,
        &["let mut out: [u8; 20] = [0x5a; 20];", "capi::copy(out.as_mut_ptr() as _, core::ptr::null(), 20);"],
    );
}

#[test]
fn what_fits_nowhere_is_left_out_with_the_reason() {
    let (add, copy) = (add(), copy());
    let one = json!({"return": 1});
    for (input, left, why) in [
        (json!({"a": -1, "b": 0}), one.clone(), "`a`: `-1` is not a number of 32 bits (unsigned)"),
        (json!({"b": 0}), one.clone(), "`a`: no value is given"),
        (json!({"a": 1, "b": "x"}), one.clone(), "`b`: `\"x\"` is no float"),
        (json!({"a": 1, "b": 1, "c": 1}), one.clone(), "`c` cannot be written as Rust"),
        (json!({"a": 1, "b": 1, "$chance": "x"}), one.clone(), "`$chance` cannot be written as Rust"),
        (
            json!({"a": 1, "b": 1, "$globals": {"mode": 1}}),
            one,
            "the contract does not list the variable `mode`",
        ),
        (json!({"a": 1, "b": 1}), json!({}), "the result has no return value"),
        (json!({"a": 1, "b": 1}), json!({"return": 1, "calls": []}), "`calls` cannot be written as Rust"),
        (json!([]), json!({}), "the input is not an object"),
    ] {
        assert_eq!(add.refused(input, left), why);
    }
    let out = json!({"out": "ab"});
    for (input, left, why) in [
        (json!({"out": 2, "from": [1, 2], "n": 3}), out.clone(), "`n`: it is 3 where the buffers have 2"),
        (
            json!({"out": 2, "from": "abc"}),
            out.clone(),
            "`from`: 3 bytes cannot be divided into elements of 2",
        ),
        (json!({"out": 3, "from": [1, 2, 3]}), out.clone(), "a result has 2 elements where C has 3"),
        (json!({"from": null}), out.clone(), "`out`: the size of the room is not given"),
        (
            json!({"out": 99_999, "from": null}),
            out,
            "`out`: 99999 elements are too many for a literal; the limit is 16384",
        ),
        (json!({"out": 2, "from": null}), json!({}), "the result has nothing about `out`"),
        // There is nothing to compare.
        (json!({"out": 0, "from": []}), json!({"out": ""}), "C produces nothing that could be compared"),
    ] {
        assert_eq!(copy.refused(input, left), why);
    }
}

#[test]
fn a_length_may_be_negative_or_behind_a_pointer() {
    let buffer = "role = \"buffer\"\ndirection = \"in\"\nlength = \"n\"\nmax = 9\nnullable = true";
    let roles = params(&[("data", buffer), ("n", "role = \"length\"")]);
    let types = vec![pointer(int(true, 8)), int(true, 32)];
    let c = function(
        "fn sum(data: *const ::core::ffi::c_char, n: i32) -> bool",
        types,
        ty("_Bool", TypeKind::Bool),
    );
    let case = Case::new(c, "value", &roles);
    let text = case.text(json!({"data": "ab", "n": -3}), json!({"return": 1}));
    has(
        &text,
        &["let data: [u8; 2] = *b\"ab\";", "capi::sum(data.as_ptr() as _, -3)", "assert_eq!(returned, true,"],
    );
    let text = case.text(json!({"data": null, "n": 5}), json!({"return": 0}));
    has(&text, &["capi::sum(core::ptr::null(), 5)"]);

    let types = vec![pointer(int(false, 8)), pointer(int(false, 64))];
    let c = function("fn sum(data: *const u8, n: *mut usize)", types, void());
    let text = Case::new(c, "nothing", &roles).text(json!({"data": ""}), json!({"n": 9}));
    has(
        &text,
        &[
            "let data: [u8; 0] = *b\"\";",
            "let mut n: usize = 0;",
            "capi::sum(data.as_ptr() as _, &raw mut n as _);",
            "assert_eq!(n, 9, \"`n` after sum\");",
        ],
    );
}

#[test]
fn structs_are_compared_field_by_field() {
    let c = function("fn turn(p: *mut point, by: point) -> point", vec![pointer(point()), point()], point());
    let pointer = "role = \"pointer\"\ndirection = \"inout\"";
    let case = Case::new(c, "value", &params(&[("p", pointer), ("by", "role = \"value\"")]));
    let text = case.text(
        json!({"p": {"tag": 1}, "by": {"x": 2.5, "to": "ab"}}),
        json!({"p": {"tag": 2, "x": 0.0, "to": [1, 2]}, "return": {"tag": -1}}),
    );
    has(
        &text,
        &[
            "let mut p: ffi::point = ffi::point { tag: 1, ..core::mem::zeroed() };",
            "let returned = capi::turn( &raw mut p as _, ffi::point { x: 2.5, to: [97, 98], ..core::mem::zeroed()",
            "assert_eq!({ returned.tag }, - 1, \"`.tag` of the return value of turn\");",
            "assert_eq!({ returned.to }, [0, 0], \"`.to` of the return value of turn\");",
            "assert_eq!({ p.tag }, 2, \"`p.tag` after turn\");",
            "assert_eq!(Exact(p.x), Exact(0.0), \"`p.x` after turn\");",
        ],
    );
    let why = case.refused(json!({"p": {"z": 1}, "by": {}}), json!({}));
    assert_eq!(why, "`p`: `z` is not a field of point");
}

#[test]
fn many_structs_are_compared_in_a_loop() {
    let of = Box::new(point());
    let pair = ty("points", TypeKind::Array { of, len: Some(2) });
    let c =
        function("fn scale(each_0: *mut point, n: usize)", vec![pointer(point()), int(false, 64)], void());
    let buffer = "role = \"buffer\"\ndirection = \"inout\"\nlength = \"n\"\nmax = 9999";
    let case = Case::new(c, "nothing", &params(&[("each_0", buffer), ("n", "role = \"length\"")]));
    let many = |x: f64| json!({"repeat": [{"x": x}], "times": 4096});
    let text = case.text(json!({"each_0": many(1.0)}), json!({"each_0": many(2.0)}));
    has(
        &text,
        &[
            "{ let wanted = [ffi::point { x: 2.0, ..core::mem::zeroed() }; 4096]; for each_0 in 0..4096 {",
            "assert_eq!( { each_0_[each_0].tag }, { wanted[each_0].tag }, \"`each_0[{each_0}].tag` after scale\" );",
            "Exact(each_0_[each_0].x), Exact({ wanted[each_0].x }),",
            "assert_eq!( { each_0_[each_0].to }, { wanted[each_0].to },",
        ],
    );
    assert_eq!(text.matches("after scale").count(), 3, "{text}");

    // Arrays of arrays, and C's effects on them.
    let library = library();
    let types = Types(&library);
    let whole = ty("pairs", TypeKind::Array { of: Box::new(pair), len: Some(3) });
    let label = expected::Label::returned("f");
    let left = json!([[{}, {"tag": 1}], [{}, {}], [{}, {}]]);
    let written = types.same(&quote!(it), &whole, &left, &label).unwrap();
    let written = quote!(#(#written)*).to_string();
    has(
        &written,
        &["for each_0 in 0 .. 3 { for each_1 in 0 .. 2 {", "`[{each_0}][{each_1}].tag` of the return"],
    );
    let why = types.same(&quote!(it), &whole, &json!([[{}, {}]]), &label).unwrap_err();
    assert_eq!(why, "a result has 1 elements where C has 3");
}

#[test]
fn bytes_of_no_told_type_are_aligned_as_allocated_memory_is() {
    let c = function("fn next(state: *mut ::core::ffi::c_void)", vec![pointer(void())], void());
    let room = "role = \"room\"\ndirection = \"inout\"\nlen = 3";
    let case = Case::new(c, "nothing", &params(&[("state", room)]));
    let text = case.text(json!({"state": "abc"}), json!({"state": "abd"}));
    has(
        &text,
        &[
            "#[repr(C, align(16))] struct Aligned<T>(T);",
            "let mut state: Aligned<[u8; 3]> = Aligned(*b\"abc\"); capi::next(state.0.as_mut_ptr() as _);",
            "assert_eq!(state.0.as_slice(), b\"abd\", \"`state` after next\");",
        ],
    );
    let text = copy().text(json!({"out": 1, "from": [1]}), json!({"out": "a"}));
    assert!(!text.contains("Aligned"), "{text}");
}

#[test]
fn a_single_keeps_the_bits_of_what_is_no_number() {
    let single = || ty("float", TypeKind::Float { bits: 32 });
    let c = function("fn bits(x: f32) -> u32", vec![single()], int(false, 32));
    let case = Case::new(c, "value", &params(&[("x", "role = \"value\"")]));
    for (bits, written) in [
        ("0x7ff0000020000000", "capi::bits(f32::from_bits(0x7f800001));"),
        ("0xfff8000000000000", "capi::bits(f32::from_bits(0xffc00000));"),
        ("0x7ff0000000000001", "capi::bits(f32::NAN);"),
        ("0x7ff8000000000000", "capi::bits(f32::NAN);"),
        ("0x7ff0000000000000", "capi::bits(f32::INFINITY);"),
        ("0x3ff8000000000000", "capi::bits(1.5);"),
    ] {
        has(&case.text(json!({"x": {"bits": bits}}), json!({"return": 1})), &[written]);
    }
    let fill = Types(&library()).filled(&single(), 1, [1, 0, 0x80, 0x7f]).unwrap();
    assert_eq!(fill, json!([{"bits": "0x7ff0000020000000"}]));
}

#[test]
fn an_output_of_structs_is_filled_field_by_field_as_the_harness_does() {
    let fill = Types(&library()).filled(&point(), 2, [1, 2, 3, 4]).unwrap();
    let second = json!({"tag": "33620995", "x": {"bits": "0x201040302010403"}, "to": ["3", "4"]});
    let first = json!({"tag": "67305985", "x": {"bits": "0x403020104030201"}, "to": ["1", "2"]});
    assert_eq!(fill, json!([first, second]));
}

#[test]
fn a_text_is_no_code_and_no_comment_ends_early() {
    let c = function(
        "fn look(s: *const ::core::ffi::c_char) -> *const ::core::ffi::c_char",
        vec![pointer(int(true, 8))],
        pointer(int(true, 8)),
    );
    let text = "role = \"c-string\"\nmax = 99\nnullable = true";
    let case = Case::new(c, "static-string", &params(&[("s", text)]));
    let got = case.text(json!({"s": "a\"b\\\u{202e}"}), json!({"return": "\" }"}));
    has(
        &got,
        &[
            r#"let s = c"a\"b\\\xe2\x80\xae".to_owned();"#,
            r#"text_at(returned as _).as_deref(), Some("\\\" }")"#,
        ],
    );
    has(&case.text(json!({"s": null}), json!({"return": null})), &["capi::look(core::ptr::null())", "None"]);
    assert_eq!(
        case.refused(json!({"s": {"hex": "6100"}}), json!({"return": null})),
        "`s`: a string contains a NUL"
    );

    let test = GeneratedTest {
        reasoning: "*/ fn f() {}\n#[test] fn g() {}\r\u{202e}".into(),
        input: json!({"s": null}),
        expected_output: Some(json!({"return": null})),
        ..GeneratedTest::new("t\"; }", TestCategory::AntiCheat)
    };
    let library = library();
    let source = Source { krate: "p", library: &library, bound: case.bound(), others: &[] };
    let names = |tests: &[&GeneratedTest]| {
        let file: syn::File = syn::parse_str(&exported(&source, tests).unwrap().text).unwrap();
        let names = file.items.into_iter().filter_map(|item| match item {
            syn::Item::Fn(item) if item.attrs.iter().any(|attr| attr.path().is_ident("test")) => {
                Some(item.sig.ident.to_string())
            }
            _ => None,
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&[&test, &test]), ["anti_cheat_t", "anti_cheat_t_2"]);
    // A test may not take a name that the file uses itself.
    let mut taken = prelude::NAMES.map(str::to_owned).into();
    assert_eq!(names::test_name("text", "at", &mut taken).to_string(), "text_at_2");
}

#[test]
fn variables_are_set_before_and_compared_after_by_one_test_at_a_time() {
    let c = function("fn next(step: i32)", vec![int(true, 32)], void());
    let roles = params(&[("step", "role = \"value\"")]);
    let case =
        Case::new(c, "nothing", &format!("{roles}[[global]]\nname = \"mode\"\ndirection = \"inout\"\n"));
    let text = case.text(json!({"step": 1, "$globals": {"mode": -4}}), json!({"$globals": {"mode": -3}}));
    has(
        &text,
        &[
            "let _alone = alone(); unsafe {",
            "globals::mode = -4;",
            "assert_eq!({ globals::mode }, - 3, \"`mode` after next\");",
            "Kept::of(&raw mut globals::mode)",
        ],
    );
}

#[test]
fn a_returned_pointer_and_errno_are_told() {
    let buffer = "role = \"buffer\"\ndirection = \"in\"\nlength = \"n\"\nmax = 9";
    let types = vec![pointer(void()), int(false, 64)];
    let c = function(
        "fn find(data: *mut ::core::ffi::c_void, n: usize) -> *mut ::core::ffi::c_void",
        types,
        pointer(void()),
    );
    let roles = params(&[("data", buffer), ("n", "role = \"length\"")]);
    let case = Case::new(c, "address", &format!("errno = true\n{roles}"));
    let text = case.text(json!({"data": "abc"}), json!({"return": "`data` + 2", "errno": 34}));
    has(
        &text,
        &[
            "clear_errno(); let returned = capi::find(data.as_ptr() as _, 3); let errno = last_errno();",
            "(returned as usize).wrapping_sub(data.as_ptr() as usize), 2,",
            "assert_eq!(errno, 34, \"errno after find\");",
        ],
    );
    let text = case.text(json!({"data": "abc"}), json!({"return": "NULL", "errno": 0}));
    has(&text, &["assert!(returned.is_null(), \"return value of find\");"]);
    let why = case.refused(json!({"data": "abc"}), json!({"return": "`other` + 2", "errno": 0}));
    assert_eq!(why, "it returns a pointer into `other`, which is not an argument");
}

#[test]
fn tests_of_existence_need_nothing_of_a_call() {
    let test = |category, input| GeneratedTest {
        input,
        expected_output: Some(json!({"return": 1})),
        ..GeneratedTest::new("t", category)
    };
    let library = library();
    let (there, called) = (json!({"check": "signature"}), json!({"check": 7}));
    let tests = [
        test(TestCategory::Existence, there),
        test(TestCategory::Existence, json!({})),
        test(TestCategory::Boundary, called),
    ];
    let exported = |name: &str, returns: &str, rest: &str| {
        let c = function("fn f(a: u32) -> u32", vec![int(false, 32)], int(false, 32));
        let case = Case::new(c, returns, &format!("{rest}{}", params(&[(name, "role = \"value\"")])));
        let source = Source { krate: "p", library: &library, bound: case.bound(), others: &[] };
        exported(&source, &tests.each_ref()).unwrap()
    };
    let told = exported("check", "memory", "chance = true\n");
    assert!(told.text.contains("= capi::f;") && !told.text.contains("capi::f("), "{}", told.text);
    let left_out = ["`{}` is not a known check", "it uses random numbers or clocks"];
    assert_eq!(told.left_out.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>(), left_out);
    // A parameter may have any name.
    let told = exported("check", "value", "");
    assert!(told.text.contains("= capi::f;") && told.text.contains("capi::f(7)"), "{}", told.text);
    assert_eq!(told.left_out.len(), 1);
}

#[test]
fn what_needs_the_tool_is_refused_as_a_whole() {
    let refused = |returns: &str, rest: &str| {
        let c = function("fn f(a: u32) -> u32", vec![int(false, 32)], int(false, 32));
        Case::new(c, returns, rest).refused(json!({"a": 1}), json!({"return": 1}))
    };
    let value = params(&[("a", "role = \"value\"")]);
    assert_eq!(refused("value", &format!("chance = true\n{value}")), "it uses random numbers or clocks");
    assert_eq!(refused("memory", &value), "it returns a block of memory");
    assert_eq!(
        refused("value", &params(&[("a", "role = \"token\"")])),
        "`a`: it takes a pointer that only a callback reads"
    );
    assert_eq!(refused("value", &params(&[("a", "role = \"callback\"")])), "`a`: it calls back");
    assert_eq!(
        refused("value", &params(&[("a", "role = \"given\"\nmax = 4")])),
        "`a`: it is given a block to free"
    );
    assert_eq!(refused("value", "harness = \"model\"\n"), "its fuzz target was written by a model");
}
