//! Calls in which C itself has undefined behaviour say nothing of a port.

use crate::support::{Repo, plant};
use serde_json::json;

const HEADER: &str = "\
struct number { double value; int whole; };
void number_set(struct number *number, double value);
void number_add(struct number *number, double value);
";

const LIBRARY: &str = "\
#include \"number.h\"
void number_set(struct number *number, double value) { number->value = value; number->whole = (int)value; }
void number_add(struct number *number, double value) { number_set(number, number->value + value); }
";

/// Eight bytes in nine are a number, which an `int` seldom holds; the ninth is one that it holds.
const DRIVER: &str = "\
#include \"../number.h\"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct number number = {0, 0};
    for (; size >= 9; data += 9, size -= 9) {
        double any;
        memcpy(&any, data, 8);
        number_set(&number, any);
        number_add(&number, data[8]);
        number_set(&number, data[8] / 4.0);
        number_add(&number, data[8]);
    }
    return 0;
}
";

const QUICK: [&str; 5] = ["drivers", "--ports", "--seconds", "1", "--config=drivers.function_seconds=1"];

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_undefined -- --ignored"]
fn floats_that_no_integer_holds_are_not_compared() {
    let repo = Repo::of(&[("number.h", HEADER), ("number.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let tree = repo.read("rust/src/number.rs");
    let write = |whole: &str| {
        let mut module = tree.clone();
        let port = format!(
            "pub unsafe fn number_set(number: *mut ffi::number, value: f64) {{\n    \
             unsafe {{ (*number).value = value; (*number).whole = {whole}; }}\n}}"
        );
        plant(&mut module, "number_set", &port).unwrap();
        repo.write("rust/src/number.rs", &module);
    };
    // Rust's conversion saturates, and takes no number for 0, where x86-64 gives the smallest integer.
    write("value as i32");
    let right = repo.run(&QUICK);
    right.ok().shows("a float in an integer type that cannot hold it");
    write("value.round() as i32");
    let json = repo.run(&[&QUICK[..], &["--format", "json"]].concat()).code(10).json("drivers");
    let wrong = &json["ports"][0];
    assert_eq!(wrong["differs"]["path"], json!("number->whole"), "{wrong:#}");
    assert!(wrong["judged"].as_u64().unwrap() > 10, "{wrong:#}");
}

const LOG: &str = "#include \"log.h\"\nint log_2(unsigned int n) { return 31 - __builtin_clz(n); }\n";

const LOG_DRIVER: &str = "\
#include \"../log.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (; size >= 2; data += 2, size -= 2) log_2(0), log_2(data[0]), log_2(data[0] * data[1]);
    return 0;
}
";

/// With a harness and in place.
#[test]
fn zeros_of_zero_are_not_compared() {
    let header = ("log.h", "int log_2(unsigned int n);\n");
    let repo = Repo::of(&[header, ("log.c", LOG), ("fuzz/run.c", LOG_DRIVER)]);
    let tree = repo.read("rust/src/log.rs");
    let write = |first: u32| {
        let mut module = tree.clone();
        let port = format!("pub fn log_2(n: u32) -> i32 {{\n    {first} - n.leading_zeros() as i32\n}}");
        plant(&mut module, "log_2", &port).unwrap();
        repo.write("rust/src/log.rs", &module);
    };
    // For 0, it gives -1 where x86-64 gives what is left in a register.
    write(31);
    repo.verified(&["log_2"], 0);
    repo.run(&QUICK).ok().shows("`__builtin_clz(0)`");
    write(30);
    repo.run(&QUICK).code(10);
}
