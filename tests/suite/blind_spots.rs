//! Wrong ports at places that a harness once did not reach: null where a role has no null, lengths beyond the `max` of an
//! enumeration, variables that only other functions fill, `errno` behind a handle, and seeds that come too late (`chance.rs`).

use crate::support::Repo;

const LIBRARY: &str = "\
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int mix2(const uint8_t *p) {
    if (!p) return -1;
    return ((p[0] * 31 + p[1] * 7) ^ (p[0] << 3)) & 0xfff;
}
int ramp(unsigned char *out, unsigned n) {
    for (unsigned i = 0; i < n; i++) out[i] = (unsigned char)(i * 7 ^ i >> 8);
    return 0;
}
static unsigned char table[8192];
void fill(unsigned seed) { for (unsigned i = 0; i < 8192; i++) table[i] = (unsigned char)(seed + i * 7); }
int look(unsigned i) { return i >= 8192 ? -1 : table[i]; }
static char names[64][128];
static int named;
int intern(const char *name) {
    size_t len = strlen(name);
    if (len >= sizeof names[0]) return -1;
    for (int i = 0; i < named; i++)
        if (strcmp(names[i], name) == 0) return i;
    if (named == 64) return -2;
    memcpy(names[named], name, len + 1);
    return named++;
}
struct person { char name[16]; int age; };
size_t person_name_len(const struct person *p) { return strlen(p->name) + (p->age > 99); }
struct ctx { int n; int *cells; };
struct ctx *ctx_new(int n) {
    struct ctx *c = malloc(sizeof *c);
    if (!c) return NULL;
    c->n = n;
    c->cells = NULL;
    return c;
}
void ctx_free(struct ctx *c) { free(c->cells); free(c); }
int ctx_n(const struct ctx *c) { return c->n > 9 ? 9 : c->n; }
unsigned shuffled(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n % 32; i++) sum = sum * 31 + (unsigned)rand() % 7;
    return sum;
}
uint32_t flash_sum(uint32_t from, int (*fetch)(uint32_t address, void *to, uint32_t bytes)) {
    unsigned char page[64] = {0};
    uint32_t sum = 1;
    int got;
    while ((got = fetch(from, page, sizeof page)) > 0 && got <= (int)sizeof page) {
        for (int i = 0; i < got; i++) sum = sum * 31 + page[i];
        from += (uint32_t)got;
    }
    return sum;
}
unsigned emit(const unsigned char *in, size_t n, int (*put)(const void *data, size_t len)) {
    unsigned char out[256];
    size_t k = 0;
    for (size_t i = 0; i < n && k < sizeof out; i++) out[k++] = in[i] ^ 0x20;
    return put(out, k) < 0 ? 0 : (unsigned)k;
}
";

fn grade(repo: &Repo, stubs: &str, (symbol, port): (&str, &str)) -> (String, String) {
    let row = repo.judged(("spots", stubs), symbol, port);
    (row["grade"].as_str().unwrap().to_owned(), row["reason"].to_string())
}

