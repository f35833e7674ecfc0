//! State in variables that no harness can set, in ports that drivers judge. Static variables inside functions: the copies of a
//! function share those of the original, and a port has them in `globals`. And variables that are pointers.

use crate::support::{Repo, plant};
use serde_json::Value;

const HEADER: &str = "\
unsigned next_number(unsigned step);
const char *shown(unsigned value);
unsigned once(unsigned value);
struct entry { struct entry *next; unsigned value; };
void put(unsigned value);
unsigned take(void);
";

/// A counter, a buffer for results, what is made once, and a list.
const LIBRARY: &str = "\
#include \"number.h\"
#include <stdlib.h>
static struct entry *first;
void put(unsigned value) {
    struct entry *entry = malloc(sizeof *entry);
    if (!entry) return;
    entry->next = first;
    entry->value = value;
    first = entry;
}
unsigned take(void) {
    struct entry *entry = first;
    if (!entry) return 0;
    unsigned value = entry->value;
    first = entry->next;
    free(entry);
    return value;
}
unsigned next_number(unsigned step) {
    static unsigned number = 7, calls;
    calls++;
    number = number * 3 + step + (calls & 1);
    return number;
}
const char *shown(unsigned value) {
    static char digits[12];
    char *end = digits + sizeof digits - 1;
    *end = 0;
    do *--end = (char)('0' + value % 10); while (value /= 10);
    return end;
}
unsigned once(unsigned value) {
    static int is_made __attribute__((aligned(16))) = 0;
    static unsigned table[] = {0, 0, 0, 0};
    if (!is_made) {
        for (unsigned i = 0; i < sizeof table / sizeof *table; i++) table[i] = i * value + 1;
        is_made = 1;
    }
    return table[value & 3];
}
";

const DRIVER: &str = "\
#include \"../number.h\"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned value = 0;
    for (size_t i = 0; i + 4 <= size && i < 64; i += 4) {
        memcpy(&value, data + i, sizeof value);
        shown(next_number(value));
        once(value);
        put(value);
        if (value % 3) take();
    }
    while (take()) {}
    return 0;
}
";

const PORTS: [(&str, &str); 4] = [
    (
        "take",
        "pub unsafe fn take() -> u32 {
    unsafe {
        let entry = globals::first;
        if entry.is_null() {
            return 0;
        }
        let value = (*entry).value;
        globals::first = (*entry).next;
        libc::free(entry.cast());
        value
    }
}",
    ),
    (
        "next_number",
        "pub unsafe fn next_number(step: u32) -> u32 {
    unsafe {
        globals::next_number__calls = globals::next_number__calls.wrapping_add(1);
        let number = globals::next_number__number.wrapping_mul(3).wrapping_add(step);
        globals::next_number__number = number.wrapping_add(globals::next_number__calls & 1);
        globals::next_number__number
    }
}",
    ),
    (
        "shown",
        "pub unsafe fn shown(value: u32) -> *const core::ffi::c_char {
    let (mut rest, mut at) = (value, 11);
    unsafe {
        globals::shown__digits[at] = 0;
        loop {
            at -= 1;
            globals::shown__digits[at] = (b'0' + (rest % 10) as u8) as core::ffi::c_char;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        (&raw const globals::shown__digits).cast::<core::ffi::c_char>().add(at)
    }
}",
    ),
    (
        "once",
        "pub unsafe fn once(value: u32) -> u32 {
    unsafe {
        if globals::once__is_made == 0 {
            for i in 0..4 {
                globals::once__table[i as usize] = (i * value) + 1;
            }
            globals::once__is_made = 1;
        }
        globals::once__table[value as usize & 3]
    }
}",
    ),
];

fn repo() -> Repo {
    let repo = Repo::of(&[("number.h", HEADER), ("number.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 2\n[grade]\nexecutions = 100\n"));
    repo
}

fn row(json: &Value, key: &str, symbol: &str) -> Value {
    let rows = json[key].as_array().unwrap();
    rows.iter().find(|row| row["symbol"] == symbol).unwrap_or_else(|| panic!("{symbol}: {json:#}")).clone()
}

#[test]
fn copies_and_ports_share_the_static_variables_of_a_function() {
    let repo = repo();
    let globals = repo.read("rust/src/globals.rs");
    assert!(globals.contains("pub static mut next_number__number: u32 = 0x00000007;"), "{globals}");
    let json = repo.run(&["drivers", "--check", "--format", "json"]).ok().json("drivers");
    for symbol in ["next_number", "shown", "once", "take"] {
        let one = row(&json, "in_place", symbol);
        let share = one["killed"].as_f64().unwrap() / one["mutants"].as_f64().unwrap();
        assert!(share >= 0.8, "{one:#}");
    }

    let mut module = repo.read("rust/src/number.rs");
    for (name, port) in PORTS {
        plant(&mut module, name, port).unwrap();
    }
    repo.write("rust/src/number.rs", &module);
    let verify = ["verify", "--all", "--config", "grade.measure=true", "--format", "json"];
    let json = repo.run(&verify).json("verify");
    // `once` overflows in Rust's sum where C wraps around.
    let grades = ["next_number", "shown", "once", "take"];
    let grades = grades.map(|symbol| row(&json, "symbols", symbol)["grade"].clone());
    assert_eq!(grades, ["verified", "verified", "refuted", "verified"], "{json:#}");
}
