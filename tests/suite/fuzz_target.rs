//! Fuzz targets that a model writes: what they can judge that no contract says, what they cannot get away with, and the workflow in
//! which every function gets one. The models here are scripts.

use crate::support::{MEASURED, QUICK, Ran, Repo, assert_same, reply};

const HEADER: &str = "#ifndef WORDS_H\n#define WORDS_H\n#include <stddef.h>\nsize_t word(const char **at);\n\
    char *joined(const char *const *parts, size_t count);\nint parity(int number);\n#endif\n";
const SOURCE: &str = "#include \"words.h\"\n#include <stdlib.h>\n#include <string.h>\n\n\
    /* The length of the first word at *at, which is then behind it. */\n\
    size_t word(const char **at) {\n    const char *p = *at;\n    while (*p == ' ') p++;\n    size_t n = 0;\n    \
    while (p[n] && p[n] != ' ') n++;\n    *at = p + n;\n    return n;\n}\n\n\
    /* All parts in one block of the caller's, with '/' between them. */\n\
    char *joined(const char *const *parts, size_t count) {\n    size_t size = 1;\n    \
    for (size_t i = 0; i < count; i++) size += strlen(parts[i]) + 1;\n    char *all = malloc(size), *to = all;\n    \
    if (!all) return NULL;\n    for (size_t i = 0; i < count; i++) {\n        if (i) *to++ = '/';\n        \
    size_t n = strlen(parts[i]);\n        memcpy(to, parts[i], n);\n        to += n;\n    }\n    *to = 0;\n    return all;\n}\n\n\
    int parity(int number) { return number % 2 != 0; }\n";

const SHORT: [&str; 2] = ["--config", "grade.mutant_seconds=2"];

/// Calls `word` twice, so that what the first call left is seen.
const WORD: &str = "pub fn target(input: &mut Input, side: &mut Side) {\n    let text = side.text(&input.text(60));\n    \
    let at = side.memory(&[text.cast_const()]);\n    side.call(at);\n    side.call(at);\n}\n";

const PORT: &str = "pub unsafe fn word(at: *mut *const core::ffi::c_char) -> usize {\n    \
    // SAFETY: `at` leads to a pointer to a text.\n    unsafe {\n        let mut p = *at;\n        \
    while *p as u8 == b' ' {\n            p = p.add(1);\n        }\n        let mut n = 0;\n        \
    while *p.add(n) != 0 && *p.add(n) as u8 != b' ' {\n            n += 1;\n        }\n        *at = p.add(n);\n        n\n    }\n}\n";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("words.h", HEADER);
    repo.write("words.c", SOURCE);
    repo.run(&["init"]).ok();
    repo
}

/// The library with a person's word that a model writes the target of this function.
fn aimed(symbol: &str, replies: &[&str]) -> Repo {
    let repo = library();
    let config = repo.read("implfuzz.toml");
    repo.write(
        "implfuzz.toml",
        &config.replace("\n[llm]", &format!("\n[symbols.{symbol}]\nharness = \"model\"\n\n[llm]")),
    );
    repo.model(replies);
    repo
}

fn target(rust: &str) -> String {
    format!("```rust fuzz_target\n{rust}```\n")
}

fn port(repo: &Repo, symbol: &str, more: &[&str]) -> Ran {
    repo.run(&[&["port", symbol][..], &QUICK, &MEASURED, &SHORT, more].concat())
}

fn verify(repo: &Repo, symbol: &str) -> Ran {
    repo.run(&[&["verify", symbol][..], &MEASURED, &SHORT, &["--runs", "20000", "--seconds", "5"]].concat())
}

#[test]
fn what_no_contract_says_is_ported_under_a_target_and_weak_until_a_person_approves() {
    let torn = WORD.replace("side.call(at);\n}", "side.call(at, 1);\n}");
    let repo = aimed("word", &[&target(&torn), &target(WORD), &reply(PORT)]);
    let listed = repo.run(&["contract", "word"]);
    assert!(listed.stdout.contains("`at` is a pointer to a pointer"), "{listed}");
    let ran = port(&repo, "word", &[]);
    ran.ok();
    for said in [
        "the fuzz target does not do: the fuzz target rust/fuzz/targets/word.rs does not compile",
        "a fuzz target by command/sh",
        "nobody has approved of it",
    ] {
        assert!(format!("{ran}").contains(said), "no {said:?} in {ran}");
    }
    assert_eq!(repo.asked(), 3);
    let (first, second) = (repo.prompt(1), repo.prompt(2));
    assert!(first.contains("\"role\":\"target-writer\""), "{first}");
    assert!(first.contains("side.call(at: *mut *const ::core::ffi::c_char) -> usize"), "{first}");
    assert!(second.contains("side.call(at, 1)") && second.contains("does not compile"), "{second}");
    let text = repo.read("rust/fuzz/targets/word.rs");
    assert!(text.contains("Proposed by `command/sh`"), "{text}");
    assert!(repo.read("rust/contracts/word.toml").contains("harness = \"model\""));
    assert!(repo.read("implfuzz.lock").contains("[symbols.word]"));
    repo.run(&["check"]).ok();
    assert!(verify(&repo, "word").code(11).stdout.contains("nobody has approved of it"));
    repo.run(&["contract", "--approve", "word"]).ok().shows("cargo implfuzz verify word");
    repo.run(&["contract", "--approve", "word"]).code(2);
    // Approval is a change of what the port was judged on, and so is any other one.
    let stale = repo.run(&["check"]);
    assert!(format!("{stale}").contains("the harness changed"), "{stale}");
    assert!(verify(&repo, "word").ok().stdout.contains("verified"));
    repo.run(&["check"]).ok();
    repo.replace("rust/fuzz/targets/word.rs", "input.text(60)", "input.text(61)");
    assert!(format!("{}", repo.run(&["check"])).contains("the harness changed"));
}
