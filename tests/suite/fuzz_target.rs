//! Fuzz targets written by a model: checks that no contract can express, cheats that are rejected, and the workflow
//! that gives every function a written target. The models are scripts.

use crate::support::{MEASURED, QUICK, Ran, Repo, assert_same, reply};

const HEADER: &str = "#ifndef WORDS_H\n#define WORDS_H\n#include <stddef.h>\nsize_t word(const char **at);\n\
    void halves(const char *text, char **left, char **right);\nint parity(int number);\nint sign(int number);\n\
    unsigned named(const void *name);\nconst char *kind(int number);\n\
    struct item { int value; struct item *next; };\nstruct item *push(struct item *list, int value);\n\
    unsigned total(struct item *const *lists, size_t count);\nint tick(struct item *list);\n#endif\n";
const SOURCE: &str = "#include \"words.h\"\n#include <stdlib.h>\n#include <string.h>\n\n\
    /* The length of the first word at *at, which is then behind it. */\n\
    size_t word(const char **at) {\n    const char *p = *at;\n    while (*p == ' ') p++;\n    size_t n = 0;\n    \
    while (p[n] && p[n] != ' ') n++;\n    *at = p + n;\n    return n;\n}\n\n\
    /* The text, and its second half, in two blocks of the caller's. */\n\
    void halves(const char *text, char **left, char **right) {\n    *left = strdup(text);\n    \
    *right = strdup(text + strlen(text) / 2);\n}\n\n\
    int parity(int number) { return number % 2 != 0; }\n\n\
    int sign(int number) { return number < 0 ? -1 : number > 0; }\n\n\
    unsigned named(const void *name) { return (unsigned)strnlen(name, 40) * 2u + 1u; }\n\n\
    const char *kind(int number) { return number < 0 ? NULL : number % 2 ? \"odd\" : \"even\"; }\n\n\
    struct item *push(struct item *list, int value) {\n    struct item *first = malloc(sizeof *first);\n    \
    if (!first) return list;\n    first->value = value;\n    first->next = list;\n    return first;\n}\n\n\
    /* Of all lists, and each value is less by one then. */\n\
    unsigned total(struct item *const *lists, size_t count) {\n    unsigned sum = 0;\n    \
    for (size_t i = 0; i < count; i++)\n        for (struct item *at = lists[i]; at; at = at->next) {\n            \
    sum += (unsigned)at->value;\n            at->value = (int)((unsigned)at->value - 1u);\n        }\n    return sum;\n}\n\n\
    /* How many there are; each value is doubled then. */\n\
    int tick(struct item *list) {\n    int count = 0;\n    for (; list; list = list->next, count++)\n        \
    list->value = (int)((unsigned)list->value * 2u);\n    return count;\n}\n";

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
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn what_no_contract_says_is_ported_under_a_target_and_weak_until_a_person_approves() {
    let torn = WORD.replace("side.call(at);\n}", "side.call(at, 1);\n}");
    let repo = aimed("word", &[&target(&torn), &target(WORD), &reply(PORT)]);
    let listed = repo.run(&["contract", "word"]);
    assert!(listed.stdout.contains("`at` is a pointer to a pointer"), "{listed}");
    let ran = port(&repo, "word", &[]);
    ran.ok();
    for said in [
        "the fuzz target is rejected: the fuzz target rust/fuzz/targets/word.rs does not compile",
        "a fuzz target by command/sh",
        "which is not approved yet",
    ] {
        assert!(format!("{ran}").contains(said), "no {said:?} in {ran}");
    }
    assert_eq!(repo.asked(), 3);
    let (first, second) = (repo.prompt(1), repo.prompt(2));
    assert!(first.contains("\"role\":\"target-writer\""), "{first}");
    assert!(first.contains("side.call(at: *mut *const core::ffi::c_char) -> usize"), "{first}");
    assert!(second.contains("side.call(at, 1)") && second.contains("does not compile"), "{second}");
    let text = repo.read("rust/fuzz/targets/word.rs");
    assert!(text.contains("Proposed by `command/sh`"), "{text}");
    assert!(repo.read("rust/contracts/word.toml").contains("harness = \"model\""));
    assert!(repo.read("implfuzz.lock").contains("[symbols.word]"));
    repo.run(&["check"]).ok();
    assert!(verify(&repo, "word").code(11).stdout.contains("which is not approved yet"));
    repo.run(&["contract", "--approve", "word"]).ok().shows("cargo implfuzz verify word");
    repo.run(&["contract", "--approve", "word"]).code(2);
    // Approval is a change of what the port was judged on, and so is any other one.
    let stale = repo.run(&["check"]);
    assert!(format!("{stale}").contains("the harness or the crate's manifest changed"), "{stale}");
    assert!(verify(&repo, "word").ok().stdout.contains("verified"));
    repo.run(&["check"]).ok();
    repo.replace("rust/fuzz/targets/word.rs", "input.text(60)", "input.text(61)");
    assert!(format!("{}", repo.run(&["check"])).contains("the harness or the crate's manifest changed"));
    repo.replace(
        "rust/fuzz/targets/word.rs",
        "input.text(61)",
        "std::env::args().next().unwrap().as_bytes()",
    );
    let refused = repo.run(&["contract", "word"]);
    assert!(refused.stdout.contains("the audit rejects rust/fuzz/targets/word.rs:"), "{refused}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn a_target_that_sees_nothing_leaves_nothing() {
    let blind = "pub fn target(input: &mut Input, side: &mut Side) {\n    let text = side.text(b\"\");\n    \
        let at = side.memory(&[text.cast_const()]);\n    side.call(at);\n}\n";
    let idle = "pub fn target(input: &mut Input, side: &mut Side) {\n    side.see(\"nothing\", input.value::<u8>());\n}\n";
    let repo = aimed("word", &[&target(blind), &target(idle), "A fuzz target? Gladly.", &reply(PORT)]);
    let before = repo.tree();
    let ran = port(&repo, "word", &[]);
    ran.code(11);
    for said in [
        "mutants of C killed",
        "C accepts 0 % of the inputs (the fuzz target calls nothing)",
        "the reply cannot be used: The reply has no block ```rust fuzz_target",
        "no fuzz target after 3 answers",
    ] {
        assert!(ran.stderr.contains(said), "no {said:?} in {ran}");
    }
    assert!(
        repo.prompt(2).contains("mutants of C killed") && repo.prompt(2).contains("side.text(b"),
        "{}",
        repo.prompt(2)
    );
    assert_same(&before, &repo.tree());
    assert_eq!(repo.count("SELECT count(*) FROM findings"), 0);
    // Nobody is asked again about the same C text.
    assert!(port(&repo, "word", &[]).code(11).stdout.contains("no fuzz target calls `word`"));
    assert_eq!(repo.asked(), 3);
}

#[test]
fn a_target_that_reaches_for_more_than_its_side_is_not_even_built() {
    let with = |line: &str| {
        target(&WORD.replacen("    side.call(at);\n", &format!("    {line}\n    side.call(at);\n"), 1))
    };
    let twice_c = target(&WORD.replace("side.call(at)", "unsafe { ffi::word(at) }"));
    let by_environment = with("if std::env::var(\"IMPLFUZZ_SUBJECT\").is_err() { panic!() }");
    let by_count = with("static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);");
    let repo = aimed("word", &[&twice_c, &by_environment, &by_count]);
    let before = repo.tree();
    let ran = port(&repo, "word", &[]);
    ran.code(11);
    for said in [
        "`unsafe { ffi::word(at) };`: `crate::ffi::word` is the C original",
        "may not depend on the environment",
        "outlives a call",
    ] {
        assert!(ran.stderr.contains(said), "no {said:?} in {ran}");
    }
    assert!(!ran.stderr.contains("building mutants"), "{ran}");
    assert_same(&before, &repo.tree());
}

#[test]
#[ignore = "a minute: cargo test --test suite fuzz_target -- --ignored"]
fn a_port_that_leaves_something_else_in_memory_is_refuted() {
    let both = "pub fn target(input: &mut Input, side: &mut Side) {\n    let text = side.text(&input.text(30));\n    \
        let ends = side.memory(&[std::ptr::null_mut::<core::ffi::c_char>(); 2]);\n    \
        side.call(text, ends, ends.wrapping_add(1));\n}\n";
    // Two blocks are allocated, as C does; both pointers lead to one of them where that has the same text.
    let shared = "pub unsafe fn halves(\n    text: *const core::ffi::c_char,\n    left: *mut *mut core::ffi::c_char,\n    \
        right: *mut *mut core::ffi::c_char,\n) {\n    // SAFETY: as in C.\n    unsafe {\n        *left = libc::strdup(text);\n        \
        *right = libc::strdup(text.add(libc::strlen(text) / 2));\n        if libc::strcmp(*left, *right) == 0 {\n            \
        *left = *right;\n        }\n    }\n}\n";
    let start = shared.find("        if libc::strcmp").unwrap();
    let right = format!("{}    }}\n}}\n", &shared[..start]);
    let repo = aimed("halves", &[&target(both), &reply(shared), &reply(&right)]);
    let ran = port(&repo, "halves", &[]);
    ran.ok();
    assert!(ran.stderr.contains("what is reached after call 1: the pointer at memory 2, byte 8"), "{ran}");
    assert!(repo.prompt(3).contains("the pointer at memory 2, byte 8"), "{}", repo.prompt(3));
}

#[test]
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn in_three_steps_every_function_gets_a_target_and_the_workflows_are_compared() {
    let repo = library();
    let parity = "pub fn target(input: &mut Input, side: &mut Side) {\n    side.call(input.value());\n}\n";
    let ported =
        "pub fn parity(number: core::ffi::c_int) -> core::ffi::c_int {\n    i32::from(number % 2 != 0)\n}\n";
    let sign = "pub fn sign(number: core::ffi::c_int) -> core::ffi::c_int {\n    number.signum()\n}\n";
    repo.model(&[&target(parity), &reply(ported), &reply(sign)]);
    let three = ["--workflow", "three-step"];
    let plan = repo.run(&[&["port", "parity", "--dry-run"][..], &three].concat());
    assert!(plan.ok().stdout.contains("fuzz target, then port"), "{plan}");
    port(&repo, "parity", &three).ok();
    assert_eq!(repo.asked(), 2);
    assert!(
        repo.prompt(1).contains("\"role\":\"target-writer\"")
            && repo.prompt(2).contains("\"role\":\"prototyper\"")
    );
    assert!(repo.read("rust/contracts/parity.toml").contains("harness = \"model\""));
    port(&repo, "sign", &[]).ok();
    assert!(!repo.root().join("rust/fuzz/targets/sign.rs").exists());
    let compared = repo.run(&["stats", "--compare-workflows", "--format", "json"]);
    let compared = compared.ok().json("workflows");
    let row = |at: usize, key: &str| compared["workflows"][at][key].clone();
    assert_eq!((row(0, "workflow"), row(1, "workflow")), ("three-step".into(), "unified".into()));
    for (at, calls) in [(0, 2.0), (1, 1.0)] {
        assert_eq!((row(at, "passed"), row(at, "calls_per_symbol")), (1.into(), calls.into()), "{compared}");
        assert!(row(at, "tokens_per_symbol").as_f64().unwrap() > 0.0, "{compared}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn what_other_functions_of_the_library_make_is_handed_over() {
    let lists = "pub fn target(input: &mut Input, side: &mut Side) {\n    let count = input.below(4);\n    let mut lists = Vec::new();\n    \
        for _ in 0..count {\n        let mut list = std::ptr::null_mut();\n        for _ in 0..input.below(5) {\n            \
        list = side.c_push(list, input.value());\n        }\n        lists.push(list);\n    }\n    \
        let lists = side.memory(&lists);\n    side.call(lists, count);\n}\n";
    let forgets = "pub unsafe fn total(lists: *const *mut ffi::item, count: usize) -> core::ffi::c_uint {\n    \
        // SAFETY: as in C.\n    unsafe {\n        let mut sum = 0u32;\n        for i in 0..count {\n            \
        let mut at = *lists.add(i);\n            while !at.is_null() {\n                sum = sum.wrapping_add((*at).value as u32);\n                \
        at = (*at).next;\n            }\n        }\n        sum\n    }\n}\n";
    let right = forgets.replace(
        "                at = (*at).next;",
        "                (*at).value = (*at).value.wrapping_sub(1);\n                at = (*at).next;",
    );
    assert_ne!(forgets, right);
    let repo = aimed("total", &[&target(lists), &reply(forgets), &reply(&right)]);
    let ran = port(&repo, "total", &[]);
    ran.ok();
    assert!(repo.prompt(1).contains("side.c_push(list: *mut ffi::item, value"), "{}", repo.prompt(1));
    assert!(ran.stderr.contains("what is reached after call 1: behind the pointer at "), "{ran}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn what_a_call_changes_behind_its_arguments_alone_is_compared() {
    let list = "pub fn target(input: &mut Input, side: &mut Side) {\n    let mut list = std::ptr::null_mut();\n    \
        for _ in 0..input.below(5) {\n        list = side.c_push(list, input.value());\n    }\n    side.call(list);\n}\n";
    let forgets = "pub unsafe fn tick(list: *mut ffi::item) -> core::ffi::c_int {\n    let (mut at, mut count) = (list, 0);\n    \
        while !at.is_null() {\n        // SAFETY: as in C.\n        at = unsafe { (*at).next };\n        count += 1;\n    }\n    count\n}\n";
    let right = forgets.replace(
        "        at = unsafe { (*at).next };",
        "        at = unsafe {\n            (*at).value = (*at).value.wrapping_mul(2);\n            (*at).next\n        };",
    );
    let repo = aimed("tick", &[&target(list), &reply(forgets), &reply(&right)]);
    let ran = port(&repo, "tick", &[]);
    ran.ok();
    assert_eq!(repo.asked(), 3, "{ran}");
    assert!(
        ran.stderr.contains("what is reached after call 1: behind the pointer at what came back"),
        "{ran}"
    );
}

#[test]
#[ignore = "a minute: cargo test --test suite fuzz_target -- --ignored"]
fn what_c_answers_chooses_no_inputs() {
    let chosen = "pub fn target(input: &mut Input, side: &mut Side) {\n    assert!(side.call(input.value()) >= 0);\n}\n";
    let all = "pub fn target(input: &mut Input, side: &mut Side) {\n    side.call(input.value());\n}\n";
    let sign = "pub fn sign(number: core::ffi::c_int) -> core::ffi::c_int {\n    number.signum()\n}\n";
    let repo = aimed("sign", &[&target(chosen), &target(all), &reply(sign)]);
    let ran = port(&repo, "sign", &[]);
    ran.ok();
    assert!(ran.stderr.contains("the fuzz target panics after a call"), "{ran}");
    // It panics for the port alone where that answers otherwise.
    let told = "pub fn target(input: &mut Input, side: &mut Side) {\n    let number = input.value();\n    let answer = side.call(number);\n    \
        if answer != number.signum() { panic!() }\n}\n";
    let wrong = sign.replace("number.signum()", "number.signum().max(0)");
    let repo = aimed("sign", &[&target(told), &reply(&wrong), &reply(sign)]);
    let ran = port(&repo, "sign", &[]);
    ran.ok();
    assert_eq!(repo.asked(), 3, "{ran}");
    assert!(ran.stderr.contains("panic"), "{ran}");
}

#[test]
fn a_function_that_nobody_answered_about_is_not_called_done() {
    let repo = library();
    repo.model(&[]);
    let three = ["--all", "--only", "parity,sign", "--workflow", "three-step", "--format", "json"];
    let ran = repo.run(&[&["port"][..], &three, &QUICK, &["--config", "llm.retries=0"]].concat());
    ran.code(11);
    assert_eq!(ran.json("port")["symbols"][0]["end"], "failed", "{ran}");
    assert_eq!(repo.count("SELECT count(*) FROM runs WHERE outcome = 'incomplete'"), 1);
    let ran = repo.run(&[&["port"][..], &three, &QUICK, &["--max-tokens", "10"]].concat());
    ran.code(12);
    assert_eq!(ran.json("port")["symbols"][0]["end"], "budget", "{ran}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn a_port_that_stands_keeps_its_harness_and_a_refused_target_is_a_persons_to_mend() {
    let repo = library();
    let sign = "pub fn sign(number: core::ffi::c_int) -> core::ffi::c_int {\n    number.signum()\n}\n";
    let other = sign.replace("number.signum()", "if number < 0 { -1 } else { i32::from(number > 0) }");
    repo.model(&[&reply(sign), &reply(&other)]);
    port(&repo, "sign", &[]).ok();
    port(&repo, "sign", &["--redo", "--workflow", "three-step"]).ok();
    assert_eq!(repo.asked(), 2);
    assert!(!repo.root().join("rust/fuzz/targets/sign.rs").exists());
    repo.write("rust/fuzz/targets/word.rs", "use super::{Input, Side, ffi};\npub fn target(_: &mut Input, _: &mut Side) { std::process::exit(0) }\n");
    let before = repo.tree();
    for workflow in ["unified", "three-step"] {
        let ran = port(&repo, "word", &["--workflow", workflow]);
        assert!(ran.code(11).stdout.contains("the audit rejects rust/fuzz/targets/word.rs:2"), "{ran}");
    }
    assert_eq!(repo.asked(), 2);
    assert_same(&before, &repo.tree());
}

/// What the C text does not say of `named` is asked first; both have safe signatures, which a target calls with C's.
#[test]
#[ignore = "half a minute: cargo test --test suite fuzz_target -- --ignored"]
fn contract_target_and_port_are_three_exchanges() {
    let repo = library();
    let contract = "```toml contract\n[[param]]\nname = \"name\"\nrole = \"c-string\"\nreason = \"strnlen(name, 40)\"\n```\n";
    let named = "pub fn target(input: &mut Input, side: &mut Side) {\n    let text = side.text(&input.text(60));\n    \
        side.call(text.cast());\n}\n";
    let kind = "pub fn target(input: &mut Input, side: &mut Side) {\n    side.call(input.value());\n}\n";
    let named_port = "pub fn named(name: &core::ffi::CStr) -> core::ffi::c_uint {\n    \
        name.to_bytes().len().min(40) as u32 * 2 + 1\n}\n";
    let wrong = "pub fn kind(number: core::ffi::c_int) -> Option<&'static core::ffi::CStr> {\n    \
        (number >= 0).then_some(if number % 2 == 0 { c\"even\" } else { c\"Odd\" })\n}\n";
    let right = wrong.replace("Odd", "odd");
    let (named, kind) = (target(named), target(kind));
    repo.model(&[contract, &named, &kind, &reply(named_port), &reply(wrong), &reply(&right)]);
    let ran = repo.run(
        &[&["port", "named", "kind", "--workflow", "three-step"][..], &QUICK, &MEASURED, &SHORT].concat(),
    );
    ran.ok();
    assert_eq!(repo.asked(), 6, "{ran}");
    let roles = (1..=6).map(|number| {
        let prompt: serde_json::Value = serde_json::from_str(&repo.prompt(number)).unwrap();
        format!("{} {}", prompt["role"].as_str().unwrap(), prompt["symbol"].as_str().unwrap())
    });
    assert_eq!(
        roles.collect::<Vec<_>>().join(", "),
        "analyzer named, target-writer named, target-writer kind, prototyper named, prototyper kind, enhancer kind"
    );
    assert!(ran.stderr.contains("returned string"), "{ran}");
    assert!(repo.prompt(6).contains("number = 1"), "{}", repo.prompt(6));
    repo.run(&["contract", "--approve", "named", "kind"]).ok();
    for file in ["rust/contracts/named.toml", "rust/fuzz/targets/named.rs", "rust/fuzz/targets/kind.rs"] {
        let text = repo.read(file);
        assert!(!text.contains("proposed_by") && !text.contains("not approved yet"), "{text}");
    }
}

#[test]
fn a_person_starts_from_a_target_that_compiles_and_needs_no_model() {
    let repo = library();
    let config = repo.read("implfuzz.toml");
    let wish = "\n[symbols.word]\nharness = \"target\"\n\n[llm]";
    repo.write("implfuzz.toml", &config.replace("\n[llm]", wish));
    repo.run(&["contract", "word"]).ok().shows("cargo implfuzz contract --new word");
    let all = ["word", "halves", "named", "push", "total", "tick"];
    repo.run(&[&["contract", "--new"][..], &all].concat()).ok().shows("rust/fuzz/targets/word.rs");
    repo.run(&["contract", "--new", "word"]).fails(2, &["has a fuzz target"]);
    let text = repo.read("rust/fuzz/targets/word.rs");
    assert!(
        text.contains("// size_t word(const char **at)") && text.contains("side.call(arg0.cast())"),
        "{text}"
    );
    // All of them compile, and this one is all that the function needs.
    let checked = repo.run(&[&["contract", "--check", "word"][..], &["--seconds", "3"]].concat());
    checked.ok().shows("1 of 1 harnesses are sound");
    assert!(repo.read("rust/contracts/word.toml").contains("harness = \"target\""));
}
