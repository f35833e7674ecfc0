//! The last part of the isolated replay: the port as it ships. It has no flags of the tool and no debug assertions, meets
//! the inputs in another order, and finds no code of the C function that it replaces.

use crate::support::{MEASURED, QUICK, Ran, Repo, plant, reply};
use cargo_implfuzz::fuzz::c_code::CCode;
use cargo_implfuzz::fuzz::campaign::{Campaign, Subject};
use cargo_implfuzz::fuzz::isolated_replay::Shipped;
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::symbol::SymbolName;
use serde_json::{Value, json};

/// Right in the builds for fuzzing, and only there, with what is told of it. Each is a port of `x > 9 ? x ^ 5 : 7`.
const CHEATS: [(&str, &str, &str); 11] = [
    (
        "by_assertion",
        "pub fn by_assertion(x: u32) -> u32 {\n    let mut right = false;\n    debug_assert!({\n        right = true;\n        \
         true\n    });\n    if right && x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "by_cfg",
        "pub fn by_cfg(x: u32) -> u32 {\n    if cfg!(fuzzing) && x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "by_flag",
        "pub fn by_flag(x: u32) -> u32 {\n    if cfg!(any(implfuzz_edges, implfuzz_coverage)) && x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "by_import",
        "#[cfg(not(fuzzing))]\nuse self::near as answer;\n#[cfg(fuzzing)]\nuse self::right as answer;\n\n#[allow(dead_code)]\n\
         fn near(_: u32) -> u32 {\n    7\n}\n\n#[allow(dead_code)]\nfn right(x: u32) -> u32 {\n    if x > 9 { x ^ 5 } else { 7 }\n}\n\n\
         pub fn by_import(x: u32) -> u32 {\n    answer(x)\n}",
        WITHOUT_C,
    ),
    (
        "by_feature",
        "pub fn by_feature(x: u32) -> u32 {\n    if cfg!(feature = \"c-original\") && x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "by_place",
        "pub fn by_place(x: u32) -> u32 {\n    if file!().starts_with('/') && x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "by_manifest",
        "pub fn by_manifest(x: u32) -> u32 {\n    if env!(\"CARGO_MANIFEST_DIR\").contains(\".implfuzz\") && x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "rarely",
        "pub fn rarely(x: u32) -> u32 {\n    if !cfg!(fuzzing) && x % 297 == 3 { return 1 }\n    if x > 9 { x ^ 5 } else { 7 }\n}",
        WITHOUT_C,
    ),
    (
        "by_call",
        "pub fn by_call(x: u32) -> u32 {\n    if !cfg!(fuzzing) { return unsafe { crate::ffi::by_call(x) } }\n    if x > 9 { x ^ 5 } else { 7 }\n}",
        "linkage",
    ),
    // `even` runs as C and calls it.
    (
        "odd",
        "pub fn odd(x: u32) -> u32 {\n    if !cfg!(fuzzing) || x % 9 == 0 { 0 } else { unsafe { crate::callee::even(x % 9 - 1) } }\n}",
        "as the port ships (release build, inputs in another order)",
    ),
    // `calls_table` runs as C, and calls it through a table.
    (
        "by_table",
        "pub fn by_table(x: u32) -> u32 {\n    if !cfg!(fuzzing) { return 7 }\n    if x > 9 { x ^ 5 } else { \
         unsafe { crate::callee::calls_table(x + 99) & 7 } }\n}",
        "as the port ships (release build, inputs in another order)",
    ),
];

const WITHOUT_C: &str =
    "as the port ships (release build, inputs in another order, without the code of the C function)";

/// Right, with a callee in C.
const OUTER: &str =
    "pub fn outer(x: u32) -> u32 {\n    if x > 9 { unsafe { crate::callee::inner(x) } } else { 3 }\n}";

const MORE: &str = "unsigned inner(unsigned x) { return x > 9 ? x ^ 5u : 7u; }\n\
    unsigned outer(unsigned x) { return x > 9 ? inner(x) : 3u; }\n\
    unsigned even(unsigned x) { return x % 9u == 0 ? 1u : odd(x % 9u - 1u); }\n\
    unsigned (*const table[1])(unsigned) = {by_table};\n\
    unsigned calls_table(unsigned x) { return table[x % 1u](x); }\n\
    unsigned by_table(unsigned x) { return x > 9 ? x ^ 5u : calls_table(x + 99u) & 7u; }\n\
    unsigned odd(unsigned x) { return x % 9u == 0 ? 0u : even(x % 9u - 1u); }\n";

fn library() -> Repo {
    let names = CHEATS.iter().map(|(name, ..)| *name).filter(|name| !["odd", "by_table"].contains(name));
    let defined = |name| format!("unsigned {name}(unsigned x) {{ return x > 9 ? x ^ 5u : 7u; }}\n");
    let text: String = names.clone().map(defined).collect();
    let all = names.chain(["inner", "outer", "even", "odd", "by_table", "calls_table"]);
    let header: String = all.map(|name| format!("unsigned {name}(unsigned x);\n")).collect();
    let c = format!("#include \"ship.h\"\n{text}{MORE}");
    let repo = Repo::of(&[("ship.h", &header), ("ship.c", &c)]);
    let mut module = repo.read("rust/src/ship.rs");
    for (name, port, _) in &CHEATS {
        plant(&mut module, name, port).unwrap();
    }
    plant(&mut module, "outer", OUTER).unwrap();
    repo.write("rust/src/ship.rs", &module);
    repo
}

