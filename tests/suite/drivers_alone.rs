//! Functions whose harness cannot judge, because C differs from itself in it: drivers judge them alone.

use crate::abreast::model;
use crate::support::{MEASURED, QUICK, Repo, reply};

const HEADER: &str = "\
struct ring { unsigned char *bytes; unsigned size; };
struct ring *ring_new(unsigned size);
void ring_free(struct ring *ring);
unsigned ring_slot(struct ring *ring, unsigned key);
";

/// The two sides of a harness have rings at two addresses, so `ring_slot` differs from itself there.
const LIBRARY: &str = "\
#include \"ring.h\"
#include <stdint.h>
#include <stdlib.h>
struct ring *ring_new(unsigned size) {
    struct ring *ring = malloc(sizeof *ring);
    if (!ring) return NULL;
    ring->size = size % 64 + 1;
    ring->bytes = calloc(ring->size, 1);
    return ring;
}
void ring_free(struct ring *ring) {
    if (ring) free(ring->bytes);
    free(ring);
}
unsigned ring_slot(struct ring *ring, unsigned key) {
    unsigned slot = (unsigned)((uintptr_t)ring->bytes >> 4) ^ key * 31u;
    ring->bytes[slot % ring->size] += 1;
    return slot;
}
";

const DRIVER: &str = "\
#include \"../ring.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct ring *ring = ring_new(data[0]);
    for (size_t i = 1; ring && i < size; i++)
        ring_slot(ring, data[i] * 7u + (unsigned)i);
    ring_free(ring);
    return 0;
}
";

const PORT: &str = "pub unsafe fn ring_slot(ring: *mut ffi::ring, key: u32) -> u32 {
    // SAFETY: C passes a ring with as many bytes as its size says.
    unsafe {
        let slot = (((*ring).bytes as usize >> 4) as u32) ^ key.wrapping_mul(31);
        let at = (*ring).bytes.add((slot % (*ring).size) as usize);
        *at = (*at).wrapping_add(1);
        slot
    }
}
";

