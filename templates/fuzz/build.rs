//! Routes the sanitizers' handlers and the allocator through the runtime. Written by cargo-implfuzz.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=wraps.txt");
    let argument = |text: &str| println!("cargo:rustc-link-arg-bins=-Wl,{text}");
    let wraps = std::fs::read_to_string("wraps.txt").expect("wraps.txt stands beside build.rs");
    for name in wraps.split_whitespace() {
        argument(&format!("--wrap={name}"));
    }
    // gcc compiled the C side. `-u` makes the linker look for the wrapper, whatever order it reads the libraries in.
    if env::var_os("DEP_IMPLFUZZ_C_TRACE_PC").is_some() {
        argument("--wrap=__sanitizer_cov_trace_pc");
        argument("-u,__wrap___sanitizer_cov_trace_pc");
    }
}
