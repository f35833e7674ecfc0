//! Compiles the guard and routes the sanitizers' handlers through it. Written by cargo-implfuzz.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=guard.c");
    println!("cargo:rerun-if-changed=chance.c");
    println!("cargo:rerun-if-changed=ledger.c");
    println!("cargo:rerun-if-changed=trace_pc.c");
    println!("cargo:rerun-if-changed=wraps.txt");
    let gcc = env::var_os("DEP_IMPLFUZZ_C_TRACE_PC").is_some();
    let mut guard = cc::Build::new();
    guard.file("guard.c").file("chance.c").file("ledger.c").opt_level(2).warnings(false);
    if gcc {
        guard.define("IMPLFUZZ_TRACE_PC", None);
        println!("cargo:rustc-link-arg-bins=-Wl,--wrap=__sanitizer_cov_trace_pc");
    }
    guard.compile("implfuzz_guard");
    let wraps = std::fs::read_to_string("wraps.txt").expect("wraps.txt stands beside build.rs");
    for name in wraps.split_whitespace() {
        println!("cargo:rustc-link-arg-bins=-Wl,--wrap={name}");
    }
}
