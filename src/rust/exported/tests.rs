use super::*;
use crate::contract::file::parse;
use crate::rust::signature::CSignature;
use crate::symbol::{
    CType, Field, Function, Global, Linkage, Param, Place, Record, RelPath, SymbolKey, SymbolName, TypeKind,
};
use serde_json::json;

fn ty(spelling: &str, kind: TypeKind) -> CType {
    CType { spelling: spelling.into(), is_const: false, kind }
}

fn int(signed: bool, bits: u16) -> CType {
    ty("an integer", TypeKind::Int { signed, bits, plain_char: bits == 8 && signed })
}

fn double() -> CType {
    ty("double", TypeKind::Float { bits: 64 })
}

fn pointer(to: CType) -> CType {
    ty("a pointer", TypeKind::Pointer(Box::new(to)))
}

fn point() -> CType {
    ty("point", TypeKind::Record("point".into()))
}

fn void() -> CType {
    ty("void", TypeKind::Void)
}

fn place() -> Place {
    Place { file: RelPath("a.c".into()), start: 0, end: 0, line: 1, end_line: 1 }
}

/// A function whose parameters are called as in `signature`, which is that of its binding.
fn function(signature: &str, params: Vec<CType>, ret: CType) -> (Function, CSignature) {
    let signature: syn::Signature = syn::parse_str(signature).unwrap();
    let c = CSignature::of(&signature, []);
    assert_eq!(c.params.len(), params.len());
    let params = c.params.iter().zip(params);
    let params = params.map(|((name, _), ty)| Param { name: name.to_string(), ty, uses: vec![] });
    let name = signature.ident.to_string();
    let function = Function {
        key: SymbolKey(name.clone()),
        name: SymbolName::new(&name),
        c_name: name,
        module: "a".into(),
        place: place(),
        text: String::new(),
        comment: String::new(),
        linkage: Linkage::External,
        is_inline: false,
        is_variadic: false,
        is_kr: false,
        params: params.collect(),
        ret,
        calls: vec![],
        externs: vec![],
        indirect_calls: 0,
        address_taken: vec![],
        globals_read: vec![],
        globals_written: vec![],
        foreign_globals: vec![],
        macros: vec![],
        comparisons: vec![],
        assignments: vec![],
        returns: vec![],
        local_statics: vec![],
        unsupported: None,
    };
    (function, c)
}

/// A library with `struct point { int tag; double x; unsigned char to[2]; }` and the variable `mode`.
fn library() -> Library {
    let field = |name: &str, ty| Field { name: name.into(), ty, bits: None, offset: None };
    let of = Box::new(int(false, 8));
    let record = Record {
        rust_name: "point".into(),
        c_name: "struct point".into(),
        is_union: false,
        complete: true,
        opaque: false,
        size: 24,
        align: 8,
        fields: vec![
            field("tag", int(true, 32)),
            field("x", double()),
            field("to", ty("bytes", TypeKind::Array { of, len: Some(2) })),
        ],
    };
    let mode = Global {
        key: SymbolKey("mode".into()),
        name: SymbolName::new("mode"),
        c_name: "mode".into(),
        module: "a".into(),
        place: place(),
        linkage: Linkage::Static,
        ty: int(true, 32),
        is_const: false,
        is_thread_local: false,
        unsupported: None,
    };
    Library { records: [("point".into(), record)].into(), globals: vec![mode], ..Library::default() }
}

/// A contract of these lines.
fn contract(symbol: &str, returns: &str, rest: &str) -> Contract {
    let text =
        format!("version = 1\nsymbol = \"{symbol}\"\nsignature = \"c\"\nreturns = \"{returns}\"\n{rest}");
    parse(&text, "a contract").unwrap()
}

fn params(params: &[(&str, &str)]) -> String {
    params.iter().map(|(name, role)| format!("[[param]]\nname = \"{name}\"\n{role}\n")).collect()
}

struct Case {
    function: Function,
    c: CSignature,
    contract: Contract,
}

impl Case {
    fn new((function, c): (Function, CSignature), returns: &str, rest: &str) -> Self {
        let contract = contract(function.name.as_str(), returns, rest);
        Self { function, c, contract }
    }