fn repo() -> Repo {
    let repo = Repo::of(&[("ring.h", HEADER), ("ring.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    repo.run(&["drivers", "--seconds", "2"]).ok();
    repo
}

/// Ports `ring_slot` with a wrong and a right candidate, and verifies it; both give one of these grades, with a remark.
fn ported(repo: &Repo, settings: &[&str], (grades, remark): (&[&str], &str)) {
    let wrong = PORT.replace("wrapping_mul(31)", "wrapping_mul(33)");
    repo.model(&[&reply(&wrong), &reply(PORT)]);
    let ran = repo.run(&[&["port", "ring_slot"][..], settings].concat());
    ran.ok();
    assert_eq!(repo.asked(), 2, "{ran}");
    assert!(repo.prompt(2).contains("wrapping_mul(33)"), "{}", repo.prompt(2));
    let status = repo.status("ring_slot");
    assert!(grades.contains(&status["grade"].as_str().unwrap()), "{status:#}");
    assert!(status["reason"].as_str().unwrap().contains(remark), "{status:#}");
    // `verify` rests on the same.
    let verify = [&["verify", "ring_slot", "--format", "json"][..], settings].concat();
    let json = repo.run(&verify).json("verify");
    let one = &json["symbols"][0];
    assert!(one["in_place"].as_u64().is_some_and(|calls| calls > 0), "{json:#}");
    assert!(grades.contains(&one["grade"].as_str().unwrap()), "{json:#}");
    assert!(one["reason"].as_str().unwrap().contains(remark), "{json:#}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_alone -- --ignored"]
fn drivers_judge_where_c_is_at_fault_in_the_harness() {
    let repo = repo();
    // The run may not have reached what would refute the port.
    let stopped = "drivers judge it alone, because its harness was stopped: ";
    ported(&repo, &QUICK, (&["weak"], stopped));
    assert!(repo.prompt(1).contains("`ring`: a handle"), "{}", repo.prompt(1));
    let told = repo.run(&["port", "ring_slot", "--explain"]);
    told.ok().shows("is at fault in its harness (c-differs)");
}

#[test]
#[ignore = "a minute: cargo test --test suite drivers_alone -- --ignored"]
fn a_harness_in_which_c_differs_from_itself_is_not_tried() {
    let repo = repo();
    let settings = [&QUICK[..], &MEASURED, &["--config", "grade.mutant_seconds=2"]].concat();
    ported(
        &repo,
        &settings,
        (&["verified", "weak"], "drivers judge it alone: its harness can judge no port: C differs"),
    );
    assert!(repo.prompt(1).contains("Programs that use the library judge the port"), "{}", repo.prompt(1));
}

/// No input of a harness is the one that it wants.
const STRICT: &str = "\
#include \"strict.h\"
#include <stdlib.h>
unsigned strict(unsigned key, unsigned x) {
    if (key * 2654435761u != 99u) abort();
    return (x ^ key) * 3u;
}
";

const CALLS_STRICT: &str = "\
#include \"../strict.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += strict(244002641u * 99u, data[i]);
    return sum == 12345;
}
";

#[test]
#[ignore = "a minute: cargo test --test suite drivers_alone -- --ignored"]
fn a_harness_of_which_c_accepts_no_input_is_not_tried() {
    let header = "unsigned strict(unsigned key, unsigned x);\n";
    let repo = Repo::of(&[("strict.h", header), ("strict.c", STRICT), ("fuzz/run.c", CALLS_STRICT)]);
    repo.run(&["drivers", "--seconds", "2"]).ok();
    let port = |factor: u32| {
        reply(&format!("pub fn strict(key: u32, x: u32) -> u32 {{\n    (x ^ key).wrapping_mul({factor})\n}}"))
    };
    repo.model(&[&port(5), &port(3)]);
    let settings = [&QUICK[..], &MEASURED, &["--config", "grade.mutant_seconds=2"]].concat();
    let ran = repo.run(&[&["port", "strict"][..], &settings].concat());
    ran.ok();
    assert_eq!(repo.asked(), 2, "{ran}");
    let status = repo.status("strict");
    assert!(["verified", "weak"].contains(&status["grade"].as_str().unwrap()), "{status:#}");
    let remark = "drivers judge it alone: its harness can judge no port: C accepts no input";
    assert!(status["reason"].as_str().unwrap().contains(remark), "{status:#}");

    // A short run, which asks no driver, leaves the grade as it is.
    let ran = repo.run(&[&["port", "strict", "--format", "json"][..], &QUICK].concat());
    let row = &ran.ok().json("port")["symbols"][0];
    assert_eq!(
        (&row["end"], &row["grade"]),
        (&serde_json::json!("already-ported"), &status["grade"]),
        "{row:#}"
    );

    // A person's contract does not turn the harness off.
    let contract = repo.read("rust/contracts/strict.toml");
    repo.write("rust/contracts/strict.toml", &(contract + "# seen by a person\n"));
    let json = repo.run(&[&["verify", "strict", "--format", "json"][..], &settings].concat()).json("verify");
    let one = &json["symbols"][0];
    assert!(one["contract_edited"] == true && one["grade"] != "verified", "{one:#}");
    assert!(!one["reason"].as_str().unwrap().contains(remark), "{one:#}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_alone -- --ignored"]
fn without_a_driver_nothing_judges_them() {
    let repo = repo();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.model(&[&reply(PORT)]);
    let ran = repo.run(&[&["port", "ring_slot"][..], &QUICK].concat());
    ran.code(13).shows("stopped by C");
}

const STEP: &str = "\
unsigned ring_step(struct ring *ring, unsigned key) {
    unsigned slot = (unsigned)((uintptr_t)ring->bytes >> 4) + key * 7u;
    ring->bytes[slot % ring->size] ^= 2;
    return slot;
}
";

const STEP_PORT: &str = "pub unsafe fn ring_step(ring: *mut ffi::ring, key: u32) -> u32 {
    // SAFETY: C passes a ring with as many bytes as its size says.
    unsafe {
        let slot = (((*ring).bytes as usize >> 4) as u32).wrapping_add(key.wrapping_mul(7));
        let at = (*ring).bytes.add((slot % (*ring).size) as usize);
        *at ^= 2;
        slot
    }
}
";

#[test]
fn what_was_judged_in_place_is_not_judged_again_for_ports_that_it_does_not_call() {
    let header = format!("{HEADER}unsigned ring_step(struct ring *ring, unsigned key);\n");
    let call = "ring_slot(ring, data[i] * 7u + (unsigned)i)";
    let driver = DRIVER.replace(call, &format!("{call}, ring_step(ring, data[i])"));
    let library = format!("{LIBRARY}{STEP}");
    let repo = Repo::of(&[("ring.h", &header), ("ring.c", &library), ("fuzz/run.c", &driver)]);
    repo.run(&["drivers", "--seconds", "2"]).ok();
    // Both are asked for before either is in the tree.
    let both = ["ring_slot", "ring_step"];
    model(&repo, &both, &[("ring_slot", &[PORT]), ("ring_step", &[STEP_PORT])]);
    let ran = repo.run(&[&["port", "ring_slot", "ring_step", "-j", "2"], &QUICK[..], &MEASURED[..]].concat());
    ran.ok();
    assert_eq!(
        repo.count("SELECT count(*) FROM steps WHERE step = 'accept' AND why LIKE '%entered the tree%'"),
        1
    );
    assert_eq!(ran.stderr.matches("judging in place").count(), 2, "{ran}");
    for name in both {
        let status = repo.status(name);
        assert!(["verified", "weak"].contains(&status["grade"].as_str().unwrap()), "{status:#}");
    }
}
