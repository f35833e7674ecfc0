//! Which calls of a driver count as different: those with other arguments, or with other memory behind these.

use crate::support::{Repo, plant};

const HEADER: &str = "\
char *text_new(unsigned room);
void text_free(char *text);
unsigned text_room(const char *text);
struct node { struct node *next; unsigned value; };
unsigned total(const struct node *first);
struct list { struct node *first; };
unsigned sum(const struct list *list);
";

/// A text has its length before its bytes, and a list its values behind other pointers.
const LIBRARY: &str = "\
#include \"text.h\"
#include <stdlib.h>
char *text_new(unsigned room) {
    unsigned *block = calloc(1, sizeof *block + 8);
    if (!block) abort();
    *block = room;
    return (char *)(block + 1);
}
void text_free(char *text) { free((unsigned *)text - 1); }
unsigned text_room(const char *text) { return ((const unsigned *)text)[-1] * 3 + 1; }
unsigned total(const struct node *first) {
    unsigned sum = 0;
    for (; first; first = first->next)
        sum = sum * 3 + first->value;
    return sum;
}
unsigned sum(const struct list *list) { return total(list->first) * 7 + 2; }
";

const DRIVER: &str = "\
#include \"../text.h\"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned number = 0;
    struct node *nodes = calloc(3, sizeof *nodes);
    if (!nodes) return 0;
    for (size_t i = 0; i < size; i++)
        number = number * 31 + data[i];
    nodes[0].next = &nodes[1];
    nodes[1].next = malloc(sizeof *nodes);
    if (nodes[1].next) {
        *nodes[1].next = (struct node){0, number};
        total(nodes);
        struct list list = {nodes};
        sum(&list);
    }
    free(nodes[1].next);
    free(nodes);
    char *text = text_new(number);
    text_room(text);
    text_free(text);
    return 0;
}
";

const ROOM: &str = "pub unsafe fn text_room(text: *const core::ffi::c_char) -> u32 {
    let room = unsafe { text.cast::<u32>().sub(1).read_unaligned() };
    room.wrapping_mul(3).wrapping_add(1)
}";

const TOTAL: &str = "pub unsafe fn total(first: *const ffi::node) -> u32 {
    let (mut sum, mut next) = (0_u32, first);
    while let Some(node) = unsafe { next.as_ref() } {
        sum = sum.wrapping_mul(3).wrapping_add(node.value);
        next = node.next;
    }
    sum
}";

const SUM: &str = "pub unsafe fn sum(list: *const ffi::list) -> u32 {
    unsafe { callee::total((*list).first).wrapping_mul(7).wrapping_add(2) }
}";

#[test]
fn memory_before_an_argument_and_behind_other_pointers_makes_calls_different() {
    let repo = Repo::of(&[("text.h", HEADER), ("text.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 2\n[grade]\nexecutions = 100\n"));
    let mut module = repo.read("rust/src/text.rs");
    for (name, port) in [("text_room", ROOM), ("total", TOTAL), ("sum", SUM)] {
        plant(&mut module, name, port).unwrap();
    }
    repo.write("rust/src/text.rs", &module);
    let verify = ["verify", "--all", "--config", "grade.measure=true", "--format", "json"];
    let json = repo.run(&verify).json("verify");
    for symbol in json["symbols"].as_array().unwrap() {
        assert!(symbol["in_place"].as_u64() >= Some(100), "{json:#}");
    }
}

const MIXED: &str = "unsigned mix(unsigned a, unsigned b);\n";
const MIXED_LIBRARY: &str =
    "#include \"mix.h\"\nunsigned mix(unsigned a, unsigned b) { return a * 31 + b; }\n";

/// Every call of all inputs is another one.
const MIXED_DRIVER: &str = "\
#include \"../mix.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned number = 0;
    for (size_t at = 0; at < size; at++) number = number * 0x01000193 + data[at] + 1;
    for (unsigned at = 0; at < 240; at++) mix(number, at);
    return 0;
}
";

#[test]
fn as_many_different_calls_count_as_a_grade_asks_for() {
    let repo = Repo::of(&[("mix.h", MIXED), ("mix.c", MIXED_LIBRARY), ("fuzz/run.c", MIXED_DRIVER)]);
    let config = repo.read("implfuzz.toml");
    let settings = "[drivers]\nseconds = 2\nfunction_seconds = 40\n[grade]\nexecutions = 70_000\n";
    repo.write("implfuzz.toml", &format!("{config}\n{settings}"));
    let mut module = repo.read("rust/src/mix.rs");
    let port = "pub fn mix(a: u32, b: u32) -> u32 {\n    a.wrapping_mul(31).wrapping_add(b)\n}";
    plant(&mut module, "mix", port).unwrap();
    repo.write("rust/src/mix.rs", &module);
    let json = repo.run(&["drivers", "--ports", "--format", "json"]).ok().json("drivers");
    // It ends once there are enough.
    let judged = json["ports"][0]["judged"].as_u64();
    assert!((Some(70_000)..Some(100_000)).contains(&judged), "{json:#}");
}
