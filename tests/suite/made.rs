//! Structs with a buffer and its length: half of the inputs hold a struct that C has built.

use crate::support::Repo;

const SOURCE: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\
    struct sum { uint32_t total; uint8_t held[4]; uint32_t fill; };\n\n\
    void sum_reset(struct sum *s, uint32_t seed) {\n    memset(s, 0, sizeof *s);\n    s->total = seed;\n}\n\n\
    void sum_update(struct sum *s, const uint8_t *data, size_t len) {\n    \
    while (len--) {\n        s->held[s->fill++] = *data++;\n        \
    if (s->fill == 4) {\n            uint32_t word;\n            memcpy(&word, s->held, 4);\n            \
    s->total = s->total * 31u + word;\n            s->fill = 0;\n        }\n    }\n}\n";

const RIGHT: &str = "for byte in data {\n        s.held[s.fill as usize] = *byte;\n        s.fill += 1;\n        \
    if s.fill == 4 {\n            s.total = s.total.wrapping_mul(31).wrapping_add(u32::from_le_bytes(s.held));\n            \
    s.fill = 0;\n        }\n    }";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("sum.c", SOURCE);
    repo.run(&["init"]).ok();
    repo
}

#[test]
#[ignore = "half a minute: cargo test --test suite made -- --ignored"]
fn a_function_is_judged_on_what_its_constructor_makes() {
    let repo = library();
    repo.run(&["contract", "sum_update"]).ok().shows("pointer to one, every other one by `sum_reset`");
    let checked = repo.run(&["contract", "--check", "sum_update", "--seconds", "4", "--format", "json"]);
    let row = checked.json("contract-check")["symbols"][0].clone();
    assert!(row["accept_rate"].as_f64().unwrap() > 0.5, "{row}");
    let stub = repo.read("rust/src/sum.rs");
    let port = |body: &str, code: i32| {
        repo.write("rust/src/sum.rs", &stub.replace("unimplemented!(\"sum_update\")", body));
        repo.verified(&["sum_update"], code)
    };
    let (judged, findings) = port(&RIGHT.replace("s.fill = 0", "s.fill = 1"), 10);
    assert!(findings.contains_key("sum_update"), "{judged:?}");
    // Whoever takes the buffer for empty is right for all that was just made.
    let (judged, findings) = port(&format!("s.fill = 0;\n    {RIGHT}"), 10);
    assert!(findings.contains_key("sum_update"), "{judged:?}");
    let (judged, findings) = port(RIGHT, 0);
    assert!(findings.is_empty(), "{judged:?} {findings:?}");
}

#[test]
fn a_person_names_makers_or_none() {
    let repo = library();
    let path = "rust/contracts/sum_update.toml";
    assert!(repo.read(path).contains("made_by = [\"sum_reset\"]"), "{}", repo.read(path));
    repo.replace(path, "made_by = [\"sum_reset\"]\n", "");
    let told = repo.run(&["contract", "sum_update"]);
    assert!(!told.ok().stdout.contains("every other one"), "{told}");
    repo.replace(path, "role = \"pointer\"", "role = \"pointer\"\nmade_by = [\"sum_update\"]");
    repo.run(&["contract", "sum_update"])
        .code(2)
        .shows("made_by: according to its contract, `sum_update` fills no struct of this kind")
        .shows("functions that do: `sum_reset`");
    repo.replace(path, "role = \"pointer\"\nmade_by = [\"sum_update\"]", "role = \"pointer\"");
    repo.replace(path, "role = \"length\"", "role = \"length\"\nmade_by = [\"sum_reset\"]");
    repo.run(&["contract", "sum_update"]).code(2).shows("`made_by` is for pointers to one struct");
}
