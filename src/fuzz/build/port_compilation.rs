//! How the port is compiled, and nothing else: with edge and comparison counters, which guide the fuzzer, and within
//! limits of time and memory, because its text may make the compiler use up both. libFuzzer scans every counter after
//! every run, and the harness would have a hundred times as many as the port.
//!
//! Cargo passes flags to all crates or to none, so a wrapper around rustc does this for one crate.

use crate::digest::of_parts;
use crate::error::Result;
use crate::fuzz::build::overlay::Overlay;
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

/// Processor time that the compiler may take for a port, in all its threads. Ports of 100 functions take 20 s.
const SECONDS: u64 = 600;
/// Size of a file that it may write.
const FILE_BYTES: u64 = 256 << 20;
/// Memory that it may use: half of what the machine has, within these limits. Ports of 100 functions take 1 GiB.
const MEMORY_BYTES: std::ops::RangeInclusive<u64> = 2 << 30..=8 << 30;

const WRAPPER: &str = include_str!("../../../templates/fuzz/rustc.sh");

/// How the port is compiled, apart from the flags for all crates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum PortIs {
    /// With the counters that guide the fuzzer.
    Guided,
    /// With the flags for all crates.
    Counted,
    /// Without flags that its users would not give.
    Shipped,
}

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
        let text = text.replace("@SECONDS@", &SECONDS.to_string());
        let text = text.replace("@BLOCKS@", &(FILE_BYTES / 512).to_string());
        let mark = of_parts([text.as_bytes()])[..16].to_owned();
        let wrapper = target_dir.join(format!("implfuzz-rustc-{mark}"));
        write_atomic(&wrapper, text.as_bytes())?;
        fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self { wrapper, mark })
    }

    /// Flags for every crate. Cargo does not know what the wrapper adds, so the flags must differ if the
    /// wrapper changed; otherwise cargo would reuse crates that an earlier wrapper compiled.
    pub fn rustflags(&self) -> [String; 3] {
        ["--cfg=fuzzing".to_owned(), "--cfg=implfuzz_edges".to_owned(), self.mark()]
    }

    /// The flag that changes with the wrapper.
    pub fn mark(&self) -> String {
        format!("--cfg=implfuzz_edges=\"{}\"", self.mark)
    }

    /// The environment variables for cargo when it builds this overlay. Cargo asks the compiler anew what it is whenever
    /// another wrapper is used in the target directory, so all builds there use this one.
    pub fn env(&self, overlay: &Overlay, port: PortIs) -> [(&'static str, OsString); 4] {
        [
            ("RUSTC_WRAPPER", self.wrapper.clone().into()),
            ("IMPLFUZZ_PORT", overlay.dir().into()),
            ("IMPLFUZZ_MEMORY", (memory() / 1024).to_string().into()),
            ("IMPLFUZZ_PORT_IS", <&str>::from(port).into()),
        ]
    }
}

/// Bytes of memory that the compiler may use for a port.
fn memory() -> u64 {
    // SAFETY: they only ask for numbers.
    let [pages, size] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    let all = u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(size).unwrap_or(0));
    (all / 2).clamp(*MEMORY_BYTES.start(), *MEMORY_BYTES.end())
}

/// How the compiler ended that compiled the port of this overlay, if it ended without an error message: by its limits,
/// or by a crash. Cargo says so in `stderr`.
pub fn stopped(stderr: &str, overlay: &Overlay) -> Option<String> {
    stopped_at(stderr, &overlay.dir().join("src/lib.rs"))
}

fn stopped_at(stderr: &str, root: &Path) -> Option<String> {
    let root = root.display().to_string();
    let is_it = |line: &&str| line.contains("process didn't exit successfully: `") && line.contains(&root);
    let (_, status) = stderr.lines().find(is_it)?.rsplit_once('(')?;
    let status = status.trim_end_matches(')');
    let out_of_memory = || stderr.contains("memory allocation of") || stderr.contains("out of memory");
    Some(match status.split([',', ' ']).find_map(|word| word.parse().ok()) {
        Some(libc::SIGXCPU) => {
            format!("the compiler takes more than {SECONDS} s of processor time for the port")
        }
        Some(libc::SIGXFSZ) => format!("the compiled port is larger than {} MiB", FILE_BYTES >> 20),
        Some(libc::SIGABRT) if out_of_memory() => {
            format!("the compiler takes more than {} MiB of memory for the port", memory() >> 20)
        }
        Some(libc::SIGKILL) => "the compiler is killed on the port, perhaps for want of memory".to_owned(),
        _ => format!("the compiler ends without an error message on the port ({status})"),
    })
}

