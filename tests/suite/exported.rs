//! Exported tests, compiled and run: they pass on functions that behave like C and fail on functions that do not.

use crate::support::clib;
use camino::Utf8Path;
use cargo_implfuzz::c::bind::Bindings;
use cargo_implfuzz::config;
use cargo_implfuzz::contract::file::parse;
use cargo_implfuzz::contract::types::Contract;
use cargo_implfuzz::rust::shims::Bound;
use cargo_implfuzz::rust::signature::CSignature;
use cargo_implfuzz::symbol::{Function, Library};
use cargo_implfuzz::test_record::{GeneratedTest, TestCategory};
use cargo_implfuzz::testgen::export::{Source, exported};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const C: &str = include_str!("exported/shapes.c");
const CAPI: &str = include_str!("exported/capi.rs");

/// How a parameter is written in a contract: its name, then its role with what belongs to it.
type Roles = &'static [(&'static str, &'static str)];

const VALUE: &str = "role = \"value\"";
const LENGTH: &str = "role = \"length\"";
const TEXT: &str = "role = \"c-string\"\nmax = 9\nnullable = true";
const USES: &str = "role = \"handle\"\nlife = \"uses\"";
const DATA: &str = "role = \"buffer\"\ndirection = \"in\"\nlength = \"n\"\nmax = 9";
const ROOM: &str = "role = \"room\"\ndirection = \"inout\"\nlen = 9";
const POINTER: &str = "role = \"pointer\"\ndirection = \"inout\"";
const RING: &str = "[sequence]\nof = \"ring\"\nmakers = [\"ring_new\"]\noperations = [\"ring_push\", \"ring_pop\"]\n\
                    enders = [\"ring_free\", \"ring_close\"]\n";
const SUM: &str = "[sequence]\nof = \"sum\"\nby-caller = true\nmakers = [\"sum_begin\"]\noperations = [\"sum_add\"]\n\
                   enders = [\"sum_end\"]\n";

/// Name, what is returned, parameters, and what else stands in the contract.
const CONTRACTS: &[(&str, &str, Roles, &str)] = &[
    ("add", "value", &[("a", VALUE), ("b", VALUE)], ""),
    ("half", "value", &[("x", VALUE)], ""),
    (
        "widen",
        "nothing",
        &[
            ("to", "role = \"buffer\"\ndirection = \"out\"\nlength = \"n\"\nmax = 9"),
            ("from", DATA),
            ("n", LENGTH),
        ],
        "",
    ),
    (
        "invert",
        "nothing",
        &[("data", "role = \"buffer\"\ndirection = \"inout\"\nlength = \"n\"\nmax = 300"), ("n", LENGTH)],
        "",
    ),
    (
        "put",
        "value",
        &[("to", "role = \"buffer\"\ndirection = \"out\"\nlength = \"room\"\nmax = 9"), ("room", LENGTH)],
        "",
    ),
    ("measure", "value", &[("text", TEXT)], ""),
    ("move_", "value", &[("s", VALUE), ("c", "role = \"one-of\"\nvalues = [-1, 2]")], ""),
    (
        "turn",
        "nothing",
        &[("s", POINTER), ("by", "role = \"pointer\"\ndirection = \"in\"\nnullable = true")],
        "",
    ),
    (
        "scale",
        "nothing",
        &[("m", "role = \"fixed-array\"\ndirection = \"inout\"\nlen = 3"), ("all", DATA), ("n", LENGTH)],
        "",
    ),
    ("title", "static-string", &[("code", VALUE)], ""),
    ("find", "address", &[("data", DATA), ("n", LENGTH), ("what", VALUE)], ""),
    ("table", "table", &[("which", VALUE)], "elements = 4\n"),
    ("parse", "value", &[("text", "role = \"c-string\"\nmax = 9")], "errno = true\n"),
    ("set_mode", "value", &[("next", VALUE)], ""),
    ("longer", "address", &[("a", TEXT), ("b", TEXT)], ""),
    ("bits", "value", &[("x", VALUE)], ""),
    ("count", "nothing", &[("state", ROOM), ("other", ROOM)], ""),
    (
        "stretch",
        "nothing",
        &[("all", "role = \"buffer\"\ndirection = \"inout\"\nlength = \"n\"\nmax = 9999"), ("n", LENGTH)],
        "",
    ),
    ("ring_new", "handle", &[("n", VALUE)], RING),
    ("ring_push", "value", &[("r", USES), ("v", VALUE)], RING),
    ("ring_pop", "value", &[("r", USES), ("out", "role = \"pointer\"\ndirection = \"out\"")], RING),
    ("ring_free", "nothing", &[("r", "role = \"handle\"\nlife = \"ends\"")], RING),
    (
        "ring_close",
        "value",
        &[
            ("r", "role = \"handle\"\nlife = \"ends\""),
            ("note", "role = \"buffer\"\ndirection = \"out\"\nlength = \"n\"\nmax = 9\nnullable = true"),
            ("n", LENGTH),
        ],
        RING,
    ),
    ("sum_begin", "value", &[("s", "role = \"handle\"\nlife = \"makes\"")], SUM),
    ("sum_add", "value", &[("s", USES), ("data", DATA), ("n", LENGTH)], SUM),
    ("sum_end", "value", &[("s", "role = \"handle\"\nlife = \"ends\"")], SUM),
];

