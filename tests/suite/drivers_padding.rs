//! Bytes that differ may be padding, which has no value; but not where no struct of the library has padding.

use crate::support::Repo;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HEADER: &str = "\
struct padded { char tag; int number; };
struct buffer { unsigned char *data; unsigned long size; };
struct cell { union { unsigned short freq, code; } fc; };
struct pair { int a, b; };
struct owner { struct pair *pair; };
int stamp(struct padded *p);
void put(struct buffer *buffer, unsigned char byte);
void count(struct cell *cell);
void set(struct pair *pairs, int at, int value);
void owner_set(struct owner *owner, int value);
void tagged(struct padded *all, int at, int number);
struct pair *pair_new(int a);
";

const LIBRARY: &str = "\
#include \"cells.h\"
#include <stdlib.h>
int stamp(struct padded *p) { return p->tag + p->number; }
void put(struct buffer *buffer, unsigned char byte) { buffer->data[buffer->size++] = byte; }
void count(struct cell *cell) { cell->fc.freq++; }
void set(struct pair *pairs, int at, int value) { pairs[at].a = value; }
void owner_set(struct owner *owner, int value) { owner->pair->b = value; }
void tagged(struct padded *all, int at, int number) { all[at].tag = 1; all[at].number = number; }
struct pair *pair_new(int a) {
    struct pair *pair = malloc(sizeof *pair);
    if (pair) pair->a = a, pair->b = a;
    return pair;
}
";

const DRIVER: &str = "\
#include \"../cells.h\"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct buffer buffer = {malloc(size + 1), 0};
    struct cell cell = {{0}};
    struct pair *pairs = calloc(4, sizeof *pairs);
    struct owner owner = {pairs + 1};
    struct padded *all = calloc(4, sizeof *all);
    int sum = 0;
    for (size_t at = 0; at < size; at++) {
        put(&buffer, data[at]);
        count(&cell);
        set(pairs, data[at] % 4, data[at]);
        owner_set(&owner, data[at]);
        tagged(all, 1 + data[at] % 3, data[at]);
        sum += stamp(all + data[at] % 4);
        free(pair_new(data[at]));
    }
    free(buffer.data); free(pairs); free(all);
    return sum == 1 ? -1 : 0;
}
";

/// Bodies of wrong ports, but for the last, which leaves another value in the padding behind `tag`.
const BODIES: [(&str, &str); 6] = [
    (
        "put",
        "unsafe { *(*buffer).data.add((*buffer).size as usize) = byte.wrapping_add(1); (*buffer).size += 1; }",
    ),
    ("count", "unsafe { (*cell).fc.freq = (*cell).fc.freq.wrapping_add(2); }"),
    ("set", "unsafe { (*pairs.add(at as usize)).a = value + 1; }"),
    ("owner_set", "unsafe { (*(*owner).pair).b = value + 1; }"),
    (
        "pair_new",
        "unsafe {
        let pair = libc::malloc(8).cast::<ffi::pair>();
        if !pair.is_null() { (*pair).a = a; (*pair).b = a + 1; }
        pair
    }",
    ),
    (
        "tagged",
        "unsafe {
        let one = all.add(at as usize);
        *one.cast::<u32>() = 0x01010101;
        (*one).number = number;
    }",
    ),
];

/// The ports of a library, as `drivers --ports` judges them; some are wrong.
fn judged(repo: &Repo, module: &str, bodies: &[(&str, &str)]) -> BTreeMap<String, Value> {
    let mut text = repo.read(module);
    for (name, body) in bodies {
        let at = text.find(&format!("fn {name}(")).unwrap();
        let start = at + text[at..].find("    unimplemented!").unwrap();
        let end = start + text[start..].find('\n').unwrap();
        text.replace_range(start..end, &format!("    {body}"));
    }
    repo.write(module, &text);
    let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
    let json = repo.run(&[&quick[..], &["--format", "json"]].concat()).code(10).json("drivers");
    let ports = json["ports"].as_array().unwrap().iter();
    ports.map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
}

/// Whether a port differs, and whether that may be no more than padding.
fn differs(port: &Value) -> (bool, bool) {
    let differs = &port["differs"];
    (!differs.is_null(), differs["unclear"].as_str().is_some_and(|why| why.contains("padding")))
}