/// Whether a compiled crate has edge counters.
pub fn are_in(rlib: &Path) -> Result<bool> {
    Ok(memchr::memmem::find(&fs::read(rlib)?, b"__sancov_").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::process::{Exit, Interrupt, Job};

    /// The arguments that the compiler receives for a crate with this name in this folder.
    fn given(edges: &Edges, is: &str, (folder, name): (&str, &str)) -> String {
        let job = Job::new(&edges.wrapper).args(["echo", "--crate-name", name, "--cfg=fuzzing"]);
        let job = job.args([
            "--cfg", "feature=\"c-original\"", "--cfg", "feature=\"c\"", "--cfg=implfuzz_edges=\"1\"",
            "-Cinstrument-coverage",
        ]);
        let job = job.env("IMPLFUZZ_PORT", "/the port").env("CARGO_MANIFEST_DIR", folder);
        let job = job.env("IMPLFUZZ_MEMORY", "4194304").env("IMPLFUZZ_PORT_IS", is);
        let output = job.env("CARGO_CRATE_NAME", name).run(&Interrupt::none()).expect("runs");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn the_port_is_instrumented_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let edges = Edges::place(dir.path()).expect("placed");
        let own = "--cfg=fuzzing --cfg feature=\"c-original\" --cfg feature=\"c\" --cfg=implfuzz_edges=\"1\" -Cinstrument-coverage";
        let plain = |name: &str| format!("--crate-name {name} {own}\n");
        let port = ("/the port", "zlib");
        let guided = format!("--crate-name zlib {own} {}\n", FLAGS.join(" "));
        assert_eq!(given(&edges, "guided", port), guided);
        assert_eq!(given(&edges, "counted", port), plain("zlib"));
        let shipped = "--crate-name zlib --cfg feature=\"c\" --remap-path-prefix=/the port/=\n";
        assert_eq!(given(&edges, "shipped", port), shipped);
        for is in ["guided", "counted", "shipped"] {
            for name in ["build_script_build", "build_script_mine"] {
                assert_eq!(given(&edges, is, ("/the port", name)), plain(name));
            }
            assert_eq!(given(&edges, is, ("/the port/fuzz", "zlib_fuzz")), plain("zlib_fuzz"));
            assert_eq!(given(&edges, is, ("/registry/libc", "libc")), plain("libc"));
        }
        let probe = Job::new(&edges.wrapper).args(["echo", "-vV"]).env_remove("CARGO_MANIFEST_DIR");
        let output = probe.run(&Interrupt::none()).expect("runs");
        assert_eq!(output.stdout_text(), "-vV\n", "without a port");
    }

    #[test]
    fn the_port_is_compiled_within_limits() {
        let dir = tempfile::tempdir().expect("a directory");
        let edges = Edges::place(dir.path()).expect("placed");
        let limits = |folder: &str| {
            let job = Job::new(&edges.wrapper).args(["sh", "-c", "ulimit -St; ulimit -v; ulimit -f"]);
            let job = job.env("IMPLFUZZ_PORT", "/the port").env("CARGO_MANIFEST_DIR", folder);
            job.env("IMPLFUZZ_MEMORY", "4194304").run(&Interrupt::none()).expect("runs").stdout_text()
        };
        assert_eq!(limits("/the port"), format!("{SECONDS}\n4194304\n{}\n", FILE_BYTES / 512));
        let text =
            fs::read_to_string(&edges.wrapper).expect("read").replace(&format!("-St {SECONDS}"), "-St 1");
        let short = dir.path().join("short");
        fs::write(&short, text).expect("written");
        let job = Job::new("sh").arg(&short).args(["sh", "-c", "while :; do :; done"]);
        let job = job.env("IMPLFUZZ_PORT", "/the port").env("CARGO_MANIFEST_DIR", "/the port");
        let ended = job.env("IMPLFUZZ_MEMORY", "4194304").run(&Interrupt::none()).expect("runs").exit;
        assert_eq!(ended, Exit::Signal(libc::SIGXCPU));
        assert_eq!(limits("/the port/fuzz"), "unlimited\nunlimited\nunlimited\n");
    }

    #[test]
    fn the_compiler_of_the_port_gets_no_keys_and_nothing_of_the_tool() {
        let dir = tempfile::tempdir().expect("a directory");
        let edges = Edges::place(dir.path()).expect("placed");
        let job =
            Job::new(&edges.wrapper).args(["sh", "-c", "env"]).env("CARGO_REGISTRIES_OWN_TOKEN", "a-key");
        let job = job.env("CARGO_REGISTRY_TOKEN", "a-key").env("SSH_AUTH_SOCK", "a-key").env("LC_ALL", "C");
        let job = job.env("IMPLFUZZ_PORT", "/the port").env("CARGO_MANIFEST_DIR", "/the port");
        let seen = job.env("IMPLFUZZ_MEMORY", "4194304").run(&Interrupt::none()).expect("runs").stdout_text();
        assert!(!seen.contains("a-key") && !seen.contains("IMPLFUZZ"), "{seen}");
        assert!(seen.contains("LC_ALL=C") && seen.contains("CARGO_MANIFEST_DIR=/the port"), "{seen}");
    }

    #[test]
    fn a_compiler_that_is_stopped_says_why() {
        let said = |crate_root: &str, status: &str| {
            let text = format!(
                "memory allocation of 8 bytes failed\nerror: could not compile `lib` (lib)\n\nCaused by:\n  process didn't \
                 exit successfully: `/w /r --crate-name lib --edition=2024 {crate_root} --x (y)` ({status})\n"
            );
            stopped_at(&text, Path::new("/the port/src/lib.rs"))
        };
        let port = |status| said("/the port/src/lib.rs", status).expect("it is the port");
        assert!(port("signal: 24, SIGXCPU: cpu time limit exceeded").contains("more than 600 s"));
        assert!(port("signal: 25, SIGXFSZ: file size limit exceeded").contains("larger than 256 MiB"));
        assert!(port("signal: 9, SIGKILL: kill").contains("perhaps for want of memory"));
        assert!(port("exit status: 101").ends_with("(exit status: 101)"));
        assert!(port("signal: 6, SIGABRT: process abort signal").contains("MiB of memory"));
        assert!(
            port("signal: 11, SIGSEGV: invalid memory reference")
                .ends_with("(signal: 11, SIGSEGV: invalid memory reference)")
        );
        assert_eq!(said("/the port/fuzz/src/lib.rs", "signal: 24, SIGXCPU: cpu time limit exceeded"), None);
        assert_eq!(stopped_at("error: could not compile", Path::new("/the port/src/lib.rs")), None);
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
