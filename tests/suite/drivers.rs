//! Drivers of a library: what they reach, and how well functions can be judged inside of their executions. The library in
//! `drivers/` has a growing table, lists, callbacks, a variadic function and one that prints.

use crate::support::clib::copy_tree;
use crate::support::{Repo, plant, reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The library after `init`.
pub fn store() -> Repo {
    let repo = Repo::empty();
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/drivers"), repo.root());
    repo.run(&["init"]).ok();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nfunction_seconds = 1\n"));
    repo
}

/// The library with the driver that reaches all that the other one reaches.
fn with_one_driver() -> Repo {
    let repo = store();
    std::fs::remove_file(repo.root().join("fuzz/words.cc")).unwrap();
    repo
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers -- --ignored"]
fn functions_are_judged_where_drivers_call_them() {
    let repo = store();
    let ran = repo.run(&["drivers", "--seconds", "3", "--check", "--format", "json"]);
    let json = ran.ok().json("drivers");
    let drivers = json["drivers"].as_array().unwrap();
    assert_eq!(drivers.len(), 2, "{json:#}");
    assert_eq!((&drivers[0]["file"], &drivers[1]["file"]), (&json!("fuzz/names.c"), &json!("fuzz/words.cc")));
    assert_eq!((&drivers[0]["language"], &drivers[1]["language"]), (&json!("C"), &json!("C++")));
    // Statics, what is inline in a header, and what is always inlined are seen too.
    let reached = words(&drivers[0]["reached"]);
    for name in ["mix", "grow", "link_item", "store_is_empty", "store_note", "store_dump", "store_free"] {
        assert!(reached.contains(&name), "{name}: {json:#}");
    }
    assert!(!words(&drivers[1]["reached"]).contains(&"store_remove"), "{json:#}");
    assert_eq!(
        json["unreached"],
        json!([
            { "symbol": "merge_item", "nearest_caller": null, "named_by": null },
            { "symbol": "store_merge", "nearest_caller": null, "named_by": null },
        ])
    );
    assert_eq!(json["not_judged"], json!({ "store_note": "variadic" }));

    let measured = json["in_place"].as_array().unwrap();
    let measured: BTreeMap<&str, &Value> =
        measured.iter().map(|one| (one["symbol"].as_str().unwrap(), one)).collect();
    for (name, one) in &measured {
        assert_eq!((&one["differs"], &one["broke"]), (&Value::Null, &Value::Null), "{name}: {json:#}");
    }
    // Pointers to pointers, lists and callbacks are no obstacle.
    for name in
        ["mix", "hash_of", "grow", "link_item", "store_find", "store_add", "store_remove", "store_load"]
    {
        let one = measured[name];
        let (killed, mutants) = (one["killed"].as_u64().unwrap(), one["mutants"].as_u64().unwrap());
        assert!(one["judged"].as_u64().unwrap() > 20 && mutants > 0, "{name}: {one}");
        assert!(killed * 10 >= mutants * 7, "{name}: {one}");
    }
    // A mutant that prints other bytes differs.
    let dump = measured["store_dump"];
    assert_eq!((&dump["outside"], &dump["killed"]), (&Value::Null, &dump["mutants"]), "{dump}");
}

#[test]
fn inputs_on_which_c_breaks_are_kept_apart() {
    let repo = store();
    let driver = repo.read("fuzz/names.c").replace(
        "    unsigned seen = 1;\n",
        "    unsigned seen = 1;\n    if (size > 1 && data[0] == 'X' && data[1] % 2)\n        *(volatile int *)0 = 1;\n",
    );
    repo.write("fuzz/names.c", &driver);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}files = [\"fuzz/names.c\"]\nseconds = 4\n"));
    let json = repo.run(&["drivers", "--format", "json"]).ok().json("drivers");
    let drivers = json["drivers"].as_array().unwrap();
    assert_eq!(drivers.len(), 1);
    let breaking = words(&drivers[0]["breaking"]);
    assert!(!breaking.is_empty(), "{json:#}");
    for path in breaking {
        assert_eq!(std::fs::read(path).unwrap()[0], b'X', "{path}");
    }
    assert!(words(&drivers[0]["reached"]).contains(&"store_add"), "{json:#}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers -- --ignored"]
fn a_driver_by_hand_starts_from_a_skeleton() {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.run(&["drivers"]).fails(2, &["LLVMFuzzerTestOneInput", "drivers --new"]);
    // No contract describes what this header declares.
    repo.write("none.h", "struct store;\n");
    repo.run(&["drivers", "--new", "mine", "--header", "none.h"]).ok().shows("fill it in");
    let ran = repo.run(&["drivers", "--seconds", "1"]);
    assert!(ran.ok().stdout.contains("reached: 0 of 16 functions"), "{ran}");
    // To judge nothing is no success.
    repo.run(&["drivers", "--seconds", "1", "--ports"]).code(11).shows("no driver reaches a port");
    repo.run(&["drivers", "--new", "../mine"]).fails(2, &["cannot be the name"]);
    // What a person wrote stays.
    repo.run(&["drivers", "--new", "mine"]).fails(2, &["fuzz/mine.c exists already"]);
    // Where all inputs do the same, one is enough.
    repo.write(
        "fuzz/mine.c",
        "#include \"../store.h\"\n#include <stdint.h>\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n    (void)data, (void)size;\n    \
         store_free(store_new(0, 0));\n    return 0;\n}\n",
    );
    let ran = repo.run(&["drivers", "--seconds", "1"]);
    assert!(ran.ok().stdout.contains("reached: 2 of 16 functions"), "{ran}");
}

/// The right ports, with these changes: function, old text, new text.
fn ports(wrong: &[(&str, &str, &str)]) -> Vec<(String, String)> {
    let text = include_str!("drivers_ports/right.rs");
    let named = text.split("\n\n").skip(1).map(|port| {
        let name = port.split("fn ").nth(1).unwrap().split('(').next().unwrap();
        let mut port = port.to_owned();
        for (_, old, new) in wrong.iter().filter(|(function, _, _)| *function == name) {
            assert!(port.contains(old), "{name}: {old}");
            port = port.replace(old, new);
        }
        (name.to_owned(), port)
    });
    named.collect()
}

/// The right port of a function.
pub fn right_port(function: &str) -> String {
    ports(&[]).into_iter().find_map(|(name, port)| (name == function).then_some(port)).unwrap()
}

/// Writes the ports in place of their stubs.
pub fn write_ports(repo: &Repo, wrong: &[(&str, &str, &str)]) {
    let mut module = repo.read("rust/src/store.rs");
    for (name, text) in ports(wrong) {
        plant(&mut module, &name, &text).unwrap_or_else(|| panic!("{name} has no stub"));
    }
    repo.write("rust/src/store.rs", &module);
}

/// What `drivers --ports` says of each port; the exit code is 10 if one differs.
fn judged(wrong: &[(&str, &str, &str)]) -> BTreeMap<String, Value> {
    let repo = with_one_driver();
    write_ports(&repo, wrong);
    let ran = repo.run(&["drivers", "--seconds", "1", "--ports", "--format", "json"]);
    let json = ran.code(if wrong.is_empty() { 0 } else { 10 }).json("drivers");
    let all = json["ports"].as_array().unwrap().iter();
    all.map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
}

#[test]
fn right_ports_are_the_same_in_place() {
    let ports = judged(&[]);
    assert_eq!(ports.len(), 7);
    for (name, port) in &ports {
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{name}: {port}");
        assert!(port["judged"].as_u64().unwrap() > 20, "{name}: {port}");
    }
}

/// All of these differ, and each in the way that is expected.
#[track_caller]
fn all_differ(wrong: &[(&str, &str, &str, &str)]) -> BTreeMap<String, Value> {
    let changes: Vec<(&str, &str, &str)> =
        wrong.iter().map(|(name, old, new, _)| (*name, *old, *new)).collect();
    let ports = judged(&changes);
    for (name, _, _, what) in wrong {
        let port = &ports[*name];
        assert_eq!(port["differs"]["what"], json!(what), "{name}: {port}");
        assert!(Path::new(port["differs"]["input"].as_str().unwrap()).is_absolute(), "{name}: {port}");
        assert!(port["differs"]["call"].as_u64().unwrap() > 0, "{name}: {port}");
    }
    ports
}

#[test]
fn wrong_ports_differ_in_place() {
    let count = "(*store).count as f64";
    all_differ(&[
        ("link_item", "(*item).next = *slot;", "", "memory"),
        ("store_load", count, "static mut N: u64 = 0; N += 1; (*store).count as f64", "variable"),
        ("store_remove", "libc::free(item.cast());", "", "allocation"),
        ("store_kind", "c\"open\"", "c\"other\"", "result"),
    ]);
    // These in another run, because a port is judged with the ports that it calls.
    let size = "(*store).size = size;";
    all_differ(&[
        // A write to a block that is free.
        (
            "store_remove",
            "libc::free(item.cast());",
            "libc::free(item.cast()); (*item).length = 7;",
            "memory",
        ),
        (
            "grow",
            size,
            "core::mem::forget(core::hint::black_box(vec![0u8; 9])); (*store).size = size;",
            "rust-heap",
        ),
    ]);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers -- --ignored"]
fn ports_that_do_not_return_differ_in_place() {
    all_differ(&[
        ("mix", "let mut hash", "assert!(byte % 16 != 3, \"no such byte\"); let mut hash", "exit"),
        ("grow", "(*store).size = size;", "loop { core::hint::spin_loop() }", "hang"),
        ("store_load", "(*store).count as f64", "*(8 as *const usize) as f64", "crash"),
        ("store_remove", "(*store).count -= 1;", "libc::exit(0);", "exit"),
    ]);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers -- --ignored"]
fn memory_that_a_port_does_not_write_is_no_zero() {
    let calloc = "libc::calloc(size, core::mem::size_of::<*mut ffi::item>())";
    let malloc = "libc::malloc(size * core::mem::size_of::<*mut ffi::item>())";
    all_differ(&[("grow", calloc, malloc, "memory"), ("mix", "hash >> 15", "hash >> 14", "result")]);
}

#[test]
fn values_that_differ_are_shown() {
    let spare = "let spare = core::hint::black_box(libc::malloc(9)).cast::<u8>();";
    let ports = all_differ(&[
        // One too many: no count is too small for that.
        ("store_remove", "(*store).count -= 1;", "", "memory"),
        ("store_load", "count as f64 /", "count as f64 * 2.0 /", "result"),
        // Another block may be right; a write behind it is not.
        (
            "grow",
            "let slots",
            &format!("{spare} spare.add(9).write_volatile(7); libc::free(spare.cast());\n    let slots"),
            "memory",
        ),
    ]);
    writes_behind(&ports["grow"], 9);
    let shown = |name: &str, path: &str| {
        let differs = &ports[name]["differs"];
        assert_eq!(differs["path"], json!(path), "{differs}");
        ["c", "port"].map(|side| differs[side].as_str().unwrap().parse::<f64>().unwrap())
    };
    let [c, port] = shown("store_remove", "store->count");
    assert_eq!(c + 1.0, port);
    let [c, port] = shown("store_load", "return value");
    assert_eq!(c * 2.0, port);
}

/// The port is wrong for certain, because it writes behind a block of so many bytes.
#[track_caller]
fn writes_behind(port: &Value, bytes: usize) {
    let differs = &port["differs"];
    assert_eq!(differs["unclear"], Value::Null, "{differs}");
    assert_eq!(differs["said"], json!(format!("it writes behind a block of {bytes} bytes")), "{differs}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers -- --ignored"]
fn a_write_behind_a_block_is_wrong_wherever_the_block_is() {
    // The table has a byte less than C's, and is written whole. Addresses and contents are those of C.
    let calloc = "libc::calloc(size, core::mem::size_of::<*mut ffi::item>())";
    let short = "{ let bytes = size * core::mem::size_of::<*mut ffi::item>(); let all = libc::malloc(bytes - 1);\n    \
                 for at in 0..bytes { all.cast::<u8>().add(at).write_volatile(0) }\n    all }";
    let ports = all_differ(&[("grow", calloc, short, "memory")]);
    let said = ports["grow"]["differs"]["said"].as_str().unwrap();
    let bytes =
        said.split(' ').rev().nth(1).and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    writes_behind(&ports["grow"], bytes);
    assert_eq!(bytes % 8, 7);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers -- --ignored"]
fn what_may_be_right_is_not_called_wrong() {
    let repo = with_one_driver();
    // The new table lies elsewhere than C's.
    let other = (
        "grow",
        "let slots",
        "let spare = core::hint::black_box(libc::malloc(size.wrapping_mul(8)));\n    let slots",
    );
    let end = ("grow", "(*store).size = size;", "libc::free(spare); (*store).size = size;");
    write_ports(&repo, &[other, end]);
    let ran = repo.run(&["drivers", "--seconds", "1", "--ports", "--format", "json"]);
    let json = ran.code(11).json("drivers");
    let grow = json["ports"].as_array().unwrap().iter().find(|port| port["symbol"] == json!("grow")).unwrap();
    assert_eq!(grow["differs"]["what"], json!("memory"), "{grow:#}");
    assert!(grow["differs"]["unclear"].as_str().unwrap().contains("allocates in another way"), "{grow:#}");
    let json = repo.run(&["verify", "grow", "--format", "json"]).code(11).json("verify");
    assert_eq!(json["symbols"][0]["grade"], json!("unverifiable"), "{json:#}");
    assert!(json["symbols"][0]["reason"].as_str().unwrap().contains("allocates in another way"), "{json:#}");
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers -- --ignored"]
fn drivers_give_the_evidence_that_no_harness_can() {
    let repo = store();
    write_ports(&repo, &[]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}seconds = 2\n[grade]\nexecutions = 300\n"));
    let verify = || {
        let ran = repo.run(&["verify", "link_item", "store_remove", "--runs", "400", "--format", "json"]);
        ran.ok().json("verify")
    };
    let json = verify();
    let (link, remove) = (&json["symbols"][0], &json["symbols"][1]);
    // Pointers to pointers keep it from having a harness.
    assert_eq!((&link["symbol"], &link["grade"]), (&json!("link_item"), &json!("verified")), "{json:#}");
    assert!(link["in_place"].as_u64().unwrap() >= 300 && link["executions"] == json!(0), "{link:#}");
    for proof in ["kills", "apart", "branches"] {
        let share = &link["proofs"][proof]["yes"];
        assert!(
            share["total"].as_u64().unwrap() > 0 && share["reached"] == share["total"],
            "{proof}: {link:#}"
        );
    }
    // Its last branches need a state that the drivers do not make.
    assert_eq!(remove["grade"], json!("weak"), "{json:#}");
    assert!(remove["reason"].as_str().unwrap().contains("branches of C reached"), "{json:#}");
    let lock = repo.read("implfuzz.lock");
    assert!(lock.contains("driver-files = [\"fuzz/names.c\", \"fuzz/words.cc\"]"), "{lock}");

    // The evidence is about the drivers, too.
    repo.run(&["check"]).code(11).shows("evidence holds for 2 of 7 ports (1 verified, 1 weak)");
    let driver = repo.read("fuzz/names.c");
    repo.write("fuzz/names.c", &format!("{driver}\n/* changed */\n"));
    repo.run(&["check"]).code(11).shows("evidence holds for 2 of 7 ports");
    repo.write("fuzz/names.c", &format!("{driver}\nint changed;\n"));
    repo.run(&["check"]).code(11).shows(
        "link_item: stale: since it was judged, one of the drivers fuzz/names.c, fuzz/words.cc or a file that they include changed",
    );
    repo.write("fuzz/names.c", &driver);
    repo.run(&["check"]).code(11).shows("evidence holds for 2 of 7 ports");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers -- --ignored"]
fn a_model_ports_what_no_harness_can_judge() {
    let repo = with_one_driver();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}seconds = 2\n[grade]\nexecutions = 300\n"));
    let right = right_port("link_item");
    let wrong = right.replace("(*item).next = *slot;", "");
    repo.model(&[&reply(&wrong), &reply(&right)]);
    repo.run(&["list", "link_item"]).ok().shows("not run yet");
    // What the user leaves out stays out, although drivers reach it.
    let left_out = ["port", "link_item", "--config", "symbols.link_item.skip=true", "--format", "json"];
    let left = repo.run(&left_out).code(11).json("port")["symbols"][0].clone();
    assert_eq!((&left["end"], repo.asked()), (&json!("not-judgeable"), 0), "{left:#}");
    assert_eq!(left["reason"], "skipped in implfuzz.toml: no reason given");
    let json = repo.run(&["port", "link_item", "--format", "json"]).ok().json("port");
    let port = &json["symbols"][0];
    assert_eq!((&port["end"], &port["grade"]), (&json!("accepted"), &json!("verified")), "{json:#}");
    assert!(port["in_place"].as_u64().unwrap() >= 300 && port["executions"] == json!(0), "{json:#}");
    // A driver refuted the first answer. The second question says so.
    assert_eq!(repo.asked(), 2);
    assert!(repo.prompt(1).contains("Programs that use the library judge the port"), "{}", repo.prompt(1));
    assert!(repo.prompt(2).contains("The candidate is refuted (mismatch): item->next"), "{}", repo.prompt(2));
    let committed = repo.root().join("rust/fuzz/seeds/drivers");
    assert_eq!(std::fs::read_dir(&committed).unwrap().count(), 1);
    repo.run(&["port", "link_item", "--explain"]).ok().shows("passed the linkage proof");
    repo.run(&["check"]).ok().shows("evidence holds for 1 of 1 port");
    repo.run(&["list", "store_merge"]).ok().shows("not reached");
    repo.run(&["status"])
        .code(11)
        .shows("no driver reaches it")
        .shows("drivers reach it: `port` and `verify`");
    // A second run builds on it without asking again.
    let json = repo.run(&["port", "link_item", "--format", "json"]).ok().json("port");
    assert_eq!((&json["symbols"][0]["end"], repo.asked()), (&json!("already-ported"), 2), "{json:#}");
    let json = repo.run(&["port", "link_item", "--redo", "--format", "json"]).ok().json("port");
    assert_eq!((&json["symbols"][0]["end"], repo.asked()), (&json!("accepted"), 3), "{json:#}");
    // Without its drivers there is no evidence, and the reason names them.
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.run(&["verify", "link_item"]).code(11).shows("it was judged with fuzz/names.c");
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers -- --ignored"]
fn a_finding_in_place_is_kept_and_run_again() {
    let repo = with_one_driver();
    let stubs = repo.read("rust/src/store.rs");
    let wrong = ("link_item", "(*item).next = *slot;", "");
    write_ports(&repo, &[wrong]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}seconds = 2\n[grade]\nexecutions = 300\n"));
    let ran = repo.run(&["verify", "link_item"]);
    ran.code(10).shows("mismatch in link_item: item->next").shows("of the driver fuzz/");
    let found = repo.run(&["findings", "list", "--format", "json"]).ok().json("findings");
    let found = &found["findings"][0];
    let place = &found["finding"]["place"];
    assert!(place["call"].as_u64().unwrap() > 0, "{found:#}");
    // The input is committed for its driver.
    let driver = place["driver"].as_str().unwrap();
    let folder = driver.split('.').next().unwrap().replace('/', "-");
    let committed = repo.root().join("rust/fuzz/seeds/drivers").join(folder);
    assert_eq!(std::fs::read_dir(&committed).unwrap().count(), 1, "{}", committed.display());
    let id = found["id"].to_string();
    repo.run(&["findings", "replay", &id]).code(10).shows("still differs");
    repo.run(&["check"]).code(10).shows("link_item: refuted: mismatch: item->next");
    // Mended, it is judged on that input.
    repo.write("rust/src/store.rs", &stubs);
    write_ports(&repo, &[]);
    repo.run(&["findings", "replay", &id]).ok().shows("now agrees with the C original");
    let json = repo.run(&["verify", "link_item", "--format", "json"]).ok().json("verify");
    assert_eq!(json["symbols"][0]["grade"], json!("verified"), "{json:#}");
}