fn contract((name, returns, roles, rest): &(&str, &str, Roles, &str)) -> Contract {
    let params = roles.iter().map(|(name, role)| format!("[[param]]\nname = \"{name}\"\n{role}\n"));
    let (front, back) = if rest.starts_with('[') { ("", *rest) } else { (*rest, "") };
    let globals = "[[global]]\nname = \"mode\"\ndirection = \"inout\"\n";
    let globals = if *name == "set_mode" { globals } else { "" };
    let text = format!(
        "version = 1\nsymbol = \"{name}\"\nsignature = \"c\"\nreturns = \"{returns}\"\n{front}{}{globals}{back}",
        params.collect::<String>()
    );
    parse(&text, name).unwrap()
}

/// Inputs with what C leaves, by the function.
fn tests() -> Vec<(&'static str, Value, Value)> {
    let zebra: String = "zebra ".repeat(30);
    let striped: Vec<u8> = zebra.bytes().map(|byte| !byte).collect();
    let ring = json!({"call": "ring_new", "args": {"n": 2}});
    let made = json!({"call": "ring_new", "left": {"return": true}});
    let push = |r: u8, v: i32| json!({"call": "ring_push", "args": {"r": r, "v": v}});
    let pushed = json!({"call": "ring_push", "left": {"return": 0}});
    let popped = |v: i32| json!({"call": "ring_pop", "left": {"return": 0, "out": v}});
    let begin = json!({"call": "sum_begin"});
    let begun = json!({"call": "sum_begin", "left": {"return": 0}});
    let summed = |n: &str| json!({"call": "sum_add", "left": {"return": n}});
    vec![
        ("add", json!({"a": u32::MAX, "b": "-9223372036854775808"}), json!({"return": u32::MAX})),
        ("half", json!({"x": {"float": "nan"}}), json!({"return": {"bits": "0x7ff8000000000001"}})),
        ("half", json!({"x": {"float": "-0.0"}}), json!({"return": {"float": "-0.0"}})),
        ("half", json!({"x": 1e-3}), json!({"return": 5e-4})),
        ("widen", json!({"from": {"hex": "00ff7f"}}), json!({"to": [0, 255, 127]})),
        ("invert", json!({"data": "ab"}), json!({"data": {"hex": "9e9d"}})),
        ("invert", json!({"data": zebra}), json!({"data": striped})),
        (
            "put",
            json!({"to": {"room": 4, "fill": {"hex": "01020304"}}}),
            json!({"return": 0, "to": {"hex": "6f6b0304"}, "room": 2}),
        ),
        ("put", json!({"to": 0}), json!({"return": -1, "room": 0})),
        ("measure", json!({"text": "a\"\\\u{e9}"}), json!({"return": 5})),
        ("measure", json!({"text": null}), json!({"return": -1})),
        (
            "move_",
            json!({"s": {"x": 1.25, "grid": [1, -2], "color": 2}, "c": -1}),
            json!({"return": {"tag": 0, "x": 1.75, "grid": [1, -1], "color": -1}}),
        ),
        (
            "turn",
            json!({"s": {"tag": 1, "x": 0.0}, "by": {"tag": -128}}),
            json!({"s": {"tag": -128, "x": {"float": "-0.0"}, "grid": [0, 0], "color": 0}}),
        ),
        ("turn", json!({"s": {"x": 2}, "by": null}), json!({"s": {"tag": 110, "x": -2.0}})),
        (
            "scale",
            json!({"m": [1.5, {"float": "inf"}, 2], "all": [{"x": 2}, {"x": -1}], "n": 2}),
            json!({"m": [3, {"float": "-inf"}, 2]}),
        ),
        ("title", json!({"code": 0}), json!({"return": "fi\u{e9} \"0\""})),
        ("title", json!({"code": 1}), json!({"return": ""})),
        ("find", json!({"data": "abcb", "what": 98}), json!({"return": "`data` + 1"})),
        ("find", json!({"data": "", "what": 98}), json!({"return": "NULL"})),
        ("table", json!({"which": 1}), json!({"return": [0, 1, 4, 9]})),
        ("table", json!({"which": 0}), json!({"return": null})),
        ("parse", json!({"text": "12"}), json!({"return": 0, "errno": 22})),
        ("set_mode", json!({"next": 8}), json!({"return": 3, "$globals": {"mode": 8}})),
        ("set_mode", json!({"next": 9}), json!({"return": 3, "$globals": {"mode": 9}})),
        (
            "set_mode",
            json!({"next": 5, "$globals": {"mode": -6}}),
            json!({"return": -6, "$globals": {"mode": 5}}),
        ),
        // Equal texts are two.
        ("longer", json!({"a": "x", "b": "x"}), json!({"return": "`b` + 0"})),
        ("bits", json!({"x": {"bits": "0x7ff0000020000000"}}), json!({"return": 0x7f80_0001})),
        (
            "count",
            json!({"state": {"hex": "ff0000000000000009"}, "other": {"hex": "000000000000000009"}}),
            json!({"state": {"hex": "000100000000000009"}, "other": {"hex": "010000000000000009"}}),
        ),
        (
            "stretch",
            json!({"all": {"repeat": [{"x": 1, "grid": [1, 2]}, {"tag": 7}], "times": 2048}}),
            json!({"all": {"repeat": [{"x": 2, "grid": [1, 2]}, {"tag": 7}], "times": 2048}}),
        ),
        (
            "ring_new",
            json!({"args": {"n": 5}}),
            json!({"steps": [{"call": "ring_new", "left": {"return": false}}]}),
        ),
        (
            "ring_pop",
            json!({
                "make": ring,
                "before": [ring, push(0, 7), push(1, 8), {"call": "ring_free", "args": {"r": 0}}],
                "args": {"r": 0},
                "after": [{"call": "ring_free"}, push(0, 3)],
            }),
            json!({"steps": [
                made, made, pushed, pushed, {"call": "ring_free", "left": {}}, popped(8),
                {"call": "ring_free", "left": {}}, null,
            ]}),
        ),
        (
            "ring_push",
            json!({"make": ring, "args": {"v": -4}, "after": [{"call": "ring_pop"}]}),
            json!({"steps": [made, pushed, popped(-4), {"call": "ring_close", "left": {"return": 0, "note": "", "n": 0}}]}),
        ),
        (
            "sum_add",
            json!({"make": begin, "before": [begin], "args": {"s": 1, "data": "\u{1}\u{2}"}, "after": [
                {"call": "sum_end", "args": {"s": 1}}, {"call": "sum_add", "args": {"s": 1, "data": ""}},
            ]}),
            json!({"steps": [begun, begun, summed("103"), {"call": "sum_end", "left": {"return": 1}}, summed("100")]}),
        ),
    ]
}

