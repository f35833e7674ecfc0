//! Variables of C that Rust has no static for, in ports that drivers judge.

use crate::support::{Repo, reply};
use serde_json::json;

const HEADER: &str = "unsigned letter(unsigned at);\nunsigned mark(unsigned at);\n";

/// Nothing changes `letters`; a program may set `marks`.
const LIBRARY: &str = "\
#include \"letters.h\"
static const unsigned char *letters = (const unsigned char *)\"expand\";
const unsigned char *marks = (const unsigned char *)\"+-\";
unsigned letter(unsigned at) { return letters[at % 6]; }
unsigned mark(unsigned at) { return marks[at % 2]; }
";

const DRIVER: &str = "\
#include \"../letters.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned sum = 0;
    for (size_t at = 0; at < size; at++)
        sum += letter(data[at]) + mark(data[at]);
    return sum == 12345;
}
";

#[test]
#[ignore = "half a minute: cargo test --test suite c_variables -- --ignored"]
fn a_constant_of_c_is_shown_and_a_variable_that_may_change_is_out_of_reach() {
    let repo = Repo::of(&[("letters.h", HEADER), ("letters.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 2\n[grade]\nexecutions = 300\n"));
    let stub = repo.read("rust/src/letters.rs");
    let from = stub.find("pub unsafe fn letter(").or_else(|| stub.find("pub fn letter(")).unwrap();
    let head = &stub[from..from + stub[from..].find('{').unwrap()];
    repo.model(&[&reply(&format!("{head}{{ u32::from(b\"expand\"[(at % 6) as usize]) }}"))]);
    let json = repo.run(&["port", "letter", "mark", "--format", "json"]).json("port");
    let prompt = repo.prompt(1);
    for told in ["Nothing changes `letters`", "*letters = (const unsigned char *)"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    let end = |symbol: &str| {
        let rows = json["symbols"].as_array().unwrap();
        rows.iter().find(|row| row["symbol"] == symbol).unwrap().clone()
    };
    assert_eq!((&end("letter")["end"], repo.asked()), (&json!("accepted"), 1), "{json:#}");
    assert_eq!(end("mark")["end"], "not-judgeable", "{json:#}");
    let why = end("mark")["reason"].as_str().unwrap().to_owned();
    assert!(why.contains("`marks`, which may change"), "{why}");
}
