//! Replies that would take up the compiler, or this tool: each ends its candidate with a clear message, and the run goes on.

use crate::support::{Repo, reply};

const RIGHT: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";

/// A macro that doubles its arguments for ever.
const MACRO_BOMB: &str = "macro_rules! bomb {\n    ($($t:tt)*) => { bomb!($($t)* $($t)*) };\n}\n\n\
    pub fn twice(x: u32) -> u32 {\n    bomb!(x)\n}";

const ENDLESS: &str = "const fn endless() -> u32 {\n    let mut at = 0u64;\n    while at < u64::MAX {\n        at += 1;\n    }\n    0\n}\n\n\
    pub fn twice(x: u32) -> u32 {\n    const NONE: u32 = endless();\n    x.wrapping_mul(2).wrapping_add(NONE)\n}";

/// 8 kB for each row.
fn constant(rows: u32) -> String {
    format!(
        "const ROWS: &[[u64; 1000]] = &[[1; 1000]; {rows}];\n\n\
         pub fn twice(x: u32) -> u32 {{\n    let row = x as usize % ROWS.len();\n    x.wrapping_mul(2).wrapping_add(ROWS[row][0] as u32 - 1)\n}}"
    )
}

/// Each tuple has two of the one before.
fn growing_type(rounds: u32) -> String {
    let tuple = |n: u32| format!("    let t{n} = (t{0}, t{0});\n", n - 1);
    let tuples: String = (1..=rounds).map(tuple).collect();
    format!(
        "pub fn twice(x: u32) -> u32 {{\n    let t0 = x;\n{tuples}    let _ = &t{rounds};\n    x.wrapping_mul(2)\n}}"
    )
}

#[test]
fn what_takes_up_the_compiler_ends_its_candidate_and_not_the_run() {
    let repo = Repo::initialised();
    let huge = format!("// {}\n{RIGHT}", "x".repeat(10 << 20));
    let replies = [&huge, ENDLESS, &constant(50_000), RIGHT].map(reply);
    repo.model(&replies.each_ref().map(String::as_str));
    let ran = repo.port(&["twice"]);
    ran.ok().shows("10485");
    ran.shows("constant evaluation is taking a long time").shows("the compiled port is larger than 256 MiB");
    assert_eq!(repo.asked(), replies.len());
    let prompt = repo.prompt(4);
    assert!(prompt.contains("larger than 256 MiB") && prompt.contains("no large constants"), "{prompt}");
}

#[test]
#[ignore = "it builds a binary of 200 MB: cargo test --test suite compiler_limits -- --ignored"]
fn a_constant_of_200_mb_is_built_and_run() {
    let repo = Repo::initialised();
    repo.model(&[&reply(&constant(25_000))]);
    repo.port(&["twice"]).ok();
}

/// Minutes, and gigabytes of memory.
#[test]
#[ignore = "it takes gigabytes of memory"]
fn a_compiler_that_takes_all_memory_ends_its_candidate() {
    let repo = Repo::initialised();
    repo.model(&[&reply(&growing_type(28)), &reply(RIGHT)]);
    let ran = repo.port(&["twice"]);
    ran.ok().shows("MiB of memory for the port");
    let repo = Repo::initialised();
    repo.model(&[&reply(MACRO_BOMB), &reply(RIGHT)]);
    repo.port(&["twice"]).ok().shows("MiB of memory for the port");
}
