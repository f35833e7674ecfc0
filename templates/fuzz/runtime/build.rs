//! Compiles the C files of the runtime. Written by cargo-implfuzz.

fn main() {
    let guard = ["guard.c", "chance.c", "ledger.c", "system_calls.c"];
    let trace_pc = "trace_pc.c";
    for file in guard.into_iter().chain([trace_pc]) {
        println!("cargo:rerun-if-changed={file}");
    }
    let mut build = cc::Build::new();
    build.opt_level(2).warnings(false);
    build.clone().files(guard).compile("implfuzz_guard");
    // A library of its own: the linker takes it only where gcc compiled the C side.
    build.file(trace_pc).compile("implfuzz_trace_pc");
}
