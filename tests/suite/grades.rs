//! From proofs to grades, through the binary: the measurements, the stored ones, and the reasons why a port is not verified.

use crate::support::{MEASURED, Ran, Repo, assert_same, plant, reply};
use serde_json::Value;

const TWICE: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";

fn ported() -> Repo {
    let repo = Repo::initialised();
    let module = repo.read("rust/src/sum.rs");
    let start = module.find("pub fn twice").unwrap();
    let end = start + module[start..].find("\n}").unwrap() + 2;
    repo.write("rust/src/sum.rs", &format!("{}{TWICE}{}", &module[..start], &module[end..]));
    repo
}

fn verify(repo: &Repo, options: &[&str]) -> Ran {
    let asked = ["verify", "twice", "--runs", "20000", "--seconds", "4", "--format", "json"];
    repo.run(&[&asked, options].concat())
}

fn judged(ran: &Ran) -> Value {
    ran.json("verify")["symbols"][0].clone()
}

#[test]
#[ignore = "half a minute: cargo test --test suite grades -- --ignored"]
fn a_port_of_volatile_c_is_never_verified() {
    let repo = ported();
    repo.replace("sum.c", "x * 2", "*(volatile uint32_t *)&x * 2");
    repo.run(&["init"]).ok();
    let weak = judged(&verify(&repo, &[&MEASURED[..], &["--config", "grade.mutant_seconds=2"]].concat()));
    let why = "C accesses volatile or atomic memory, and the order of accesses is not compared";
    assert_eq!((&weak["grade"], &weak["reason"]), (&"weak".into(), &why.into()), "{weak}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite grades -- --ignored"]
fn what_no_run_on_a_usual_stack_shows_is_found_or_keeps_the_grade_down() {
    let library = "#include \"keep.h\"\n#include <string.h>\n\
        void burn(void *at, size_t size) { volatile unsigned char *byte = at; while (size--) *byte++ = 0; }\n\
        uint32_t mix(uint32_t key) { unsigned char copy[4]; uint32_t sum = key >> 3 ^ key;\n\
            memcpy(copy, &sum, 4); sum = copy[3] * 7u + copy[0] % 11 + sum; burn(copy, sizeof copy); return sum; }\n\
        uint32_t pack(uint32_t value) { return (value >> 5) * 3 ^ value; }\n";
    let header = "#include <stddef.h>\n#include <stdint.h>\nvoid burn(void *at, size_t size);\nuint32_t mix(uint32_t key);\nuint32_t pack(uint32_t value);\n";
    let repo = Repo::of(&[("keep.h", header), ("keep.c", library)]);
    let mut module = repo.read("rust/src/keep.rs");
    let mix = "pub fn mix(key: u32) -> u32 {\n    let sum = key >> 3 ^ key;\n    let copy = sum.to_le_bytes();\n    \
        (u32::from(copy[3]) * 7 + u32::from(copy[0]) % 11).wrapping_add(sum)\n}";
    let pack = "pub fn pack(value: u32) -> u32 {\n    core::hint::black_box(&mut [1u8; 3 << 20]);\n    (value >> 5).wrapping_mul(3) ^ value\n}";
    plant(&mut module, "mix", mix).unwrap();
    plant(&mut module, "pack", pack).unwrap();
    repo.write("rust/src/keep.rs", &module);
    let asked = ["verify", "mix", "pack", "--runs", "20000", "--seconds", "4", "--format", "json"];
    let ran = repo.run(&[&asked, &MEASURED[..], &["--config", "grade.mutant_seconds=2"]].concat());
    let json = ran.code(10).json("verify");
    let of = |at: usize| (json["symbols"][at]["grade"].clone(), json["symbols"][at]["reason"].to_string());
    let ((mix, why), (pack, overflow)) = (of(0), of(1));
    assert_eq!(mix, "weak", "{why}");
    assert!(
        why.contains("C calls `burn`, which accesses volatile or atomic memory; the port does not"),
        "{why}"
    );
    assert_eq!(pack, "refuted", "{overflow}");
    assert!(overflow.contains("stack-overflow"), "{overflow}");
}

/// `*at` counts in `total`, `cell_of` leads back, `PUBLISH` hides where it writes.
const CELLS: &str = r#"#include "cell.h"
#include <string.h>
#define PUBLISH(p) __atomic_store_n(p, 1, __ATOMIC_RELEASE)
void post(uint32_t *data, uint32_t *ready, uint32_t v) { *data = v * 31 + (v > 9 ? 7 : 5); PUBLISH(ready); }
static uint32_t *cell_of(uint32_t *p) { return p; }
uint32_t put(uint32_t *cell, uint32_t v) { uint32_t s = v * 31 + (v > 9 ? 7 : 5); *cell_of(cell) = s; return s; }
static uint32_t total;
static uint32_t *const at = &total;
uint32_t tally(uint32_t v) { uint32_t s = v * 31 + (v > 9 ? 7 : 5); *at += s; return s; }
uint32_t tallied(void) { return total; }
void mark(uint32_t *data, uint32_t *ready, uint32_t v) { *data = v * 31 + (v > 9 ? 7 : 5); *ready = 1; }
"#;

#[test]
#[ignore = "half a minute: cargo test --test suite grades -- --ignored"]
fn what_c_writes_is_compared_however_it_gets_there() {
    let header = "#include <stdint.h>\nvoid post(uint32_t *data, uint32_t *ready, uint32_t v);\n\
        uint32_t put(uint32_t *cell, uint32_t v);\nuint32_t tally(uint32_t v);\nuint32_t tallied(void);\n\
        void mark(uint32_t *data, uint32_t *ready, uint32_t v);\n";
    let repo = Repo::of(&[("cell.h", header), ("cell.c", CELLS)]);
    // A person may say that it is only read.
    let contract = "rust/contracts/mark.toml";
    let at = repo.read(contract).rfind("\"out\"").unwrap();
    let mut edited = repo.read(contract);
    edited.replace_range(at..at + 5, "\"in\"");
    repo.write(contract, &edited);
    repo.run(&["init"]).ok();
    let mut module = repo.read("rust/src/cell.rs");
    let sum = "v.wrapping_mul(31).wrapping_add(if v > 9 { 7 } else { 5 })";
    let post = format!(
        "pub unsafe fn post(data: *mut u32, ready: *mut u32, v: u32) {{\n    // SAFETY: as in C.\n    unsafe {{ *data = {sum} }};\n}}"
    );
    let put = format!("pub unsafe fn put(cell: *mut u32, v: u32) -> u32 {{\n    {sum}\n}}");
    let tally = format!("pub fn tally(v: u32) -> u32 {{\n    {sum}\n}}");
    let mark = format!("pub fn mark(data: &mut u32, ready: &u32, v: u32) {{\n    *data = {sum};\n}}");
    for (name, port) in [("post", &post), ("put", &put), ("tally", &tally), ("mark", &mark)] {
        plant(&mut module, name, port).unwrap();
    }
    repo.write("rust/src/cell.rs", &module);
    let asked =
        ["verify", "post", "put", "tally", "mark", "--runs", "20000", "--seconds", "4", "--format", "json"];
    let ran = repo.run(&[&asked, &MEASURED[..], &["--config", "grade.mutant_seconds=2"]].concat());
    let json = ran.code(10).json("verify");
    let of = |at: usize| (json["symbols"][at]["grade"].clone(), json["symbols"][at]["reason"].to_string());
    let [(post, ready), (put, cell), (tally, total)] = [0, 1, 2].map(of);
    for (grade, why, place) in
        [(post, ready, "`ready"), (put, cell, "`cell[0]`"), (tally, total, "global `total`")]
    {
        assert_eq!(grade, "refuted", "{why}");
        assert!(why.contains(place), "{why}");
    }
    let (mark, why) = of(3);
    assert_eq!(mark, "weak", "{why}");
    let wrong = "the contract is wrong: C changes `ready`, which the contract declares constant";
    assert!(why.contains(wrong), "{why}");
}

#[test]
fn a_harness_is_measured_once_and_counts() {
    let repo = ported();
    let unmeasured = judged(verify(&repo, &[]).ok());
    assert_eq!(unmeasured["proofs"]["kills"]["no"], "unmeasured");

    // Less than verified is not enough unless it is said to be.
    let asked = [&MEASURED[..], &["--config", "grade.mutant_seconds=2"]].concat();
    let first = verify(&repo, &asked);
    let verified = judged(first.ok());
    assert_eq!((&verified["grade"], &verified["reason"]), (&"verified".into(), &Value::Null));
    assert_eq!(verified["proofs"]["branches"]["yes"]["reached"], 1, "its line: it has no branch");
    let kills = judged(&first)["proofs"]["kills"]["yes"].clone();
    assert!(kills["total"].as_u64().unwrap() > 0 && kills["reached"] == kills["total"], "{kills}");
    assert!(first.stdout.contains("mutants of 1 function built"), "{}", first.stdout);

    // What was measured is known, also to those who do not measure, as long as nothing that it is about changed.
    let second = verify(&repo, &asked);
    assert!(!second.stdout.contains("mutants of 1 function built"), "{}", second.stdout);
    assert_eq!(judged(&second)["proofs"]["kills"]["yes"], kills);
    assert_eq!(judged(&verify(&repo, &[]))["proofs"]["kills"]["yes"], kills);
    assert_eq!(repo.status("twice")["proofs"]["kills"]["yes"], kills);
    repo.replace("rust/contracts/twice.toml", "role = \"value\"", "role = \"value\"\nmax = 900");
    assert_eq!(judged(&verify(&repo, &[]))["proofs"]["kills"]["no"], "unmeasured");
}

#[test]
#[ignore = "half a minute: cargo test --test suite grades -- --ignored"]
fn another_port_with_less_evidence_does_not_take_the_place_of_a_verified_one() {
    let repo = ported();
    let asked = [&MEASURED[..], &["--config", "grade.mutant_seconds=2"]].concat();
    assert_eq!(judged(verify(&repo, &asked).ok())["grade"], "verified");
    repo.model(&[&reply(&TWICE.replace("x.wrapping_mul(2)", "x.wrapping_add(x)"))]);
    let before = repo.tree();
    let short = ["port", "twice", "--redo", "--config", "fuzz.accept_executions=2000", "--format", "json"];
    let ran = repo.run(&[&short, &asked[..]].concat());
    let told = ran.ok().json("port")["symbols"][0].clone();
    assert_eq!((&told["end"], &told["grade"]), (&"already-ported".into(), &"verified".into()), "{told}");
    let why = "the new port is only weak (2000 executions of 10000); the old one, verified, stays";
    assert_eq!(told["reason"], why);
    assert_eq!(repo.asked(), 1);
    assert_same(&before, &repo.tree());
    assert_eq!(repo.status("twice")["grade"], "verified");
}

#[test]
fn thresholds_decide_and_are_never_nothing() {
    let repo = ported();
    let ran = repo.run(&["verify", "twice", "--runs", "2000", "--config", "grade.least='verified'"]);
    ran.code(11).shows("weak").shows("2000 executions of 10000").shows("mutants of C: unmeasured");
    for nothing in [
        "grade.kills=0", "grade.branches=0.0", "grade.accept_rate=-1", "grade.executions=0",
        "grade.kills=1.5",
    ] {
        let key = nothing.split('=').next().unwrap();
        repo.run(&["status", "--config", nothing]).fails(2, &[key]);
    }
}

#[test]
fn what_changes_while_it_is_judged_is_not_what_was_judged() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    let begun = repo.root().join(".implfuzz/cache/fuzz/twice");
    let (seen, ran) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let patience = std::time::Instant::now() + std::time::Duration::from_secs(300);
            while !begun.exists() && std::time::Instant::now() < patience {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            repo.replace("rust/src/sum.rs", "x << 1", "x << 2");
            begun.exists()
        });
        let ran = repo.run(&["verify", "twice", "--seconds", "4", "--format", "json"]);
        (editor.join().unwrap(), ran)
    });
    assert!(seen, "the run began");
    let row = ran.code(11).json("verify")["symbols"][0].clone();
    assert_eq!(row["grade"], "unjudged", "{row:#}");
    assert!(row["reason"].as_str().unwrap().contains("changed while it was judged"), "{row:#}");
    let row = repo.run(&["status", "--format", "json"]).json("status")["symbols"][0].clone();
    assert!(["unjudged", "stub"].contains(&row["grade"].as_str().unwrap()), "{row:#}");
    // A module that is no Rust for a moment takes no evidence away.
    let row = repo.run(&["verify", "twice", "--seconds", "2", "--format", "json"]);
    assert_eq!(row.code(10).json("verify")["symbols"][0]["grade"], "refuted");
    let lock = repo.read("implfuzz.lock");
    repo.write("rust/src/sum.rs", &(repo.read("rust/src/sum.rs") + "\nfn {"));
    repo.run(&["verify", "twice"]).fails(1, &["rust/src/sum.rs"]);
    assert_eq!(repo.read("implfuzz.lock"), lock);
}

