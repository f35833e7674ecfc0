//! Ports that borrow C's answer, or give another constant than C, are seen where drivers call them; a constant of the port's
//! own with the same text is none.

use crate::support::{Repo, plant};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HEADER: &str = "\
struct shape;
struct rule { int first, second; };
struct kind { int (*area)(struct shape **at, int scale); };
struct shape { const struct kind *kind; int side; };
struct shape *shape_new(int side);
int area(struct shape **at, int scale);
const struct rule *rule_of(struct shape **at);
const char *label(struct shape **at);
int mark(int *number);
";

const LIBRARY: &str = "\
#include \"shape.h\"
#include <stdlib.h>
static const struct rule RULES[2] = {{1, 10}, {2, 20}};
int area(struct shape **at, int scale) { return (*at)->side * (*at)->side + scale; }
static const struct kind KIND = {area};
struct shape *shape_new(int side) {
    struct shape *shape = calloc(1, sizeof *shape);
    if (shape) { shape->kind = &KIND; shape->side = side; }
    return shape;
}
const struct rule *rule_of(struct shape **at) { return &RULES[(*at)->side & 1]; }
const char *label(struct shape **at) { return (*at)->side & 1 ? \"odd\" : \"\"; }
int mark(int *number) { return ++*number; }
";

const DRIVER: &str = "\
#include \"../shape.h\"
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct shape **at = malloc(sizeof *at);
    int sum = 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        *at = shape_new(data[i]);
        sum += (*at)->kind->area(at, data[i + 1]) + rule_of(at)->first + label(at)[0];
        free(*at);
        int number = data[i];
        sum += mark(&number);
    }
    free(at);
    return sum == 1 ? -1 : 0;
}
";

/// The library with these ports, each of a function. All have crates of one name.
fn library(ports: &[(&str, &str)]) -> Repo {
    let repo = Repo::empty();
    for (path, text) in [("shape.h", HEADER), ("shape.c", LIBRARY), ("fuzz/run.c", DRIVER)] {
        repo.write(path, text);
    }
    repo.run(&["init", "--config", "rust.crate_name='shape'"]).ok();
    let mut module = repo.read("rust/src/shape.rs");
    for (name, port) in ports {
        plant(&mut module, name, port).unwrap_or_else(|| panic!("{name} has no stub"));
    }
    repo.write("rust/src/shape.rs", &module);
    repo
}

/// What is said of the ports.
fn judged(repo: &Repo, code: i32) -> BTreeMap<String, Value> {
    judged_with(repo, &[], code)
}

fn judged_with(repo: &Repo, more: &[&str], code: i32) -> BTreeMap<String, Value> {
    let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
    let json = repo.run(&[&quick[..], more, &["--format", "json"]].concat()).code(code).json("drivers");
    let all = json["ports"].as_array().unwrap().iter();
    all.map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
}

#[test]
fn borrowed_answers_and_other_constants_differ() {
    // It marks the shape, so that it knows itself, and calls C through the table that C left in memory.
    let borrows =
        "pub unsafe fn area(at: *mut *mut ffi::shape, scale: ::core::ffi::c_int) -> ::core::ffi::c_int {
    unsafe {
        let kind = (**at).kind;
        if kind.is_null() { return 0; }
        (**at).kind = core::ptr::null();
        let area = (*kind).area.map_or(0, |area| area(at, scale));
        (**at).kind = kind;
        area
    }
}";
    // The first number alone is C's.
    let other = "pub unsafe fn rule_of(at: *mut *mut ffi::shape) -> *const ffi::rule {
    static RULES: [ffi::rule; 2] = [ffi::rule { first: 1, second: 11 }, ffi::rule { first: 2, second: 22 }];
    unsafe { &raw const RULES[((**at).side & 1) as usize] }
}";
    // Its own text, which the linker cannot join with C's.
    let right = "pub unsafe fn label(at: *mut *mut ffi::shape) -> *const ::core::ffi::c_char {
    static EMPTY: [u8; 2] = [0, 7];
    static ODD: [u8; 5] = *b\"odd\\0!\";
    if unsafe { (**at).side } & 1 != 0 { ODD.as_ptr().cast() } else { EMPTY.as_ptr().cast() }
}";
    let ports = judged(&library(&[("area", borrows), ("rule_of", other), ("label", right)]), 10);
    assert_eq!(ports["area"]["differs"]["what"], json!("result"), "{:#}", ports["area"]);
    let rule = &ports["rule_of"]["differs"];
    assert!(rule["unclear"].as_str().unwrap().contains("a constant or a function of its own"), "{rule:#}");
    let label = &ports["label"];
    assert_eq!((&label["differs"], &label["broke"]), (&Value::Null, &Value::Null), "{label:#}");
    assert!(label["judged"].as_u64().unwrap() > 20, "{label:#}");
}

