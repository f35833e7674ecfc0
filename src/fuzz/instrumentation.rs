//! Adds edge and comparison counters, which guide the fuzzer, to the port only. libFuzzer scans every counter
//! after every run, and the harness would have a hundred times as many as the port.
//!
//! Cargo passes flags to all crates or to none, so a wrapper around rustc adds them for one crate.

use super::overlay::Overlay;
use crate::digest::of_parts;
use crate::error::Result;
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// rustc flags that add the instrumentation that libFuzzer expects, tested on stable 1.95.
pub const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-sanitizer-coverage-stack-depth",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];

const WRAPPER: &str = include_str!("../../templates/fuzz/rustc.sh");

/// The rustc wrapper in a target directory.
#[derive(Debug, Clone)]
pub struct Edges {
    wrapper: PathBuf,
    /// Identifies the wrapper's text.
    mark: String,
}

impl Edges {
    /// Writes the wrapper into a target directory.
    pub fn place(target_dir: &Path) -> Result<Self> {
        let text = WRAPPER.replace("@FLAGS@", &FLAGS.join(" "));
        let mark = of_parts([text.as_bytes()])[..16].to_owned();
        let wrapper = target_dir.join(format!("implfuzz-rustc-{mark}"));
        write_atomic(&wrapper, text.as_bytes())?;
        fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self { wrapper, mark })
    }

    /// Flags for every crate. Cargo does not know what the wrapper adds, so the flags must differ if the
    /// wrapper changed; otherwise cargo would reuse crates that an earlier wrapper compiled.
    pub fn rustflags(&self) -> [String; 3] {
        let mark = format!("--cfg=implfuzz_edges=\"{}\"", self.mark);
        ["--cfg=fuzzing".to_owned(), "--cfg=implfuzz_edges".to_owned(), mark]
    }

    /// The environment variables for cargo when it builds this overlay; without one, nothing gets counters. Cargo
    /// asks the compiler anew what it is whenever another wrapper is used in the target directory, so all builds
    /// there use this one.
    pub fn env(&self, overlay: Option<&Overlay>) -> impl Iterator<Item = (&'static str, OsString)> {
        let port = overlay.map(|overlay| ("IMPLFUZZ_PORT", overlay.dir().into()));
        [("RUSTC_WRAPPER", self.wrapper.clone().into())].into_iter().chain(port)
    }
}

/// Whether a compiled crate has edge counters.
pub(super) fn are_in(rlib: &Path) -> Result<bool> {
    Ok(memchr::memmem::find(&fs::read(rlib)?, b"__sancov_").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::process::{Interrupt, Job};

    /// The arguments that the compiler receives for a crate with this name in this folder.
    fn given(edges: &Edges, folder: &str, name: &str) -> String {
        let job = Job::new(&edges.wrapper).args(["echo", "--crate-name", name]);
        let job = job.env("IMPLFUZZ_PORT", "/the port").env("CARGO_MANIFEST_DIR", folder);
        let output = job.env("CARGO_CRATE_NAME", name).run(&Interrupt::none()).expect("runs");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn the_port_is_instrumented_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let edges = Edges::place(dir.path()).expect("placed");
        let plain = |name: &str| format!("--crate-name {name}\n");
        let port = given(&edges, "/the port", "zlib");
        assert_eq!(port, format!("--crate-name zlib {}\n", FLAGS.join(" ")));
        for name in ["build_script_build", "build_script_mine"] {
            assert_eq!(given(&edges, "/the port", name), plain(name));
        }
        assert_eq!(given(&edges, "/the port/fuzz", "zlib_fuzz"), plain("zlib_fuzz"));
        assert_eq!(given(&edges, "/registry/libc", "libc"), plain("libc"));
        let probe = Job::new(&edges.wrapper).args(["echo", "-vV"]).env_remove("CARGO_MANIFEST_DIR");
        let output = probe.run(&Interrupt::none()).expect("runs");
        assert_eq!(output.stdout_text(), "-vV\n", "without a port");
    }

    #[test]
    fn a_crate_without_counters_is_known() {
        let dir = tempfile::tempdir().expect("a directory");
        let rlib = dir.path().join("port.rlib");
        for (text, counts) in [("no such symbol", false), ("a __sancov_gen_.1 symbol", true)] {
            fs::write(&rlib, text).expect("written");
            assert_eq!(are_in(&rlib).expect("read"), counts);
        }
    }
}
