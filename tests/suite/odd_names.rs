//! Names of C that mean something in Rust, in bindgen, or in generated code; null where C does not look; and structs that
//! programs allocate longer than they are.

use crate::support::{Repo, plant};
use serde_json::{Value, json};

const LIBRARY: &str = "\
#include <stdint.h>
#include <stddef.h>
#include <string.h>
typedef struct Option { int id; int takes_value; } Option;
int option_id(const Option *o) { return o->id; }
int slot_alive(uint32_t index, uint32_t gen) { return (index ^ gen) & 1; }
struct name { int n; char str[32]; unsigned u8; };
int name_first(const struct name *s) { return s->n > 0 && s->n <= 32 ? s->str[0] : (int)s->u8; }
unsigned sum(const unsigned char *slice, size_t len) {
    unsigned n = 0;
    for (size_t i = 0; i < len; i++) n += slice[i];
    return n;
}
int slice(int a, int b) { return a < b ? a : b; }
uint32_t u32(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
int answer(int value, int *ret) { *ret = value / 2; return value > 3; }
int locals(const int *args, int *effects, int oracle, int *subject, int reader, int writer) {
    *effects = *args / 3;
    *subject = reader < writer;
    return oracle > 7;
}
int others(int *world, int slot, int value, int *parts, int table, const char *text, int data, int m) {
    *world = slot < value;
    *parts = (int)strlen(text) + (table < data);
    return m > 2;
}
int str = 3;
int str_of(int add) { return str + add; }
int opt_cost(int kind, const char *value) {
    if (kind == 0) return 1;
    if (kind == 1) return 2;
    return 2 + (int)strlen(value);
}
struct range { int low, high; };
int clamped(int v, int on, const struct range *r) {
    if (!on) return v;
    return v < r->low ? r->low : v > r->high ? r->high : v;
}
struct bits { uint32_t nbits; uint32_t words[1]; };
int bits_get(const struct bits *b, uint32_t i) {
    if (b->nbits > 4096 || i >= b->nbits) return -1;
    return (int)(b->words[i >> 5] >> (i & 31) & 1u);
}
";
const DRIVER: &str = "\
#include <stddef.h>
#include <stdint.h>
struct range { int low, high; };
int opt_cost(int kind, const char *value);
int clamped(int v, int on, const struct range *r);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct range range = {10, 90};
    int sum = 0;
    for (size_t i = 0; i < size && i < 64; i++)
        sum += opt_cost(data[i] % 3, data[i] % 3 == 2 ? \"text\" : NULL) + clamped(data[i], i & 1, i & 1 ? &range : NULL);
    return sum < 0 ? -1 : 0;
}
";
const PORTS: [(&str, &str); 3] = [
    (
        "opt_cost",
        "pub fn opt_cost(kind: i32, value: &core::ffi::CStr) -> i32 {
    match kind {
        0 => 1,
        1 => 2,
        _ => 2 + value.to_bytes().len() as i32,
    }
}",
    ),
    (
        "clamped",
        "pub fn clamped(v: i32, on: i32, r: &ffi::range) -> i32 {
    let ffi::range { low, high } = *r;
    if on == 0 {
        return v;
    }
    if v < low { low } else if v > high { high } else { v }
}",
    ),
    ("str_of", "pub fn str_of(add: i32) -> i32 {\n    unsafe { globals::str }.wrapping_add(add)\n}"),
];

#[test]
#[ignore = "a minute: cargo test --test suite odd_names -- --ignored"]
fn ordinary_names_and_null_break_no_build_and_no_port() {
    let repo = Repo::of(&[("odd.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let json = repo
        .run(&["contract", "--check", "--all", "--seconds", "1", "--format", "json"])
        .json("contract-check");
    let checked: Vec<&str> =
        json["symbols"].as_array().unwrap().iter().map(|row| row["symbol"].as_str().unwrap()).collect();
    for name in [
        "option_id", "slot_alive", "name_first", "sum", "slice", "str_of", "clamped", "u32", "answer",
        "locals", "others",
    ] {
        assert!(checked.contains(&name), "{name}: {json:#}");
    }
    for row in json["symbols"].as_array().unwrap() {
        assert_eq!(row["difference"], Value::Null, "{row:#}");
    }
    // What may be longer than its type has no harness.
    assert!(!checked.contains(&"bits_get"), "{json:#}");
    let mut module = repo.read("rust/src/odd.rs");
    for (name, port) in PORTS {
        plant(&mut module, name, port).unwrap_or_else(|| panic!("{name}: {module}"));
    }
    repo.write("rust/src/odd.rs", &module);
    let json = repo.run(&["verify", "str_of", "--format", "json"]).json("verify");
    assert_ne!(json["symbols"][0]["grade"], "refuted", "{json:#}");
    // As a program calls them, with null where C does not look.
    let ports = repo.run(&["drivers", "--seconds", "2", "--ports", "--format", "json"]).ok().json("drivers");
    for name in ["opt_cost", "clamped"] {
        let port = ports["ports"].as_array().unwrap().iter().find(|port| port["symbol"] == name).unwrap();
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{ports:#}");
        assert!(port["judged"] != json!(0), "{ports:#}");
    }
}
