//! `context` through the binary: it prints what `port` would send to a model, and says why if `port` would not ask.

use crate::support::shape::documented;
use crate::support::{QUICK, Repo, assert_same, plant, reply};
use serde_json::Value;

const TWICE: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const PRINTS: &str = "#include <stdio.h>\nvoid greet(unsigned times) { while (times--) puts(\"hi\"); }\n";
const DRIVER: &str = "#include <stdint.h>\n#include <stddef.h>\nvoid greet(unsigned times);\n\
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { greet(size && *data); return 0; }\n";

fn json(repo: &Repo, name: &str, code: i32) -> Value {
    repo.run(&["context", name, "--format", "json"]).code(code).json("context")
}

#[test]
fn the_prompt_is_the_one_that_port_sends() {
    let repo = Repo::initialised();
    // The model gives no function, so nothing is built.
    repo.model(&["I cannot.\n"]);
    let before = repo.tree();
    let shown = json(&repo, "thrice", 0);
    let text = repo.run(&["context", "twice", "thrice"]);
    let dry = repo.run(&["port", "thrice", "--dry-run", "--format", "json"]).ok().json("plan");
    assert_same(&before, &repo.tree());
    assert_eq!((repo.asked(), repo.count("SELECT count(*) FROM runs")), (0, 0));
    repo.run(&[&["port", "thrice"][..], &QUICK].concat());
    let sent: Value = serde_json::from_str(&repo.prompt(1)).unwrap();
    assert_eq!(sent["role"], "prototyper");
    assert_eq!((&shown["system"], &shown["prompt"]), (&sent["system"], &sent["messages"][0]["content"]));
    assert_eq!(shown["estimated_tokens"], dry["tokens"]);
    documented(&shown);
    text.ok()
        .shows("# prototyper of twice")
        .shows("# prototyper of thrice")
        .shows("## system")
        .shows("## user");
    assert!(text.stdout.contains(shown["prompt"].as_str().unwrap()), "{text}");
}

#[test]
fn a_function_with_a_port_has_the_prompt_for_a_new_one() {
    let repo = Repo::initialised();
    let stub = json(&repo, "twice", 0);
    let mut module = repo.read("rust/src/sum.rs");
    plant(&mut module, "twice", TWICE).unwrap();
    repo.write("rust/src/sum.rs", &module);
    assert_eq!(json(&repo, "twice", 0), stub);
    // A function that calls it learns that it is ported.
    repo.run(&["context", "thrice"]).ok().shows("callee::twice");
}

#[test]
fn tabs_of_the_c_text_stay_and_terminal_sequences_do_not() {
    let repo = Repo::of(&[("say.c", "/* \u{1b}[2J */\nint same(int x)\n{\n\treturn x;\n}\n")]);
    let ran = repo.run(&["context", "same"]);
    ran.ok().shows("\n\treturn x;").shows("\\u{1b}[2J");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran}");
}

#[test]
fn what_port_would_not_ask_is_said_with_the_reason_and_the_help() {
    let repo = Repo::of(&[("greet.c", PRINTS)]);
    repo.model(&[&reply("")]);
    let alone = json(&repo, "greet", 11);
    assert_eq!(
        (&alone["prompt"], &alone["system"], &alone["estimated_tokens"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert!(alone["reason"].as_str().unwrap().contains("the repository has no driver"), "{alone}");
    assert!(alone["help"].as_str().unwrap().contains("cargo implfuzz drivers --new calls"), "{alone}");
    documented(&alone);
    repo.write("fuzz/greet.c", DRIVER);
    // `port` would run the driver first.
    let before = json(&repo, "greet", 0);
    repo.run(&["drivers", "--seconds", "1"]).ok();
    let reached = json(&repo, "greet", 0);
    assert_eq!(before, reached);
    assert!(
        reached["prompt"].as_str().unwrap().contains("Programs that use the library judge the port"),
        "{reached}"
    );
    assert_eq!(reached["reason"], Value::Null);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[symbols.greet]\nskip = true\nreason = \"later\"\n"));
    repo.run(&["context", "greet"]).code(11).shows("later").shows("remove symbols.greet.skip");
    assert_eq!(repo.asked(), 0);
    repo.run(&["context", "great"]).fails(2, &["no function `great`", "did you mean `greet`"]);
}

#[test]
fn a_function_that_needs_a_contract_first_has_no_prompt() {
    // The tool does not know `strnlen`.
    let text = "#include <string.h>\nunsigned named(const void *name) { return (unsigned)strnlen(name, 40) * 2u; }\n";
    let repo = Repo::of(&[("named.c", text)]);
    let ran = repo.run(&["context", "--all"]);
    ran.code(11).shows("asks a model for a contract first").shows("cargo implfuzz port named");
}
