//! Functions that write to the streams of the system, that keep the address of another function, and that end the
//! program: their ports may do the same, and are judged at the calls of drivers.

use crate::support::{Repo, plant};
use serde_json::{Value, json};

const HEADER: &str = "\
typedef unsigned (*rule)(unsigned);
struct log { unsigned count, level; rule rule; };
unsigned twice(unsigned value);
unsigned thrice(unsigned value);
void complain(struct log *log, unsigned code);
void begin(struct log *log, rule rule);
unsigned loud(unsigned value);
void amplify(struct log *log);
void check(struct log *log, unsigned code);
unsigned bounded(unsigned char value);
";

const LIBRARY: &str = "\
#include \"log.h\"
#include <stdio.h>
#include <stdlib.h>
unsigned twice(unsigned value) { return value * 2; }
unsigned thrice(unsigned value) { return value * 3; }
void complain(struct log *log, unsigned code) {
    if (code % 2) fprintf(stderr, \"code %u of level %u\\n\", code, log->level);
    log->count++;
}
void begin(struct log *log, rule rule) {
    log->rule = rule ? rule : twice;
    log->level = 1;
}
unsigned loud(unsigned value) {
    fprintf(stderr, \"!\");
    return value;
}
void amplify(struct log *log) { log->rule = loud; }
void check(struct log *log, unsigned code) {
    log->level = code;
    if (code > 200) {
        fprintf(stderr, \"too much: %u\\n\", code);
        exit((int)(code % 3));
    }
    log->count += code;
}
unsigned bounded(unsigned char value) {
    if (value > 200) exit(2);
    return value * 2u;
}
";

const DRIVER: &str = "\
#include \"../log.h\"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
static unsigned other(unsigned value) { return value + 1; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct log *log = calloc(1, sizeof *log);
    for (size_t at = 0; log && at < size; at++) {
        begin(log, data[at] % 3 ? NULL : other);
        complain(log, log->rule(data[at]) + thrice(data[at]));
        amplify(log);
        log->count += log->rule(data[at]);
        check(log, data[at]);
    }
    free(log);
    return 0;
}
";

const TWICE: &str = "pub fn twice(value: u32) -> u32 { value.wrapping_mul(2) }";
const THRICE: &str = "pub fn thrice(value: u32) -> u32 { value.wrapping_mul(3) }";
const COMPLAIN: &str = "pub unsafe fn complain(log: *mut ffi::log, code: u32) {
    // SAFETY: C passes a log, and the stream is open.
    unsafe {
        if code % 2 != 0 {
            libc::fprintf(globals::stderr, c\"code %u of level %u\\n\".as_ptr(), code, (*log).level);
        }
        (*log).count = (*log).count.wrapping_add(1);
    }
}";
const BEGIN: &str = "pub unsafe fn begin(log: *mut ffi::log, rule: ffi::rule) {
    // SAFETY: C passes a log.
    unsafe {
        (*log).rule = rule.or(Some(crate::capi::twice));
        (*log).level = 1;
    }
}";
const CHECK: &str = "pub unsafe fn check(log: *mut ffi::log, code: u32) {
    // SAFETY: C passes a log, and the stream is open.
    unsafe {
        (*log).level = code;
        if code > 200 {
            libc::fprintf(globals::stderr, c\"too much: %u\\n\".as_ptr(), code);
            libc::exit((code % 3) as i32);
        }
        (*log).count = (*log).count.wrapping_add(code);
    }
}";
const LOUD: &str = "pub unsafe fn loud(value: u32) -> u32 {
    // SAFETY: the stream is open.
    unsafe { libc::fprintf(globals::stderr, c\"!\".as_ptr()) };
    value
}";
const AMPLIFY: &str = "pub unsafe fn amplify(log: *mut ffi::log) {
    // SAFETY: C passes a log.
    unsafe { (*log).rule = Some(crate::capi::loud) }
}";
const PORTS: [(&str, &str); 7] = [
    ("twice", TWICE),
    ("thrice", THRICE),
    ("complain", COMPLAIN),
    ("begin", BEGIN),
    ("loud", LOUD),
    ("amplify", AMPLIFY),
    ("check", CHECK),
];

/// The library with its stubs.
fn library() -> Repo {
    Repo::of(&[("log.h", HEADER), ("log.c", LIBRARY), ("fuzz/run.c", DRIVER)])
}

/// Writes the ports, some of them changed, in the place of these stubs.
fn write(repo: &Repo, stubs: &str, changes: &[(&str, &str, &str, &str)]) {
    let mut module = stubs.to_owned();
    for (name, text) in PORTS {
        let mut text = text.to_owned();
        for (_, from, to, _) in changes.iter().filter(|change| change.0 == name) {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        plant(&mut module, name, &text).unwrap_or_else(|| panic!("{name}: {module}"));
    }
    repo.write("rust/src/log.rs", &module);
}

/// The library with its ports, some of them changed.
fn repo(changes: &[(&str, &str, &str, &str)]) -> Repo {
    let repo = library();
    write(&repo, &repo.read("rust/src/log.rs"), changes);
    repo
}

fn port(json: &Value, name: &str) -> Value {
    json["ports"].as_array().unwrap().iter().find(|port| port["symbol"] == name).unwrap().clone()
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers_ends -- --ignored"]
fn ports_that_print_and_end_the_program_like_c_are_verified() {
    let repo = repo(&[]);
    let config = repo.read("implfuzz.toml");
    repo.write(
        "implfuzz.toml",
        &format!("{config}\n[drivers]\nseconds = 2\nfunction_seconds = 2\n[grade]\nexecutions = 100\n"),
    );
    let json = repo.run(&["drivers", "--ports", "--check", "--format", "json"]).ok().json("drivers");
    for driver in json["drivers"].as_array().unwrap() {
        assert_eq!(driver["breaking"], json!([]), "{json:#}");
    }
    for (name, _) in PORTS {
        let port = port(&json, name);
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{json:#}");
        assert!(port["judged"].as_u64().unwrap() > 20, "{json:#}");
    }
    // The end of the program kills mutants.
    let checked = json["in_place"].as_array().unwrap().iter().find(|one| one["symbol"] == "check").unwrap();
    assert!(checked["killed"].as_u64().unwrap() > 3, "{checked:#}");
    // All branches must be reached for this grade, those with the end of the program, too.
    let counting = || {
        let program = repo.root().join(".implfuzz/cache/drivers/branches/in-place-run");
        program.metadata().unwrap().modified().unwrap()
    };
    let mut built = Vec::new();
    for names in [&["complain"][..], &["begin", "loud", "amplify"], &["check"]] {
        let ran = repo.run(&[&["verify"], names, &["--seconds", "2", "--format", "json"]].concat());
        let verdict = ran.json("verify");
        for at in 0..names.len() {
            assert_eq!(verdict["symbols"][at]["grade"], "verified", "{verdict:#}");
        }
        built.push(counting());
    }
    // Where only a harness judges, nothing says what the port does where C ends the program.
    let mut module = repo.read("rust/src/log.rs");
    let bounded = "pub fn bounded(value: u8) -> u32 { if value > 200 { 0 } else { u32::from(value) * 2 } }";
    plant(&mut module, "bounded", bounded).unwrap();
    repo.write("rust/src/log.rs", &module);
    let verdict = repo.run(&["verify", "bounded", "--format", "json"]).json("verify");
    let row = &verdict["symbols"][0];
    let why = row["reason"].as_str().unwrap();
    assert!(row["grade"] == "weak" && why.contains("C ends the program on"), "{row:#}");
    // C's branches are counted by one program, until C changes.
    assert!(built[1..].iter().all(|time| *time == built[1]), "{built:?}");
    repo.write("log.c", &format!("{LIBRARY}int more(void) {{ return 1; }}\n"));
    repo.run(&["init"]).ok();
    repo.run(&["verify", "check", "--seconds", "2"]);
    assert_ne!(counting(), built[1]);
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers_ends -- --ignored"]
fn ports_that_print_keep_or_end_otherwise_differ() {
    let repo = library();
    let stubs = repo.read("rust/src/log.rs");
    for changes in [
        &[
            ("complain", "code %u of", "kode %u of", "outside"),
            ("begin", "capi::twice", "capi::thrice", "memory"),
            ("check", "code % 3) as", "code % 4) as", "exit"),
        ][..],
        &[
            ("complain", "fprintf(globals::stderr, ", "printf(", "outside"),
            ("begin", "rule.or(Some(crate::capi::twice))", "rule", "memory"),
            ("check", "libc::exit((code % 3) as i32);", "return;", "outside"),
        ],
        &[
            ("complain", "code % 2 != 0", "code % 2 != 0 && code != 5", "outside"),
            ("amplify", "capi::loud", "capi::thrice", "memory"),
            ("check", "code > 200", "code > 199", "outside"),
        ],
        // A block that the port writes behind, before it ends like C.
        &[("check", "libc::exit(", "*log.add(1).cast::<u8>() = 7; libc::exit(", "memory")],
    ] {
        write(&repo, &stubs, changes);
        let json =
            repo.run(&["drivers", "--seconds", "2", "--ports", "--format", "json"]).code(10).json("drivers");
        for (name, from, to, what) in changes {
            let differs = &port(&json, name)["differs"];
            assert_eq!(
                (&differs["what"], &differs["unclear"]),
                (&json!(what), &Value::Null),
                "{from} -> {to}: {json:#}"
            );
        }
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_ends -- --ignored"]
fn what_a_port_leaves_where_both_end_the_program_may_be_right() {
    let repo = repo(&[("check", "(*log).level = code;", "if code <= 200 { (*log).level = code; }", "")]);
    let json =
        repo.run(&["drivers", "--seconds", "2", "--ports", "--format", "json"]).code(11).json("drivers");
    let differs = &port(&json, "check")["differs"];
    assert!(differs["unclear"].as_str().unwrap().contains("where both end the program"), "{json:#}");
}
