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
";

const LIBRARY: &str = "\
#include \"cells.h\"
int stamp(struct padded *p) { return p->tag + p->number; }
void put(struct buffer *buffer, unsigned char byte) { buffer->data[buffer->size++] = byte; }
void count(struct cell *cell) { cell->fc.freq++; }
void set(struct pair *pairs, int at, int value) { pairs[at].a = value; }
void owner_set(struct owner *owner, int value) { owner->pair->b = value; }
void tagged(struct padded *all, int at, int number) { all[at].tag = 1; all[at].number = number; }
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
    }
    free(buffer.data); free(pairs); free(all);
    return sum == 1 ? -1 : 0;
}
";

/// Bodies of wrong ports, but for the last, which leaves another value in the padding behind `tag`.
const BODIES: [(&str, &str); 5] = [
    (
        "put",
        "unsafe { *(*buffer).data.add((*buffer).size as usize) = byte.wrapping_add(1); (*buffer).size += 1; }",
    ),
    ("count", "unsafe { (*cell).fc.freq = (*cell).fc.freq.wrapping_add(2); }"),
    ("set", "unsafe { (*pairs.add(at as usize)).a = value + 1; }"),
    ("owner_set", "unsafe { (*(*owner).pair).b = value + 1; }"),
    (
        "tagged",
        "unsafe {
        let one = all.add(at as usize);
        *one.cast::<u32>() = 0x01010101;
        (*one).number = number;
    }",
    ),
];

#[test]
fn values_are_told_from_padding() {
    let repo = Repo::of(&[("cells.h", HEADER), ("cells.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let mut module = repo.read("rust/src/cells.rs");
    for (name, body) in BODIES {
        let at = module.find(&format!("fn {name}(")).unwrap();
        let start = at + module[at..].find("    unimplemented!").unwrap();
        let end = start + module[start..].find('\n').unwrap();
        module.replace_range(start..end, &format!("    {body}"));
    }
    repo.write("rust/src/cells.rs", &module);
    let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
    let json = repo.run(&[&quick[..], &["--format", "json"]].concat()).code(10).json("drivers");
    let ports: BTreeMap<&str, &Value> =
        json["ports"].as_array().unwrap().iter().map(|one| (one["symbol"].as_str().unwrap(), one)).collect();
    for (name, _) in BODIES {
        let differs = &ports[name]["differs"];
        let is_unclear = differs["unclear"].as_str().is_some_and(|why| why.contains("padding"));
        assert_eq!((differs.is_null(), is_unclear), (false, name == "tagged"), "{:#}", ports[name]);
    }
    // A difference that may be right does not end the judging of a port.
    assert!(ports["tagged"]["judged"].as_u64().unwrap() > 10, "{:#}", ports["tagged"]);
    assert_eq!(ports["tagged"]["broke"], json!(null));
}
