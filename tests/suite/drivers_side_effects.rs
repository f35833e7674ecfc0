//! Side effects where drivers judge: `errno` that `atoi` leaves, blocks that `realloc` frees, functions of the library in its
//! variables, and callbacks that a function of a header calls.

use crate::support::{Repo, plant};
use serde_json::{Value, json};

const LIST: &str = "\
#include <stddef.h>
struct node { struct node *next; int value; };
struct node *node_push(struct node *head, int value);
static inline int node_each(const struct node *at, int (*visit)(void *data, int value), void *data) {
    int count = 0;
    for (; at; at = at->next)
        if (visit(data, at->value)) count++;
    return count;
}
";
const HEADER: &str = "\
#include \"list.h\"
struct vec { void *items; size_t len, cap; };
int vec_shrink(struct vec *v);
int header_length(const char *text);
int level_of(double d, char **unused);
void log_use(void (*use)(int level), int least);
void log_event(int level);
int node_count(const struct node *head, int (*visit)(void *data, int value), void *data);
";
const LIBRARY: &str = "\
#include \"spots.h\"
#include <stdlib.h>
int vec_shrink(struct vec *v) {
    void *p = realloc(v->items, v->len * 4);
    if (!p && v->len) return -1;
    v->items = p;
    v->cap = v->len;
    return 0;
}
int header_length(const char *text) {
    int n = atoi(text);
    return n < 0 ? 0 : n;
}
int level_of(double d, char **unused) {
    (void)unused;
    int n = (int)d;
    if (n < 0) return -1;
    if (n > 99) return 99;
    return n;
}
static unsigned total;
void log_default(int level) { total += (unsigned)level; }
static void (*current)(int level);
static int least_level;
void log_use(void (*use)(int level), int least) {
    current = use ? use : log_default;
    least_level = least;
}
void log_event(int level) { if (current && level >= least_level) current(level); }
struct node *node_push(struct node *head, int value) {
    struct node *n = malloc(sizeof *n);
    if (!n) return head;
    n->next = head;
    n->value = value;
    return n;
}
int node_count(const struct node *head, int (*visit)(void *data, int value), void *data) {
    return node_each(head, visit, data);
}
";
const DRIVER: &str = "\
#include \"../spots.h\"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static unsigned seen;
static void other(int level) { seen += (unsigned)level; }
static int is_odd(void *data, int value) { *(unsigned *)data += (unsigned)value; return value & 1; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[64] = \"99999999999\";
    size_t n = size < 40 ? size : 40;
    memcpy(text + n % 12, data, n);
    unsigned sum = (unsigned)header_length(text);
    struct vec v = {malloc(64), n % 16, 16};
    sum += (unsigned)vec_shrink(&v);
    if (v.items) free(v.items);
    struct node *head = NULL;
    for (size_t at = 0; at < n; at++) {
        log_use(data[at] % 3 == 1 ? other : NULL, data[at] / 2);
        log_event(data[at]);
        head = node_push(head, data[at]);
        sum += (unsigned)level_of(data[at] % 8 ? data[at] + at / 64.0 : 1e30, NULL);
    }
    sum += (unsigned)node_each(head, is_odd, &sum) + (unsigned)node_count(head, is_odd, &sum);
    for (struct node *next; head; head = next) {
        next = head->next;
        free(head);
    }
    return 0;
}
";

