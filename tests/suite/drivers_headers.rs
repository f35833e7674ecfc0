//! Functions of headers, of which each program has copies of its own: they are called and judged there, too.

use crate::support::{Repo, plant};
use serde_json::{Value, json};

const HEADER: &str = "\
#include <stddef.h>
typedef struct { int kind, count; } shape;
shape *shape_new(int kind);
void shape_free(shape *old);
static inline int shape_kind(const shape *of) { return of->kind > 3 ? 3 : of->kind; }
static inline __attribute__((always_inline)) unsigned half(unsigned x) { return x / 2; }
#ifndef SHAPE_SIDES
#define SHAPE_SIDES 4
#endif
static inline int sides_of(int kind) { return kind * SHAPE_SIDES; }
static int last;
static inline int next_of(int x) { last = (last + x) & 7; return last; }
";

const SOURCE: &str = "\
#include \"shapes.h\"
#include <stdlib.h>
shape *shape_new(int kind)
{
    shape *new = calloc(1, sizeof(shape));
    if (new) new->kind = next_of(kind);
    return new;
}
void shape_free(shape *old) { free(old); }
";

const CPP: &str = "\
#include <cstdint>
extern \"C\" {
#include \"../shapes.h\"
}
extern \"C\" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned sum = 0;
    for (size_t at = 0; at < size; at++) sum += half(data[at]);
    return sum == 1 ? -1 : 0;
}
";

fn one<'v>(all: &'v Value, name: &str) -> &'v Value {
    all.as_array()
        .unwrap()
        .iter()
        .find(|one| one["symbol"] == name)
        .unwrap_or_else(|| panic!("{name} in {all:#}"))
}

#[test]
fn functions_of_headers_are_called_and_judged_in_the_copies_of_a_driver() {
    let repo = Repo::of(&[("shapes.h", HEADER), ("shapes.c", SOURCE)]);
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of shapes.h that it calls: 5");
    let text = repo.read("fuzz/calls.c");
    assert!(text.contains("shape_kind(") && text.contains("half(") && !text.contains("next_of("), "{text}");
    let quick = ["drivers", "--seconds", "1", "--config", "drivers.function_seconds=1", "--format", "json"];
    let json = repo.run(&[&quick[..], &["--check"]].concat()).ok().json("drivers");
    for name in ["shape_kind", "half"] {
        let measured = one(&json["in_place"], name);
        assert!(measured["judged"].as_u64().unwrap() > 10, "{measured:#}");
        assert!(measured["killed"].as_u64().unwrap() > 0, "{measured:#}");
        assert_eq!(measured["differs"], Value::Null, "{measured:#}");
    }
    assert!(!json["unreached"].as_array().unwrap().iter().any(|one| one["symbol"] == "half"), "{json:#}");

    // In C++, too.
    std::fs::remove_file(repo.root().join("fuzz/calls.c")).unwrap();
    repo.write("fuzz/halves.cc", CPP);
    let module = repo.read("rust/src/shapes.rs");
    for (body, code) in [("x / 2", 0), ("x / 2 + 1", 10)] {
        let mut ported = module.clone();
        plant(&mut ported, "half", &format!("pub fn half(x: u32) -> u32 {{\n    {body}\n}}"));
        repo.write("rust/src/shapes.rs", &ported);
        let json = repo.run(&[&quick[..], &["--ports"]].concat()).code(code).json("drivers");
        let port = one(&json["ports"], "half");
        assert!(port["judged"].as_u64().unwrap() > if code == 0 { 10 } else { 0 }, "{port:#}");
    }
}

#[test]
fn a_program_with_other_macros_has_no_copy_of_the_librarys_function() {
    let driver = "#define SHAPE_SIDES 3\n#include \"../shapes.h\"\n#include <stdint.h>\n\
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n    int sum = 0;\n    \
        for (size_t at = 0; at < size; at++) sum += sides_of(data[at]) + (int)half(data[at]);\n    return sum == 1 ? -1 : 0;\n}\n";
    let repo = Repo::of(&[("shapes.h", HEADER), ("shapes.c", SOURCE), ("fuzz/threes.c", driver)]);
    let json = repo.run(&["drivers", "--seconds", "1", "--format", "json"]).ok().json("drivers");
    assert_eq!(json["drivers"][0]["reached"], json!(["half"]), "{json:#}");
}