/// Of what only has to be there: they hold for any port.
fn existence() -> [(&'static str, Value, Value); 3] {
    let layout = |of: &str| json!({"check": "layout", "of": of});
    [
        ("move_", json!({"check": "signature"}), Value::Null),
        ("move_", layout("spot"), json!({"size": 32, "align": 8})),
        ("ring_pop", layout("ring"), json!({"size": 24, "align": 8})),
    ]
}

/// The crate around the tests, with `off` in the place of 0 for functions that do something else than C.
fn write_crate(dir: &Path, ffi: &str, files: &BTreeMap<String, String>, off: i32) {
    let write = |path: &str, text: &str| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"shapes-port\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ndoctest = false\n\n\
         [dependencies]\nlibc = \"0.2\"\n\n[workspace]\n",
    );
    write("src/lib.rs", "#![allow(warnings)]\npub mod capi;\npub mod ffi;\npub mod globals;\n");
    write("src/ffi.rs", ffi);
    write("src/globals.rs", "pub static mut mode: i32 = 3;\n");
    write("src/capi.rs", &CAPI.replace("const OFF: i32 = 0;", &format!("const OFF: i32 = {off};")));
    for (symbol, text) in files {
        write(&format!("tests/testgen_{symbol}.rs"), text);
    }
}

