//! Ordinary shapes of C that the analysis once took for something else: `T a[]`, `sizeof v` of bytes, `p ?: q`, members that
//! are strings in one struct alone, checks for null on lines of their own, tables of names, atomic writes, and names of
//! parameters and functions that generated code uses itself.

use crate::support::{Repo, plant};
use serde_json::Value;

const LIBRARY: &str = "\
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int sum(const int a[], int n) { int t = 0; for (int i = 0; i < n; i++) t += a[i] & 255; return t; }
uint32_t load(const uint8_t *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
uint32_t cast(const uint8_t *p) { return *(const uint32_t *)p; }
struct user { char name[16]; };
size_t user_length(const struct user *u) { return strlen(u->name); }
struct chunk { char name[4]; unsigned size; };
int is_data(const struct chunk *c) { return memcmp(c->name, \"data\", 4) == 0; }
static int level = 3;
void set_level(int v) { __atomic_store_n(&level, v, __ATOMIC_RELAXED); }
int get_level(void) { return level; }
static const char *words[] = { \"a\", \"b\" };
static const int count = sizeof words / sizeof *words;
int how_many(int i) { return i > count ? i : count; }
int null_sum(const unsigned char *p, size_t n) {
    if (!p) {
        if (n == 0) return 0;
        return -1;
    }
    int t = 0;
    for (size_t i = 0; i < n; i++) t += p[i];
    return t;
}
size_t length_of(const char *s) { s = s ?: \"(null)\"; return strlen(s); }
static const char *const list = \"one\\0two\\0\";
int listed(void) { const char *p = list; int n = 0; while (*p) { n++; p += strlen(p) + 1; } return n; }
int trim(const char *s, int longest) { int n = (int)strlen(s); return n > longest ? longest : n; }
int pick(unsigned char digits, unsigned char pick) { return digits < pick; }
int values(int mutants) { return mutants / 2; }
int mutants(int all) { return all / 3; }
int port_mutants(int args) { return args / 5; }
struct config { int mode; };
static const char *const modes[] = { \"r\", \"w\", \"a\", \"x\" };
const char *mode_name(const struct config *c) { return modes[c->mode & 3]; }
static const struct { const char *alias, *name; } table[] = { { \"latin1\", \"iso-8859-1\" }, { \"utf8\", \"utf-8\" }, { 0, 0 } };
const char *canonical(const char *name) {
    for (size_t i = 0; table[i].alias; i++)
        if (!strcmp(table[i].alias, name)) return table[i].name;
    return NULL;
}
void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }
uint32_t mix(const uint8_t *p, uint32_t k) { uint32_t v; memcpy(&v, p, sizeof v); return v * k; }
void concat(char *out, const char *a, const char *b) {
    if (strlen(a) + strlen(b) < 100) { strcpy(out, a); strcat(out, b); }
}
void blend(unsigned char *dst, const unsigned char *src, int n, int from) {
    for (int i = 0; i < n; i++)
        if (i >= from) dst[i] = src[i];
}
int some_sum(const unsigned char *p, size_t n) {
    if (p) {
        int t = 0;
        for (size_t i = 0; i < n; i++) t += p[i];
        return t;
    }
    return n == 0 ? 0 : -1;
}
void add_to(int *p, int v) { __atomic_add_fetch(p, v, __ATOMIC_RELAXED); }
int blank(int filled, const unsigned char *p) { return p[0] == filled; }
enum mode { LOW, HIGH };
int chosen(int choose, enum mode m) { return m == HIGH ? choose : -choose; }
typedef struct entry_s { char name[16]; } entry;
size_t entry_length(const struct chunk *c, const void *b) { const entry *e = b; return strlen(e->name) + c->size; }
";

#[test]
fn ordinary_shapes_of_c_are_judged() {
    let repo = Repo::of(&[("shapes.c", LIBRARY)]);
    let checked = repo.run(&["contract", "--check", "--all", "--seconds", "1", "--format", "json"]);
    let checked = checked.json("contract-check");
    let rows = checked["symbols"].as_array().unwrap();
    let all = LIBRARY.lines().filter(|line| line.contains(") {") && !line.starts_with(' ')).count();
    // A `void *` says nothing.
    assert_eq!(rows.len(), all - 1, "{checked:#}");
    // Its text goes on behind the first NUL.
    assert!(!repo.read("rust/src/globals.rs").contains("pub static list"));
    for row in rows {
        assert_eq!(row["difference"], Value::Null, "{row:#}");
        assert!(row["accept_rate"].as_f64().unwrap() >= 0.5, "{row:#}");
    }
    // Numbers that C does not count with are no lengths.
    for (symbol, number) in [("put32", "v"), ("mix", "k"), ("blend", "from")] {
        let contract = repo.read(&format!("rust/contracts/{symbol}.toml"));
        assert!(contract.contains(&format!("name = \"{number}\"\nrole = \"value\"")), "{contract}");
    }
    let stubs = repo.read("rust/src/shapes.rs");
    // One input must be a name of the table.
    let budget = ["--runs", "100000", "--seconds", "30", "--format", "json"];
    let judged = |symbol: &str, port: &str| {
        let mut text = stubs.clone();
        plant(&mut text, symbol, port).unwrap();
        repo.write("rust/src/shapes.rs", &text);
        repo.run(&[&["verify", symbol][..], &budget].concat()).json("verify")["symbols"][0]["grade"].clone()
    };
    for (symbol, right, wrong) in [
        (
            "is_data",
            "pub fn is_data(c: &ffi::chunk) -> i32 {\n    i32::from(c.name == [100, 97, 116, 97])\n}",
            "pub fn is_data(c: &ffi::chunk) -> i32 {\n    let _ = c;\n    0\n}",
        ),
        (
            "get_level",
            "pub fn get_level() -> i32 {\n    unsafe { globals::level }\n}",
            "pub fn get_level() -> i32 {\n    3\n}",
        ),
        (
            "canonical",
            "pub fn canonical(name: &core::ffi::CStr) -> Option<&'static core::ffi::CStr> {\n    match name.to_bytes() {\n        b\"latin1\" => Some(c\"iso-8859-1\"),\n        b\"utf8\" => Some(c\"utf-8\"),\n        _ => None,\n    }\n}",
            "pub fn canonical(name: &core::ffi::CStr) -> Option<&'static core::ffi::CStr> {\n    let _ = name;\n    None\n}",
        ),
        (
            "some_sum",
            "pub unsafe fn some_sum(p: *const u8, n: usize) -> i32 {\n    if p.is_null() {\n        return if n == 0 { 0 } else { -1 };\n    }\n    (0..n).map(|at| i32::from(unsafe { *p.add(at) })).sum()\n}",
            "pub unsafe fn some_sum(p: *const u8, n: usize) -> i32 {\n    if p.is_null() {\n        return 0;\n    }\n    (0..n).map(|at| i32::from(unsafe { *p.add(at) })).sum()\n}",
        ),
        (
            "null_sum",
            "pub unsafe fn null_sum(p: *const u8, n: usize) -> i32 {\n    if p.is_null() {\n        return if n == 0 { 0 } else { -1 };\n    }\n    (0..n).map(|at| i32::from(unsafe { *p.add(at) })).sum()\n}",
            "pub unsafe fn null_sum(p: *const u8, n: usize) -> i32 {\n    if p.is_null() {\n        return -1;\n    }\n    (0..n).map(|at| i32::from(unsafe { *p.add(at) })).sum()\n}",
        ),
    ] {
        let grade = judged(symbol, right);
        assert!(["weak", "verified", "exhaustive"].contains(&grade.as_str().unwrap()), "{symbol}: {grade}");
        assert_eq!(judged(symbol, wrong), "refuted", "{symbol}");
    }
}