#[test]
#[ignore = "half a minute: cargo test --test suite grades -- --ignored"]
fn unsafe_may_become_less_and_not_more() {
    let repo = ported();
    let asked = [&MEASURED[..], &["--config", "grade.mutant_seconds=2"]].concat();
    let grade = |ran: &Ran| (judged(ran)["grade"].clone(), judged(ran)["reason"].clone());
    assert_eq!(grade(verify(&repo, &asked).ok()).0, "verified");
    // SAFETY of the planted text: 2 is not 0.
    let more = "let two = unsafe { core::num::NonZeroU32::new_unchecked(2) };\n    x.wrapping_mul(two.get())";
    repo.replace("rust/src/sum.rs", "x.wrapping_mul(2)", more);
    for _ in 0..2 {
        // Judging it once more does not make it right.
        let (grade, reason) = grade(verify(&repo, &asked).code(11));
        assert_eq!(grade, "weak");
        assert!(reason.as_str().unwrap().contains("`unsafe` 1 times, 0 before"), "{reason}");
    }
    assert!(repo.read("implfuzz.lock").contains("unsafe-least = 0"));
    let allowed = [&asked[..], &["--config", "symbols.twice.unsafe=1"]].concat();
    assert_eq!(grade(verify(&repo, &allowed).ok()).0, "verified");
    // What was allowed once stays allowed, and less is always right.
    assert_eq!(grade(verify(&repo, &asked).ok()).0, "verified");
    repo.replace("rust/src/sum.rs", more, "x.wrapping_mul(2)");
    assert_eq!(grade(verify(&repo, &asked).ok()).0, "verified");
    assert!(!repo.read("implfuzz.lock").contains("unsafe-least"));
    // The way over a stub is none around it.
    repo.replace("rust/src/sum.rs", "x.wrapping_mul(2)", "unimplemented!(\"twice\")");
    verify(&repo, &asked).code(11);
    assert!(repo.read("implfuzz.lock").contains("[unsafe-least]\n\"twice\" = 0\n"));
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", more);
    assert_eq!(grade(verify(&repo, &asked).code(11)).0, "weak");
}