/// Right ports.
const PORTS: &[(&str, &str)] = &[
    (
        "header_length",
        "pub fn header_length(text: &core::ffi::CStr) -> i32 {
    let mut s = text.to_bytes();
    while let [b' ' | b'\\t'..=b'\\r', rest @ ..] = s {
        s = rest;
    }
    let minus = s.first() == Some(&b'-');
    if let [b'-' | b'+', rest @ ..] = s {
        s = rest;
    }
    let mut n = 0i64;
    for digit in s.iter().take_while(|byte| byte.is_ascii_digit()) {
        let digit = i64::from(digit - b'0');
        n = n.saturating_mul(10);
        n = if minus { n.saturating_sub(digit) } else { n.saturating_add(digit) };
    }
    (n as i32).max(0)
}",
    ),
    (
        "level_of",
        "pub unsafe fn level_of(d: f64, unused: *mut *mut ::core::ffi::c_char) -> i32 {
    match d as i32 {
        n if n < 0 => -1,
        n => n.min(99),
    }
}",
    ),
    (
        "vec_shrink",
        "pub unsafe fn vec_shrink(v: *mut ffi::vec) -> i32 {
    unsafe {
        if (*v).len == 0 {
            libc::free((*v).items);
            (*v).items = core::ptr::null_mut();
        } else {
            let p = libc::realloc((*v).items, (*v).len * 4);
            if p.is_null() {
                return -1;
            }
            (*v).items = p;
        }
        (*v).cap = (*v).len;
        0
    }
}",
    ),
    (
        "log_default",
        "pub fn log_default(level: i32) {
    unsafe { globals::total = globals::total.wrapping_add(level as u32) };
}",
    ),
    (
        "log_use",
        "pub unsafe fn log_use(use_: Option<unsafe extern \"C\" fn(level: i32)>, least: i32) {
    unsafe {
        globals::current = use_.or(Some(crate::capi::log_default));
        globals::least_level = least;
    }
}",
    ),
    (
        "node_each",
        "pub unsafe fn node_each(
    at: *const ffi::node,
    visit: Option<unsafe extern \"C\" fn(data: *mut core::ffi::c_void, value: i32) -> i32>,
    data: *mut core::ffi::c_void,
) -> i32 {
    let (mut at, mut count) = (at, 0);
    while !at.is_null() {
        unsafe {
            count += i32::from(visit.unwrap()(data, (*at).value) != 0);
            at = (*at).next;
        }
    }
    count
}",
    ),
];

fn write(repo: &Repo, stubs: &[(&str, String)], changes: &[(&str, &str, &str)]) {
    for (module, text) in stubs {
        let mut text = text.clone();
        for (name, port) in PORTS {
            let mut port = (*port).to_owned();
            for (_, from, to) in changes.iter().filter(|change| change.0 == *name) {
                assert_eq!(port.matches(from).count(), 1, "{name}: {from}");
                port = port.replace(from, to);
            }
            let _ = plant(&mut text, name, &port);
        }
        repo.write(&format!("rust/src/{module}.rs"), &text);
    }
}

#[test]
#[ignore = "two minutes: cargo test --test suite drivers_side_effects -- --ignored"]
fn side_effects_refute_no_right_port_and_hide_no_wrong_one() {
    let repo =
        Repo::of(&[("list.h", LIST), ("spots.h", HEADER), ("spots.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let config = repo.read("implfuzz.toml");
    repo.write(
        "implfuzz.toml",
        &format!("{config}\n[drivers]\nseconds = 2\nfunction_seconds = 2\n[grade]\nexecutions = 100\n"),
    );
    let stubs = ["spots", "list"].map(|module| (module, repo.read(&format!("rust/src/{module}.rs"))));
    write(&repo, &stubs, &[]);
    let ports = |code: i32| {
        let args = ["drivers", "--seconds", "2", "--ports", "--format", "json"];
        repo.run(&args).code(code).json("drivers")["ports"].clone()
    };
    let of = |ports: &Value, name: &str| {
        ports.as_array().unwrap().iter().find(|port| port["symbol"] == name).unwrap().clone()
    };
    let all = ports(0);
    for (name, _) in PORTS {
        let port = of(&all, name);
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{name}: {all:#}");
        assert!(port["judged"].as_u64().unwrap() > 5, "{name}: {all:#}");
    }
    // Whole runs, which compare the library's variables at the end, agree, and C never differs from itself.
    let json =
        repo.run(&["verify", "log_use", "node_each", "--seconds", "2", "--format", "json"]).json("verify");
    for row in json["symbols"].as_array().unwrap() {
        assert_eq!(row["grade"], "verified", "{row:#}");
    }
    // The branch that C takes only where it is undefined counts as not reached: no candidate ran there.
    let json = repo.run(&["verify", "level_of", "--seconds", "2", "--format", "json"]).json("verify");
    let branches = &json["symbols"][0]["proofs"]["branches"]["yes"];
    assert_eq!((&branches["reached"], &branches["total"]), (&json!(3), &json!(4)), "{json:#}");
    write(
        &repo,
        &stubs,
        &[
            ("vec_shrink", "if (*v).len == 0", "if (*v).len > usize::MAX / 8"),
            ("log_use", "use_.or(Some(crate::capi::log_default))", "Some(crate::capi::log_default)"),
            ("node_each", "!= 0)", "> 1)"),
        ],
    );
    let all = ports(10);
    for name in ["vec_shrink", "log_use", "node_each"] {
        let port = of(&all, name);
        assert_ne!(port["differs"], Value::Null, "{name}: {all:#}");
        assert_eq!(port["differs"]["unclear"], json!(null), "{name}: {all:#}");
    }
}
