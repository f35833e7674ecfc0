//! Results that are structs: in two registers, in one, in memory of the caller, and those that are not judged.

use crate::support::Repo;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HEADER: &str = "\
struct piece { const unsigned char *data; int length, owned; };
struct word { unsigned low, high; };
struct box { long sides[4]; };
struct point { double x; };
struct piece piece_of(const unsigned char *data, int length);
struct word word_of(unsigned value);
struct box box_of(long side);
struct point point_of(int x);
struct mix { union { int number; float share; } as; };
struct mix mix_of(int x);
";

const LIBRARY: &str = "\
#include \"results.h\"
struct piece piece_of(const unsigned char *data, int length) {
    struct piece piece = {data + length / 2, length - length / 2, length & 1};
    return piece;
}
struct word word_of(unsigned value) { struct word word = {value & 15, value >> 4}; return word; }
struct box box_of(long side) { struct box box = {{side, side + 1, side * 2, 7}}; return box; }
struct point point_of(int x) { struct point point = {x}; return point; }
struct mix mix_of(int x) { struct mix mix = {{x}}; return mix; }
";

const DRIVER: &str = "\
#include \"../results.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    long sum = 0;
    for (size_t at = 0; at < size; at++) {
        sum += piece_of(data, data[at] % (int)size).length + word_of(data[at]).high;
        sum += box_of(data[at]).sides[2] + (long)point_of(data[at]).x + mix_of(data[at]).as.number;
    }
    return sum == 1 ? -1 : 0;
}
";

/// Functions with the body of a right port, and a part of it with what makes it wrong.
const BODIES: [(&str, &str, &str, &str); 4] = [
    (
        "piece_of",
        "ffi::piece { data: data.wrapping_offset((length / 2) as isize), length: length - length / 2, owned: length & 1 }",
        "length & 1",
        "0",
    ),
    ("word_of", "ffi::word { low: value & 15, high: value >> 4 }", ">> 4", ">> 5"),
    ("point_of", "ffi::point { x: f64::from(x) }", "from(x)", "from(x | 8)"),
    ("box_of", "ffi::box_ { sides: [side, side + 1, side * 2, 7] }", ", 7", ", 8"),
];

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_structs -- --ignored"]
fn structs_are_compared_however_they_are_returned() {
    let repo = Repo::of(&[("results.h", HEADER), ("results.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let stubs = repo.read("rust/src/results.rs");
    for is_wrong in [false, true] {
        let mut module = stubs.clone();
        for (name, body, from, to) in BODIES {
            let body = if is_wrong { body.replace(from, to) } else { body.to_owned() };
            let at = module.find(&format!("fn {name}(")).unwrap();
            let start = at + module[at..].find("    unimplemented!").unwrap();
            let end = start + module[start..].find('\n').unwrap();
            module.replace_range(start..end, &format!("    {body}"));
        }
        repo.write("rust/src/results.rs", &module);
        let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
        let ran = repo.run(&[&quick[..], &["--format", "json"]].concat());
        let json = ran.code(if is_wrong { 10 } else { 0 }).json("drivers");
        let ports = json["ports"].as_array().unwrap().iter();
        let ports: BTreeMap<&str, &Value> = ports.map(|one| (one["symbol"].as_str().unwrap(), one)).collect();
        for (name, ..) in BODIES {
            let port = ports[name];
            let what = if name == "box_of" { "stack" } else { "result" };
            let wanted = if is_wrong { json!(what) } else { Value::Null };
            assert_eq!(port["differs"].get("what").unwrap_or(&Value::Null), &wanted, "{port:#}");
            assert!(is_wrong || port["judged"].as_u64().unwrap() > 10, "{port:#}");
        }
        let why = json["not_judged"]["mix_of"].as_str().unwrap();
        assert!(why.contains("small struct"), "{why}");
    }
}
