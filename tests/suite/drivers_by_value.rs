//! Functions that take and return structs by value, in registers and on the stack, with padding and floating point.

use crate::support::{Repo, plant};
use serde_json::Value;

const HEADER: &str = "\
struct v2 { float x, y; };
struct tag { char kind; int n; };
struct v3 { double x, y, z; };
struct mix { double d; int i; };
struct v2 v2_add(struct v2 a, struct v2 b);
struct tag tag_next(struct tag t, char c);
struct mix mix_of(struct v3 v, int i, struct mix m);
int many(struct tag a, struct tag b, struct tag c, int d, struct tag e);
";

const LIBRARY: &str = "\
#include \"v.h\"
struct v2 v2_add(struct v2 a, struct v2 b) { struct v2 r = {a.x + b.x, a.y / b.y}; return r; }
struct tag tag_next(struct tag t, char c) { struct tag r; r.kind = c; r.n = t.n + (t.kind == c); return r; }
struct mix mix_of(struct v3 v, int i, struct mix m) { struct mix r; r.d = v.z + m.d; r.i = i ^ m.i; return r; }
int many(struct tag a, struct tag b, struct tag c, int d, struct tag e) { return a.n + b.kind - c.n + d * e.kind; }
";

/// The padding of `tag` is not zero. Some numbers are no numbers.
const DRIVER: &str = "\
#include \"../v.h\"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct v2 sum = {0, 0};
    struct tag tag;
    struct mix mix = {0, 0};
    memset(&tag, 0xee, sizeof tag);
    tag.kind = 0, tag.n = 0;
    for (; size >= 4; data += 4, size -= 4) {
        struct v2 v = {data[0], data[1] & 3};
        struct v3 w = {1, 2, data[3]};
        sum = v2_add(sum, v);
        tag = tag_next(tag, data[2] & 3);
        mix = mix_of(w, data[0], mix);
        many(tag, tag, tag, data[1], tag);
    }
    return 0;
}
";

const RIGHT: [(&str, &str); 4] = [
    (
        "v2_add",
        "pub fn v2_add(a: ffi::v2, b: ffi::v2) -> ffi::v2 {\n    ffi::v2 { x: a.x + b.x, y: a.y / b.y }\n}",
    ),
    (
        "tag_next",
        "pub fn tag_next(t: ffi::tag, c: core::ffi::c_char) -> ffi::tag {\n    \
         ffi::tag { kind: c, n: t.n + i32::from(t.kind == c) }\n}",
    ),
    (
        "mix_of",
        "pub fn mix_of(v: ffi::v3, i: i32, m: ffi::mix) -> ffi::mix {\n    ffi::mix { d: v.z + m.d, i: i ^ m.i }\n}",
    ),
    (
        "many",
        "pub fn many(a: ffi::tag, b: ffi::tag, c: ffi::tag, d: i32, e: ffi::tag) -> i32 {\n    \
         a.n + i32::from(b.kind) - c.n + d * i32::from(e.kind)\n}",
    ),
];

/// Changes that each make one port wrong, in a word of its own.
const WRONG: [(&str, &str, &str); 6] = [
    ("many", "- c.n", "+ c.n"),
    ("v2_add", "a.y / b.y", "b.y / a.y"),
    ("tag_next", "t.n +", "t.n -"),
    ("tag_next", "kind: c", "kind: c & 1"),
    ("mix_of", "i ^ m.i", "i | m.i"),
    ("mix_of", "v.z + m.d", "v.y + m.d"),
];

#[test]
fn ports_that_pass_structs_by_value_are_judged_in_place() {
    let repo = Repo::of(&[("v.h", HEADER), ("v.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let mut right = repo.read("rust/src/v.rs");
    for (name, port) in RIGHT {
        plant(&mut right, name, port).unwrap();
    }
    let judged = |module: &str, names: &[&str], code: i32| -> Vec<Value> {
        repo.write("rust/src/v.rs", module);
        let quick = ["--seconds", "1", "--config=drivers.function_seconds=1", "--format", "json"];
        let ran = repo.run(&[&["drivers", "--ports"], names, &quick[..]].concat());
        ran.code(code).json("drivers")["ports"].as_array().unwrap().clone()
    };
    let all = RIGHT.map(|(name, _)| name);
    for port in judged(&right, &all, 0) {
        assert!(port["differs"].is_null() && port["judged"].as_u64() > Some(100), "{port:#}");
    }
    for (name, from, to) in WRONG {
        let ports = judged(&right.replace(from, to), &[name], 10);
        assert!(!ports[0]["differs"].is_null(), "{name}: {to}: {:#}", ports[0]);
    }
}