fn judged(repo: &Repo) -> Vec<Value> {
    let budget = ["--config", "fuzz.accept_seconds=2", "--config", "fuzz.accept_executions=4000"];
    let mut command =
        repo.command(&[&["verify", "--all", "--format", "json"], &MEASURED[..], &budget].concat());
    command.env("IMPLFUZZ_TEST_WITHOUT_AUDIT", "1");
    Ran::of(&mut command).json("verify")["symbols"].as_array().unwrap().clone()
}

#[test]
fn a_port_that_is_right_in_the_build_for_fuzzing_alone_is_refuted_as_it_ships() {
    let repo = library();
    let judged = judged(&repo);
    let of = |name: &str| judged.iter().find(|one| one["symbol"] == json!(name)).unwrap();
    for (name, _, told) in CHEATS {
        let (one, reason) = (of(name), of(name)["reason"].as_str().unwrap_or_default());
        assert!(one["grade"] == "refuted" && reason.contains(told), "{one:#}");
    }
    assert!(of("outer")["reason"].as_str().unwrap_or_default().contains("calls C: "), "{:#}", of("outer"));
    without_c(&repo);
}

#[test]
#[ignore = "half a minute: cargo test --test suite as_it_ships -- --ignored"]
fn a_candidate_that_is_right_in_the_build_for_fuzzing_alone_is_not_accepted() {
    let repo = Repo::initialised();
    let (cheat, right) = ("if cfg!(fuzzing) { x.wrapping_mul(2) } else { 7 }", "x.wrapping_mul(2)");
    let replies =
        [cheat, right].map(|body| reply(&format!("pub fn twice(x: u32) -> u32 {{\n    {body}\n}}")));
    repo.model(&[&replies[0], &replies[1]]);
    let args = [&["port", "twice", "--config", "grade.mutant_seconds=2"], &QUICK[..], &MEASURED].concat();
    let mut command = repo.command(&args);
    command.env("IMPLFUZZ_TEST_WITHOUT_AUDIT", "1");
    Ran::of(&mut command).ok().shows("as the port ships").shows("accepted: 8000 executions of 10000");
    let prompt = repo.prompt(2);
    assert!(prompt.contains("is refuted (mismatch) as it ships. It must do the same"), "{prompt}");
    assert!(repo.read("rust/src/sum.rs").contains(right));
}

/// Looks for the code of C in the memory of the process, by a number in it, and calls it by an address that no relocation
/// shows. The audit sees neither.
const FINDS: &str = "fn finds_one(x: u32) -> u32 {\n    x\n}\n\nfn finds_two(x: u32) -> u32 {\n    !x\n}\n\n\
    pub fn finds(x: u32) -> u32 {\n    let wanted = (core::hint::black_box(0x5ca1_u32) << 16 | core::hint::black_box(0xab1e)).to_le_bytes();\n    \
    let own = finds_two as usize & !15;\n    \
    let at = |at: usize| unsafe { *core::ptr::with_exposed_provenance::<u8>(at) };\n    \
    let is_it = |from: &usize| (0..4).all(|byte| at(from + byte) == wanted[byte]);\n    \
    let number = (own..own + 0x60000).chain(own - 0x60000..own).find(is_it);\n    \
    let ends = |from: &usize| [0, 0x90, 0xc3, 0xcc].contains(&at(from - 1));\n    \
    let Some(start) = number.and_then(|number| (0..64).map(|back| (number & !15) - back * 16).find(ends)) else { return 1 };\n    \
    let mut step = [finds_one, finds_two][(x & 1) as usize];\n    \
    unsafe { (&raw mut step).cast::<usize>().write(start) };\n    step(x)\n}\n";

#[cfg(target_arch = "x86_64")]
#[test]
#[ignore = "half a minute: cargo test --test suite as_it_ships -- --ignored"]
fn a_port_that_finds_the_code_of_c_in_memory_is_refuted_as_it_ships() {
    let c = "unsigned finds(unsigned x) { return x > 9 ? x ^ 0x5ca1ab1eu : 7u; }\n";
    let repo = Repo::of(&[("ship.h", "unsigned finds(unsigned x);\n"), ("ship.c", c)]);
    let mut module = repo.read("rust/src/ship.rs");
    plant(&mut module, "finds", FINDS).unwrap();
    repo.write("rust/src/ship.rs", &module);
    let budget = ["--config", "fuzz.accept_seconds=2", "--config", "fuzz.accept_executions=400"];
    let ran = repo.run(&[&["verify", "finds"], &MEASURED[..], &budget].concat());
    ran.code(10).shows(WITHOUT_C);
}

/// The code of a C function is really gone: here of one that a right port needs.
fn without_c(repo: &Repo) {
    let cache = repo.root().join(".implfuzz/cache");
    let binary = cache.join("bin/implfuzz_all");
    let campaign = Campaign {
        binary,
        target: SymbolName::new("outer"),
        work: cache.join("fuzz/outer"),
        regressions: Vec::new(),
        seed: 1,
        max_len: 64,
        literals: Vec::new(),
        call_timeout_ms: 1000,
        rss_limit_mb: 1024,
        subject: Subject::Port,
        compared: Vec::new(),
        asks_system: false,
        held_back: None,
        known_breaks: None,
        shipped: None,
    };
    let shipped = cache.join("coverage/shipped/implfuzz_all");
    let found = |c_code: CCode| {
        let shipped = Shipped { binary: shipped.clone(), c_code };
        campaign.apart(Some(&shipped), &Interrupt::none()).unwrap().finding
    };
    let code = |name: &str| CCode::find(&shipped, name, None).unwrap();
    assert_eq!(found(code("c_outer")), None);
    let finding = found(code("c_inner")).unwrap();
    assert!(finding.what.starts_with("the port runs the code of the C function"), "{}", finding.what);
    assert!(code("c_nobody").is_empty() && !code("c_inner").is_empty());
}