#[test]
fn ports_that_are_wrong_where_no_role_led_are_refuted() {
    let repo = Repo::of(&[("spots.c", LIBRARY)]);
    let stubs = repo.read("rust/src/spots.rs");
    let mix = |null: &str| {
        format!(
            "pub unsafe fn mix2(p: *const u8) -> ::core::ffi::c_int {{
    {null}
    let [a, b] = unsafe {{ *p.cast::<[u8; 2]>() }}.map(i32::from);
    ((a * 31 + b * 7) ^ (a << 3)) & 0xfff
}}"
        )
    };
    let ramp = |count: &str| {
        format!(
            "pub fn ramp(out: &mut [u8]) -> ::core::ffi::c_int {{
    for i in 0..out.len() as {count} {{
        out[i as usize] = (i as u32).wrapping_mul(7) as u8 ^ ((i as u32) >> 8) as u8;
    }}
    0
}}"
        )
    };
    let of_ctx = |errno: &str| {
        format!(
            "pub unsafe fn ctx_n(c: *const ffi::ctx) -> ::core::ffi::c_int {{
    unsafe {{
        {errno}
        if (*c).n > 9 {{ 9 }} else {{ (*c).n }}
    }}
}}"
        )
    };
    let shuffled = |most: &str| {
        format!(
            "pub fn shuffled(n: ::core::ffi::c_uint) -> ::core::ffi::c_uint {{
    let mut sum = 0u32;
    for i in 0..n % 32 {{
        let drawn = unsafe {{ libc::rand() }} as u32 % 7;
        sum = sum.wrapping_mul(31).wrapping_add(if i < {most} {{ drawn }} else {{ 0 }});
    }}
    sum
}}"
        )
    };
    for (symbol, port, is_right) in [
        ("shuffled", shuffled("32"), true),
        ("shuffled", shuffled("16"), false),
        ("mix2", mix("if p.is_null() { return -1; }"), true),
        ("mix2", mix(""), false),
        ("ramp", ramp("u32"), true),
        ("ramp", ramp("u16"), false),
        ("ctx_n", of_ctx(""), true),
        ("ctx_n", of_ctx("*libc::__errno_location() = 5;"), false),
    ] {
        let (grade, reason) = grade(&repo, &stubs, (symbol, &port));
        assert_eq!(grade == "refuted", !is_right, "{symbol} {is_right}: {grade}, {reason}");
        assert_ne!(grade, "unverifiable", "{symbol}: {reason}");
    }
}

#[test]
fn a_variable_that_only_others_fill_is_no_reason_to_trust_its_zeros() {
    let repo = Repo::of(&[("spots.c", LIBRARY)]);
    let stubs = repo.read("rust/src/spots.rs");
    let port =
        "pub fn look(i: ::core::ffi::c_uint) -> ::core::ffi::c_int {\n    if i >= 8192 { -1 } else { 0 }\n}";
    let head = stubs.find("fn look(").map(|at| stubs[..at].ends_with("unsafe ")).unwrap();
    let port = if head { port.replacen("pub fn", "pub unsafe fn", 1) } else { port.to_owned() };
    let (grade, reason) = grade(&repo, &stubs, ("look", &port));
    assert_eq!(grade, "unverifiable", "{reason}");
    assert!(reason.contains("`table`, which other functions fill"), "{reason}");
    let json = repo.run(&["list", "--format", "json"]).ok().json("list");
    let row = json["symbols"].as_array().unwrap().iter().find(|row| row["symbol"] == "intern").unwrap();
    assert!(row.to_string().contains("`names`, which it fills itself"), "{row:#}");
}

#[test]
fn a_string_in_a_struct_ends_there() {
    let repo = Repo::of(&[("spots.c", LIBRARY)]);
    let stubs = repo.read("rust/src/spots.rs");
    for (extra, is_right) in [("i32::from(p.age > 99) as usize", true), ("0", false)] {
        let port = format!(
            "pub fn person_name_len(p: &ffi::person) -> usize {{
    p.name.iter().position(|byte| *byte == 0).unwrap_or(16) + {extra}
}}"
        );
        let (grade, reason) = grade(&repo, &stubs, ("person_name_len", &port));
        assert_eq!(grade == "refuted", !is_right, "{extra}: {grade}, {reason}");
    }
}

#[test]
fn callbacks_that_get_memory_of_c_without_a_type_have_no_harness() {
    let repo = Repo::of(&[("spots.c", LIBRARY)]);
    let json = repo.run(&["list", "--format", "json"]).ok().json("list");
    for symbol in ["flash_sum", "emit"] {
        let rows = json["symbols"].as_array().unwrap();
        let row = rows.iter().find(|row| row["symbol"] == symbol).unwrap();
        assert!(row.to_string().contains("what the `void *` of the callback"), "{row:#}");
    }
}
