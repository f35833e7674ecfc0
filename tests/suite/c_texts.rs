//! What C consists of beside its `.c` files: included tables, bytes that are no UTF-8, names that the tool's own C has, and
//! files that move.

use crate::support::{MEASURED, Repo};
use std::fs::File;
use std::time::{Duration, SystemTime};

const SHORT: [&str; 4] = ["--runs", "3000", "--seconds", "3"];
const MODULE: &str = "rust/src/sum.rs";

fn verify(repo: &Repo, name: &str) -> crate::support::Ran {
    repo.run(&[&["verify", name], &SHORT[..]].concat())
}

/// A library of one function whose factor stands in a file of its own, with a right port.
fn with_table() -> Repo {
    let repo = Repo::empty();
    repo.write("factor.inc", "2u\n");
    repo.write(
        "sum.c",
        "#include <stdint.h>\nuint32_t scaled(uint32_t x) {\n    return x *\n#include \"factor.inc\"\n    ;\n}\n",
    );
    repo.run(&["init"]).ok();
    repo.replace(MODULE, "unimplemented!(\"scaled\")", "x.wrapping_mul(2)");
    repo
}

#[test]
fn a_port_is_judged_by_the_included_text_that_stands_in_the_tree() {
    let repo = with_table();
    let measured = [&["verify", "scaled"], &SHORT[..], &MEASURED].concat();
    repo.run(&measured);
    // The mutants are known now, so the last build has the original.
    repo.run(&measured);
    repo.write("factor.inc", "3u\n");
    // As an archive or `cp -p` leaves it.
    let old = SystemTime::now() - Duration::from_secs(400 * 86_400);
    File::options().write(true).open(repo.root().join("factor.inc")).unwrap().set_modified(old).unwrap();
    repo.run(&measured).code(10).shows("mismatch");
    repo.replace(MODULE, "x.wrapping_mul(2)", "x.wrapping_mul(3)");
    verify(&repo, "scaled").ok();
    repo.run(&["check"]).ok();
}

#[test]
fn a_file_in_latin_1_and_functions_that_are_called_like_those_of_the_guard_are_judged() {
    let repo = Repo::empty();
    let text = b"/* Andr\xe9 */\n#include <string.h>\n\
        int check(int x) { char a[8], b[8]; memset(a, x, 8); memcpy(b, a, 8); return b[x & 7] > 3 ? 1 : 2; }\n\
        int note(int x) { return x / 3; }\n";
    std::fs::write(repo.root().join("sum.c"), text).unwrap();
    repo.run(&["init"]).ok();
    repo.replace(
        MODULE,
        "unimplemented!(\"check\")",
        "let mut b = [0_i8; 8];\n    b.copy_from_slice(&[x as i8; 8]);\n    if b[(x & 7) as usize] > 3 { 1 } else { 2 }",
    );
    repo.replace(MODULE, "unimplemented!(\"note\")", "x / 3");
    repo.run(&[&["verify", "--all", "--runs", "20000", "--seconds", "10"], &MEASURED[..]].concat()).ok();
    for name in ["check", "note"] {
        assert_eq!(repo.status(name)["grade"], "verified", "{name}: {}", repo.status(name));
    }
}

#[test]
fn a_module_whose_c_file_has_another_name_now_is_no_port() {
    let repo = with_table();
    verify(&repo, "scaled").ok();
    std::fs::rename(repo.root().join("sum.c"), repo.root().join("add.c")).unwrap();
    repo.replace("implfuzz.toml", "\"sum.c\"", "\"add.c\"");
    let said = repo.run(&["init"]);
    said.ok().shows("rust/src/sum.rs belongs to no C file");
    repo.replace("rust/src/add.rs", "unimplemented!(\"scaled\")", "x.wrapping_mul(2)");
    verify(&repo, "scaled").ok();
    repo.run(&["check"]).ok();
    // The old file is still there, but no build has it.
    repo.replace("rust/src/add.rs", "x.wrapping_mul(2)", "x.wrapping_mul(3)");
    repo.run(&["check"]).code(11).shows("scaled").shows("the Rust text");
}

#[test]
fn a_function_with_a_line_behind_its_name_is_one_of_its_own() {
    let repo = Repo::empty();
    repo.write(
        "sum.c",
        "unsigned twice(unsigned x) { return x * 2; }\nunsigned twice_(unsigned x) { return x * 3; }\n",
    );
    repo.run(&["init"]).ok();
    repo.replace(MODULE, "unimplemented!(\"twice\")", "x.wrapping_mul(2)");
    verify(&repo, "twice").ok();
    repo.run(&["check"]).ok();
    repo.replace(MODULE, "unimplemented!(\"twice_\")", "x.wrapping_mul(4)");
    repo.run(&["check"]).code(11).shows("twice_").shows("no evidence");
}

#[test]
fn a_fuzz_target_that_does_not_compile_stops_no_other_function() {
    let repo = Repo::empty();
    repo.write(
        "sum.c",
        "#include <stdint.h>\nstruct ring { uint8_t *at; uint32_t used; void (*tell)(struct ring *); };\n\
         uint32_t ring_used(struct ring *r) { return r->used + 1; }\nuint32_t twice(uint32_t x) { return x * 2; }\n",
    );
    repo.run(&["init"]).ok();
    repo.run(&["contract", "--new", "ring_used"]).ok();
    let target = "rust/fuzz/targets/ring_used.rs";
    assert!(repo.root().join(target).exists());
    repo.replace(MODULE, "unimplemented!(\"ring_used\")", "unsafe { (*r).used.wrapping_add(1) }");
    repo.replace(MODULE, "unimplemented!(\"twice\")", "x.wrapping_mul(2)");
    // Measured, so that all builds have its target.
    let measured = |name: &str| repo.run(&[&["verify", name], &SHORT[..], &MEASURED].concat());
    measured("ring_used").shows("ring_used");
    let right = repo.read(target);
    repo.write(target, &format!("{right}\nfn half_written() -> u32 {{\n    \"\"\n}}\n"));
    // Alone, and together: the one that compiles is judged.
    measured("twice").shows("3000 executions of 10000");
    measured("--all").code(11).shows("does not compile").shows("3000 executions of 10000");
    repo.write(target, &right.replace("fn target", "fn another"));
    verify(&repo, "twice").ok();
    repo.run(&["verify", "ring_used"]).shows("no function `target`");
}

#[test]
fn a_persons_functions_stay_even_if_they_look_like_stubs() {
    let repo = Repo::initialised();
    let own = "\npub fn fail() -> ! {\n    panic!(\"a person wrote this\")\n}\n";
    repo.write(MODULE, &(repo.read(MODULE) + own));
    repo.run(&["init"]).ok();
    assert!(repo.read(MODULE).contains(own), "{}", repo.read(MODULE));
}

#[test]
fn a_repository_may_be_called_like_a_keyword() {
    let repo = Repo::empty();
    repo.write("in/sum.c", "unsigned twice(unsigned x) { return x * 2; }\n");
    repo.run(&["-C", "in", "init"]).ok();
    assert!(repo.read("in/rust/Cargo.toml").contains("port-in"));
}