    fn bound(&self) -> Bound<'_> {
        Bound { function: &self.function, contract: Some(&self.contract), c: &self.c, shared: &[] }
    }

    fn try_exported(&self, others: &[&Self], tests: &[(Value, Value)]) -> Result<Exported, String> {
        let library = library();
        let others: Vec<Bound> = others.iter().map(|case| case.bound()).collect();
        let source = Source { krate: "my-port", library: &library, bound: self.bound(), others: &others };
        let tests = tests.iter().enumerate().map(|(at, (input, left))| KeptTest {
            id: format!("t{at}"),
            category: "correctness".into(),
            reasoning: "Because.".into(),
            input: input.clone(),
            left: left.clone(),
        });
        exported(&source, &tests.collect::<Vec<_>>())
    }

    /// The text of one test, with all white space made one space.
    fn text(&self, input: Value, left: Value) -> String {
        let exported = self.try_exported(&[], &[(input, left)]).unwrap();
        assert_eq!(exported.left_out, []);
        exported.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Why one test is left out.
    fn refused(&self, input: Value, left: Value) -> String {
        let exported = self.try_exported(&[], &[(input, left)]).unwrap();
        assert_eq!((exported.text.as_str(), exported.tests.len()), ("", 0));
        exported.left_out.into_iter().next().unwrap().1
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

fn add() -> Case {
    let c = function("fn add(a: u32, b: f64) -> f64", vec![int(false, 32), double()], double());
    Case::new(c, "value", &params(&[("a", "role = \"value\""), ("b", "role = \"value\"")]))
}

fn copy() -> Case {
    let types = vec![pointer(int(false, 8)), pointer(int(false, 16)), int(false, 64)];
    let c = function("fn copy(out: *mut u8, from: *const u16, n: usize)", types, void());
    let out = "role = \"buffer\"\ndirection = \"out\"\nlength = \"n\"\nmax = 9";
    let from = "role = \"buffer\"\ndirection = \"in\"\nlength = \"n\"\nmax = 9\nnullable = true";
    Case::new(c, "nothing", &params(&[("out", out), ("from", from), ("n", "role = \"length\"")]))
}

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
    // Nothing is said of the room: it is the other's.
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
        (json!({"a": -1, "b": 0}), one.clone(), "`a`: `-1` is no unsigned number of 32 bits"),
        (json!({"b": 0}), one.clone(), "`a`: no value is given"),
        (json!({"a": 1, "b": "x"}), one.clone(), "`b`: `\"x\"` is no float"),
        (json!({"a": 1, "b": 1, "c": 1}), one.clone(), "`c` is nothing that can be written"),
        (json!({"a": 1, "b": 1, "$chance": "x"}), one.clone(), "`$chance` is nothing that can be written"),
        (
            json!({"a": 1, "b": 1, "$globals": {"mode": 1}}),
            one,
            "`mode` is no variable that the contract lists",
        ),
        (json!({"a": 1, "b": 1}), json!({}), "the result says nothing of what is returned"),
        (
            json!({"a": 1, "b": 1}),
            json!({"return": 1, "calls": []}),
            "`calls` is nothing that can be written",
        ),
        (json!([]), json!({}), "the input is no object"),
    ] {
        assert_eq!(add.refused(input, left), why);
    }
    let out = json!({"out": "ab"});
    for (input, left, why) in [
        (json!({"out": 2, "from": [1, 2], "n": 3}), out.clone(), "`n`: it is 3 where the buffers have 2"),
        (json!({"out": 2, "from": "abc"}), out.clone(), "`from`: 3 bytes are no elements of 2"),
        (json!({"out": 3, "from": [1, 2, 3]}), out.clone(), "a result has 2 elements where C has 3"),
        (json!({"from": null}), out.clone(), "`out`: nothing says how much room there is"),
        (
            json!({"out": 99_999, "from": null}),
            out,
            "`out`: 99999 elements are too many for a literal, of which 16384 may be",
        ),
        (json!({"out": 2, "from": null}), json!({}), "the result says nothing of `out`"),
        // Nothing can be compared.
        (json!({"out": 0, "from": []}), json!({"out": ""}), "C leaves nothing behind that could be compared"),
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
    assert_eq!(why, "`p`: `z` is no field of point");
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
    has(&got, &[r#"let s = c"a\"b\\\xe2\x80\xae";"#, r#"text_at(returned as _).as_deref(), Some("\\\" }")"#]);
    has(&case.text(json!({"s": null}), json!({"return": null})), &["capi::look(core::ptr::null())", "None"]);
    assert_eq!(
        case.refused(json!({"s": {"hex": "6100"}}), json!({"return": null})),
        "`s`: a text has a NUL in it"
    );

    let mut test = KeptTest {
        id: "t\"; }".into(),
        category: "anti_cheat".into(),
        reasoning: "*/ fn f() {}\n#[test] fn g() {}\r\u{202e}".into(),
        input: json!({"s": null}),
        left: json!({"return": null}),
    };
    let library = library();
    let source = Source { krate: "p", library: &library, bound: case.bound(), others: &[] };
    let names = |tests: &[KeptTest]| {
        let file: syn::File = syn::parse_str(&exported(&source, tests).unwrap().text).unwrap();
        let names = file.items.into_iter().filter_map(|item| match item {
            syn::Item::Fn(item) if item.attrs.iter().any(|attr| attr.path().is_ident("test")) => {
                Some(item.sig.ident.to_string())
            }
            _ => None,
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&[test.clone(), test.clone()]), ["anti_cheat_t", "anti_cheat_t_2"]);
    // Nobody takes a name that the file has for itself.
    (test.id, test.category) = ("at".into(), "text".into());
    assert_eq!(names(&[test]), ["text_at_2"]);
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
    assert_eq!(why, "it returns a pointer into `other`, which is no argument");
}

#[test]
fn what_needs_the_tool_is_refused_as_a_whole() {
    let refused = |returns: &str, rest: &str| {
        let c = function("fn f(a: u32) -> u32", vec![int(false, 32)], int(false, 32));
        Case::new(c, returns, rest).try_exported(&[], &[]).unwrap_err()
    };
    let value = params(&[("a", "role = \"value\"")]);
    assert_eq!(refused("value", &format!("chance = true\n{value}")), "it asks for chance or the time");
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