/// Which tests passed and which did not, and everything that cargo said.
fn cargo_test(dir: &Path) -> (Vec<String>, Vec<String>, String) {
    let mut command = assert_cmd::Command::new(std::env::var_os("CARGO").unwrap());
    command.current_dir(dir).args(["test", "--offline", "--no-fail-fast"]).env_remove("RUSTFLAGS");
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("exported-target"));
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let ended = |how: &str| {
        let names = said.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(how));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    (ended(" ... ok"), ended(" ... FAILED"), said)
}

struct Known {
    contracts: Vec<Contract>,
    functions: Vec<(Function, CSignature)>,
}

impl Known {
    fn of(library: &Library, bindings: &Bindings) -> Self {
        let functions = CONTRACTS.iter().map(|(name, ..)| {
            let function = library.find(name).unwrap_or_else(|| panic!("{name}: {:?}", library.left_out));
            let names = function.params.iter().map(|param| param.name.as_str());
            let c = CSignature::of(&bindings.functions[&function.name].sig, names);
            (function.clone(), c.spelled_out(function, library))
        });
        Self { contracts: CONTRACTS.iter().map(contract).collect(), functions: functions.collect() }
    }

    fn bounds(&self) -> Vec<Bound<'_>> {
        let all = self.functions.iter().zip(&self.contracts);
        all.map(|((function, c), contract)| Bound { function, contract: Some(contract), c, shared: &[] })
            .collect()
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite exported -- --ignored"]
fn exported_tests_tell_a_right_port_from_a_wrong_one() {
    let scratch = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(scratch.path()).unwrap().canonicalize_utf8().unwrap();
    std::fs::write(root.join("shapes.c"), C).unwrap();
    let (library, bindings) = clib::read(&root, &config::C::default(), &clib::compilers()[0].1);
    let known = Known::of(&library, &bindings);
    let bounds = known.bounds();

    let mut files = BTreeMap::new();
    for bound in &bounds {
        let name = bound.function.name.as_str();
        let called = tests().into_iter().map(|test| (TestCategory::Correctness, test));
        let all =
            called.chain(existence().into_iter().map(|test| (TestCategory::Existence, test))).enumerate();
        let kept: Vec<GeneratedTest> = all
            .filter(|(_, (_, (of, ..)))| *of == name)
            .map(|(at, (category, (_, input, left)))| GeneratedTest {
                reasoning: "What C does */ \n is what counts.".into(),
                input,
                expected_output: Some(left),
                ..GeneratedTest::new(format!("{name} {at}"), category)
            })
            .collect();
        let source = Source { krate: "shapes-port", library: &library, bound: *bound, others: &bounds };
        let told = exported(&source, &kept.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((told.left_out, told.tests.len()), (vec![], kept.len()), "{name}");
        if !kept.is_empty() {
            files.insert(name.to_owned(), told.text);
        }
    }

    let dir = clib::scratch("exported");
    write_crate(&dir, &bindings.file, &files, 0);
    let (passed, failed, said) = cargo_test(&dir);
    let there = existence().len();
    assert_eq!((passed.len(), failed.as_slice()), (tests().len() + there, &[][..]), "{said}");
    assert!(!said.contains("warning"), "{said}");

    write_crate(&dir, &bindings.file, &files, 1);
    let (passed, failed, said) = cargo_test(&dir);
    assert_eq!((failed.len(), passed.len()), (tests().len(), there), "{said}");
    assert!(passed.iter().all(|name| name.starts_with("existence")), "{passed:?}");
    for what in [
        "return value of add",
        "`to` after widen",
        "`data` after invert",
        "`room` after put",
        "`.grid` of the return value of move_",
        "`s.x` after turn",
        "`m` after scale",
        "return value of find, in bytes from `data`",
        "errno after parse",
        "`mode` after set_mode",
        "return value of longer, in bytes from `b`",
        "`state` after count",
        "`all[0].x` after stretch",
        "`out` after ring_pop, call 6",
        "return value of sum_add, call 3",
    ] {
        assert!(said.contains(&format!(": {what}\n")), "{what} is not in\n{said}");
    }
}