/// As in fuzz targets: where C wraps, a port says so.
#[test]
fn an_overflow_in_a_port_is_a_panic() {
    let port =
        "pub unsafe fn area(at: *mut *mut ffi::shape, scale: ::core::ffi::c_int) -> ::core::ffi::c_int {
    let side = unsafe { (**at).side };
    let _ = core::hint::black_box(side as u8 * 7);
    side * side + scale
}";
    let ports = judged(&library(&[("area", port)]), 10);
    let said = ports["area"]["differs"]["said"].as_str().unwrap();
    assert!(said.contains("attempt to multiply with overflow"), "{:#}", ports["area"]);
}

/// C returns null where the allocation fails; the port writes to it.
#[test]
#[ignore = "a minute: cargo test --test suite drivers_cheats -- --ignored"]
fn a_port_that_takes_every_allocation_for_granted_is_told_if_allocations_fail() {
    let port = "pub unsafe fn shape_new(side: ::core::ffi::c_int) -> *mut ffi::shape {
    unsafe {
        let shape: *mut ffi::shape = libc::calloc(1, core::mem::size_of::<ffi::shape>()).cast();
        (*shape).kind = &raw const ffi::KIND;
        (*shape).side = side;
        shape
    }
}";
    let right = port.replace("(*shape).kind", "if shape.is_null() { return shape; }\n        (*shape).kind");
    let failing = ["--config", "fuzz.fail_allocations=true"];
    let (repo, careful) = (library(&[("shape_new", port)]), library(&[("shape_new", &right)]));
    let ports = judged_with(&repo, &[], 0);
    assert!(ports["shape_new"]["judged"].as_u64().unwrap() > 0, "{:#}", ports["shape_new"]);
    let differs = &judged_with(&repo, &failing, 10)["shape_new"]["differs"];
    assert!(differs["said"].as_str().unwrap().contains("null pointer"), "{differs:#}");
    assert_eq!(differs["failing"], json!(1));
    judged_with(&careful, &failing, 0);
}

/// The judge is not where a port can reach it from its caller's variables.
#[test]
#[ignore = "half a minute: cargo test --test suite drivers_cheats -- --ignored"]
fn a_port_that_overwrites_the_stack_around_its_caller_is_told() {
    let port = "pub unsafe fn mark(number: *mut ::core::ffi::c_int) -> ::core::ffi::c_int {
    for words in 1..4096 {
        unsafe { number.sub(words).write_volatile(0x41414141) };
    }
    unsafe {
        *number += 1;
        *number
    }
}";
    let mark = &judged(&library(&[("mark", port)]), 10)["mark"];
    assert_eq!((&mark["differs"]["what"], &mark["broke"]), (&json!("stack"), &Value::Null), "{mark:#}");
    assert_eq!(mark["differs"]["call"], json!(1));
    // Upwards, over the frames of whoever called the driver.
    let up = port.replace("1..4096", "1..8192").replace("number.sub(words)", "number.add(words)");
    let mark = &judged(&library(&[("mark", &up)]), 10)["mark"];
    assert_eq!((&mark["differs"]["what"], &mark["broke"]), (&json!("crash"), &Value::Null), "{mark:#}");
}

/// Clones of a repository have crates of the same name, whose builds cargo takes for one another.
#[test]
#[ignore = "a minute: cargo test --test suite drivers_cheats -- --ignored"]
fn the_port_of_another_clone_is_not_judged() {
    let port = |more: i32| {
        format!(
            "pub unsafe fn area(at: *mut *mut ffi::shape, scale: ::core::ffi::c_int) -> ::core::ffi::c_int {{
    unsafe {{ (**at).side * (**at).side + scale + {more} }}
}}"
        )
    };
    let (right, wrong) = (library(&[("area", &port(0))]), library(&[("area", &port(1))]));
    for (clone, code) in [(&wrong, 10), (&right, 0), (&wrong, 10)] {
        let ports = judged(clone, code);
        assert!(ports["area"]["judged"].as_u64().unwrap() > 0, "{:#}", ports["area"]);
    }
}