#[test]
fn values_are_told_from_padding() {
    let repo = Repo::of(&[("cells.h", HEADER), ("cells.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let ports = judged(&repo, "rust/src/cells.rs", &BODIES);
    for (name, _) in BODIES {
        assert_eq!(differs(&ports[name]), (true, name == "tagged"), "{:#}", ports[name]);
    }
    // A path leads to memory behind other pointers, and to new memory.
    for (name, path) in [("owner_set", "owner->pair->b"), ("pair_new", "return value->b")] {
        let differs = &ports[name]["differs"];
        assert_eq!(differs["path"], json!(path), "{differs:#}");
        let number = |side: &str| differs[side].as_str().unwrap().parse::<i64>().unwrap();
        assert_eq!(number("port"), number("c") + 1, "{differs:#}");
    }
    // A difference that may be right does not end the judging of a port.
    assert!(ports["tagged"]["judged"].as_u64().unwrap() > 10, "{:#}", ports["tagged"]);
    assert_eq!(ports["tagged"]["broke"], json!(null));
}

/// Structs to which no argument leads by its type, beside a `FILE`, which has padding, and bit-fields.
const HIDDEN_HEADER: &str = "\
#include <stdio.h>
struct node { int count, limit; };
struct flags { unsigned low : 3, high : 29; };
struct padded { char tag; int number; };
struct book { unsigned char *data; unsigned long size; FILE *log; struct flags flags; int pages; };
void count(void *context, int by);
void limit(void **slots, int value);
void grow(struct book *book, unsigned long by);
void widen(struct book *book, unsigned long by);
void mark(void *context, int number);
int stamp(struct padded *p);
";

const HIDDEN: &str = "\
#include \"hidden.h\"
void count(void *context, int by) { struct node *node = context; node->count += by; }
void limit(void **slots, int value) { ((struct node *)slots[0])->limit = value; }
void grow(struct book *book, unsigned long by) { book->size = 0x400000 + by * 16; }
void widen(struct book *book, unsigned long by) { book->size = 0x400000 + by * 16; }
void mark(void *context, int number) { struct padded *p = context; p->tag = 1; p->number = number; }
int stamp(struct padded *p) { return p->tag + p->number; }
";

const HIDDEN_DRIVER: &str = "\
#include \"../hidden.h\"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct node *node = calloc(1, sizeof *node);
    void **slots = calloc(1, sizeof *slots);
    struct book *book = calloc(1, sizeof *book), on_stack = {0};
    struct padded *padded = calloc(1, sizeof *padded);
    int sum = 0;
    slots[0] = node;
    for (size_t at = 0; at < size; at++) {
        count(node, data[at]);
        limit(slots, data[at]);
        grow(book, data[at]);
        widen(&on_stack, data[at]);
        mark(padded, data[at]);
        sum += stamp(padded) + (int)on_stack.size;
    }
    free(node); free(slots); free(book); free(padded);
    return sum == 1 ? -1 : 0;
}
";

/// Bodies of wrong ports, but for the last, which leaves another value in the padding behind `tag`.
const HIDDEN_BODIES: [(&str, &str); 5] = [
    ("count", "unsafe { (*context.cast::<ffi::node>()).count += by + 1; }"),
    ("limit", "unsafe { (*(*slots).cast::<ffi::node>()).limit = value + 256; }"),
    ("grow", "unsafe { (*book).size = 0x400003 + by * 16; }"),
    ("widen", "unsafe { (*book).size = 0x400003 + by * 16; }"),
    (
        "mark",
        "unsafe {
        let one = context.cast::<ffi::padded>();
        *one.cast::<u32>() = 0x01010101;
        (*one).number = number;
    }",
    ),
];

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_padding -- --ignored"]
fn wrong_numbers_are_found_where_no_argument_leads_by_its_type_and_where_they_look_like_addresses() {
    let repo = Repo::of(&[("hidden.h", HIDDEN_HEADER), ("hidden.c", HIDDEN), ("fuzz/run.c", HIDDEN_DRIVER)]);
    let ports = judged(&repo, "rust/src/hidden.rs", &HIDDEN_BODIES);
    for (name, _) in HIDDEN_BODIES {
        let is_padding = name == "mark";
        assert_eq!(differs(&ports[name]), (true, is_padding), "{:#}", ports[name]);
        assert_eq!(ports[name]["differs"]["unclear"].is_null(), !is_padding, "{:#}", ports[name]);
    }
    let differs = serde_json::to_string(&ports["grow"]["differs"]).unwrap();
    assert!(differs.contains("book->size"), "{differs}");
}
