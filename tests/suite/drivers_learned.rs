//! Contracts learn from the calls that drivers make: what real calls contradict is corrected or not used.

use crate::support::Repo;
use serde_json::Value;

const HEADER: &str = "\
void number(int *codes, const unsigned char *lengths, int first_len, int last_len, int count);
unsigned blend(const unsigned *slots, unsigned slots_len);
long weight(const int *items, int items_len);
long slide(const int *items, int items_len);
int up_to(const unsigned char *text, int hi);
unsigned checked(const unsigned char *bytes, unsigned bytes_len);
struct link { struct link *next; };
struct link *chain(int links);
";

/// The text suggests `first_len` as the length of `lengths`, `slots_len` for `slots`, and `hi` for `text`.
const LIBRARY: &str = "\
#include \"learned.h\"
#include <stdlib.h>
void number(int *codes, const unsigned char *lengths, int first_len, int last_len, int count) {
    int next = 7;
    for (int length = first_len; length <= last_len; length++) {
        for (int i = 0; i < count; i++)
            if (lengths[i] == length)
                codes[i] = next++;
        next *= 2;
    }
}
unsigned blend(const unsigned *slots, unsigned slots_len) {
    unsigned sum = 0;
    for (int i = 0; i < 12; i++)
        sum = sum * 7 + (slots[i] ^ slots_len);
    return sum;
}
long weight(const int *items, int items_len) {
    long sum = 3;
    for (int i = 0; i < items_len; i++)
        sum = sum * 5 + items[i];
    return sum + items_len * 2;
}
long slide(const int *items, int items_len) {
    long sum = 5;
    for (int i = 0; i < items_len; i++)
        sum = sum * 7 + items[i];
    return sum + items_len * 3;
}
int up_to(const unsigned char *text, int hi) {
    int sum = 0;
    for (int i = 0; i <= hi; i++)
        sum = sum * 17 + text[i];
    return sum;
}
struct link *chain(int links) {
    struct link *first = calloc(1, sizeof *first), *last = first;
    for (int made = 1; first && made < links && (last->next = calloc(1, sizeof *last)); made++)
        last = last->next;
    return first;
}
unsigned checked(const unsigned char *bytes, unsigned bytes_len) {
    unsigned sum = 1;
    for (unsigned i = 0; i < bytes_len; i++)
        sum = sum * 33 + bytes[i];
    return sum;
}
";

const DRIVER: &str = "\
#include \"../learned.h\"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8)
        return 0;
    int count = 4 + data[0] % 40;
    unsigned char *lengths = calloc((size_t)count, 1);
    for (int i = 0; i < count; i++)
        lengths[i] = data[(size_t)i % size] % 9;
    int *codes = calloc((size_t)count, sizeof *codes);
    number(codes, lengths, 1 + data[1] % 3, 3 + data[2] % 6, count);
    unsigned *slots = calloc(12, sizeof *slots);
    memcpy(slots, data, size < 48 ? size : 48);
    unsigned sum = blend(slots, 3 + data[3] % 5);
    sum += (unsigned)weight(codes, count) + (unsigned)up_to(data, (int)size - 1) + checked(data, (unsigned)size);
    for (int call = 0; call < 4; call++)
        sum += (unsigned)slide(codes, call == 3 ? -1 : count);
    for (struct link *link = chain(200), *next; link; link = next)
        next = link->next, free(link);
    free(lengths), free(codes), free(slots);
    return sum == 12345;
}
";

fn repo() -> Repo {
    let repo = Repo::empty();
    for (path, text) in [("learned.h", HEADER), ("learned.c", LIBRARY), ("fuzz/run.c", DRIVER)] {
        repo.write(path, text);
    }
    repo.run(&["init"]).ok();
    repo.run(&["drivers", "--seconds", "3"]).ok();
    repo
}

fn contract(repo: &Repo, symbol: &str) -> Value {
    repo.run(&["contract", symbol, "--format", "json"]).ok().json("contract")["symbols"][0].clone()
}

fn role(contract: &Value, parameter: &str) -> String {
    let params = contract["params"].as_array().unwrap_or_else(|| panic!("{contract:#}"));
    let own = params.iter().find(|param| param["name"] == parameter).unwrap();
    own["role"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_learned -- --ignored"]
fn calls_correct_contracts_that_the_c_text_suggests() {
    let repo = repo();
    let number = contract(&repo, "number");
    assert!(role(&number, "lengths").contains("`first_len`"), "{number:#}");
    assert!(role(&contract(&repo, "blend"), "slots").contains("`slots_len`"));
    assert!(repo.read("rust/src/learned.rs").contains("pub unsafe fn weight("));
    assert!(role(&contract(&repo, "up_to"), "text").contains("`hi`"));
    let sound = contract(&repo, "checked");

    let json = repo.run(&["contract", "--learn", "--all", "--format", "json"]).ok().json("contract-learn");
    assert_eq!(json["watched"], 7, "{json:#}");
    // The first of many blocks is as new as the last.
    let calls: Value = serde_json::from_str(&repo.read("rust/contracts/calls.json")).unwrap();
    let chained = &calls["functions"]["chain"];
    assert_eq!(chained["result"], serde_json::json!({ "new": chained["calls"] }), "{chained:#}");
    // A length that real calls exceed gives way to the one that they fill, and memory of one size is an array.
    let number = contract(&repo, "number");
    assert!(
        role(&number, "lengths").contains("`count`") && role(&number, "codes").contains("`count`"),
        "{number:#}"
    );
    assert!(role(&number, "first_len").contains("value"), "{number:#}");
    let reason = number["params"][1]["reason"].as_str().unwrap();
    assert!(
        reason.contains("learned.c:") && reason.contains("C touches at most `count` elements"),
        "{reason}"
    );
    assert!(role(&contract(&repo, "blend"), "slots").contains("array of 12"));
    // Where calls contradict a length and show no other, the size is unknown.
    assert!(role(&contract(&repo, "up_to"), "text").contains("unknown size"));
    // A length that is never below zero is a slice's, and the contract says that it is not.
    assert!(repo.read("rust/src/learned.rs").contains("pub fn weight(items: &[i32]) -> i64"));
    assert_eq!(contract(&repo, "weight")["require"][0], "items_len >= 0");
    // One that is below zero in some calls is not, although calls fill the memory.
    assert!(repo.read("rust/src/learned.rs").contains("pub unsafe fn slide("));
    // What was right stays.
    let checked = contract(&repo, "checked");
    assert_eq!(role(&checked, "bytes"), role(&sound, "bytes"));

    // C bears the new contracts out.
    let check =
        ["contract", "--check", "number", "blend", "weight", "checked", "--seconds", "3", "--format", "json"];
    let json = repo.run(&check).ok().json("contract-check");
    for one in json["symbols"].as_array().unwrap() {
        assert_eq!(one["shortcomings"].as_array().map(Vec::len), Some(0), "{one:#}");
    }

    // Calls of another text say nothing.
    repo.replace("learned.c", "i < 12", "i < 13");
    assert!(role(&contract(&repo, "blend"), "slots").contains("`slots_len`"));
    assert!(role(&contract(&repo, "number"), "lengths").contains("`count`"));
    let text = repo.read("rust/contracts/calls.json");
    repo.write("rust/contracts/calls.json", &text.replace("\"fits\"", "\"fit\""));
    repo.run(&["contract", "number"]).fails(2, &["calls.json", "contract --learn"]);
}
