//! The cost of judging, beside the same harness without sanitizers and beside a hand-written target of cargo-fuzz, in one run:
//! `cargo bench --bench speed`. With `-- --write` the tables go into docs/oracle-speed.md; `-- --rounds N` measures so often.
//!
//! All variants run in turn, round by round, and a ratio is the median of the ratios of its rounds: a machine that is busy for a
//! while makes all of them slow. Throughput is counted in processor time, builds in wall time.
//!
//! The hand-written target is in `peer/`; the real `cargo fuzz` builds it (`cargo install cargo-fuzz`), by a nightly rustc or with
//! RUSTC_BOOTSTRAP=1.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "it starts the programs that it measures, and waits by hand"
)]

#[path = "../tests/suite/support/mod.rs"]
mod support;
#[path = "peer/mod.rs"]
mod peer;

use cargo_implfuzz::fuzz::build::fuzz_binary::{Builder, Built, Counts};
use cargo_implfuzz::fuzz::build::overlay::Overlay;
use cargo_implfuzz::fuzz::build::port_compilation::{Edges, PortIs};
use cargo_implfuzz::fuzz::campaign::ASAN_OPTIONS;
use cargo_implfuzz::harness::registry;
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::platform::toolchain::{Search, Toolchain};
use cargo_implfuzz::symbol::SymbolName;
use peer::Peer;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use support::clib;

/// Functions with a port in the place of their stub: their modules and bodies.
const PORTS: [(&str, &str, &str); 3] = [
    (
        "kit_crc32",
        "checksum",
        "const TABLE: [u32; 256] = {
             let mut table = [0u32; 256];
             let mut i = 0;
             while i < 256 {
                 let (mut c, mut bit) = (i as u32, 0);
                 while bit < 8 {
                     c = if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 };
                     bit += 1;
                 }
                 table[i] = c;
                 i += 1;
             }
             table
         };
         let Some(buf) = buf else { return 0 };
         !buf.iter().fold(!crc, |crc, b| TABLE[((crc ^ u32::from(*b)) & 0xff) as usize] ^ (crc >> 8))",
    ),
    (
        "kit_fnv1a64",
        "checksum",
        "buf.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))",
    ),
    (
        "kit_rolling16",
        "checksum",
        "let (mut sum, mut weighted) = (0u16, 0u16);
         for s in samples {
             sum = sum.wrapping_add(i16::from(*s) as u16);
             weighted = weighted.wrapping_add(sum);
         }
         (((i32::from(sum) + i32::from(weighted)) / 2) ^ (i32::from(weighted) << 8)) as u16",
    ),
];

/// Length of the inputs, and executions of a measurement: enough that starting the process does not count.
const SIZES: [(usize, u64); 2] = [(4096, 1_000_000), (64, 2_000_000)];
/// The function whose text is edited.
const EDITED: &str = "kit_fnv1a64";
/// Functions whose mutants are judged.
const MUTATED: [&str; 5] =
    ["kit_crc32", "kit_base64_decode", "kit_parse_int", "kit_glob_match", "kit_sort_i32"];

/// What a C side and its harness are built with.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    /// As `verify` builds it.
    Own,
    /// The same without sanitizers and without the guard.
    Bare,
}

/// The fixture with some functions ported.
struct Bench {
    root: PathBuf,
    toolchain: Toolchain,
    interrupt: Interrupt,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let after = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let rounds = after("--rounds").map_or(7, |n| n.parse().unwrap());
    let bench = Bench::prepare();
    let text = format!("{}\n{}\n{}", bench.throughput(rounds), bench.edits(rounds), bench.mutants());
    println!("{text}");
    if args.iter().any(|arg| arg == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/oracle-speed.md");
        std::fs::write(path, format!("{}\n{text}", head(rounds))).unwrap();
    }
}

fn head(rounds: usize) -> String {
    format!(
        "# The cost of judging\n\n\
         `cargo bench --bench speed -- --rounds {rounds} --write` wrote this page; all numbers are from one run on one machine. In each round \
         all variants run one after the other; a ratio is the median of the ratios of the rounds.\n"
    )
}

impl Bench {
    fn prepare() -> Self {
        let root = clib::scratch("speed");
        clib::copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib"), &root);
        let interrupt = Interrupt::none();
        let toolchain = Toolchain::find(&Search::from_env(), &interrupt).unwrap();
        let bench = Self { root, toolchain, interrupt };
        bench.tool(&["init", "-q"]);
        for (symbol, module, body) in PORTS {
            let path = bench.root.join(format!("rust/src/{module}.rs"));
            let text = std::fs::read_to_string(&path).unwrap();
            let stub = format!("unimplemented!(\"{symbol}\")");
            assert_eq!(text.matches(&stub).count(), 1, "{symbol}");
            std::fs::write(&path, text.replace(&stub, body)).unwrap();
        }
        bench
    }

    /// Runs the tool; its standard output.
    fn tool(&self, args: &[&str]) -> String {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
        tool.current_dir(&self.root).arg("implfuzz").args(args).env("CARGO_TARGET_DIR", target_dir("tool"));
        let output = tool.stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Builds a variant after an edit, and says how long that took. The number makes the edit another one.
    fn build(&self, variant: Variant, edit: u64) -> (PathBuf, f64) {
        let replaced = self.replaced(variant, edit);
        let target = target_dir(variant.name());
        let start = Instant::now();
        let rust = self.root.join("rust");
        let symbols = PORTS.map(|(symbol, _, _)| SymbolName::new(symbol));
        let symbols: Vec<&SymbolName> = symbols.iter().collect();
        let overlay = Overlay::sync(&rust, &target.join("overlay"), &target, &symbols, &replaced).unwrap();
        let binary = match variant {
            Variant::Own => self.build_own(&overlay),
            Variant::Bare => self.cargo(&overlay, variant, "implfuzz_all"),
        };
        (binary, start.elapsed().as_secs_f64())
    }

    /// Opens the harnesses of all functions, which stay open as they do in a port of the whole library; how many there are.
    fn open_all(&self) -> usize {
        let rust = self.root.join("rust");
        let list = std::fs::read_to_string(rust.join(registry::REGISTRY_FILE)).unwrap();
        let symbols: Vec<SymbolName> = registry::targets(&list).into_iter().map(SymbolName::new).collect();
        let symbols: Vec<&SymbolName> = symbols.iter().collect();
        let target = target_dir(Variant::Own.name());
        let replaced = self.replaced(Variant::Own, 0);
        let overlay = Overlay::sync(&rust, &target.join("overlay"), &target, &symbols, &replaced).unwrap();
        self.build_own(&overlay);
        symbols.len()
    }

    /// The files that make a variant.
    fn replaced(&self, variant: Variant, edit: u64) -> Vec<(PathBuf, String)> {
        let read = |path: &str| std::fs::read_to_string(self.root.join("rust").join(path)).unwrap();
        let swap = |path: &str, swaps: &[(&str, &str)]| {
            let mut text = read(path);
            for (from, to) in swaps {
                assert!(text.contains(from), "{from:?} is not in {path}");
                text = text.replace(from, to);
            }
            (PathBuf::from(path), text)
        };
        let start = format!("fold(0xcbf2_9ce4_8422_2325u64 ^ {edit} ^ {edit}, |h, b|");
        let mut all = vec![swap("src/checksum.rs", &[("fold(0xcbf2_9ce4_8422_2325u64, |h, b|", &start)])];
        match variant {
            Variant::Own => {}
            Variant::Bare => {
                all.push(swap("build.rs", &[("    build.flag(UBSAN);\n", "")]));
                let guard = "mut call: F) -> Result<(), Broke> {\n";
                let plain = format!("{guard}    if true {{ call(); return Ok(()); }}\n");
                all.push(swap("fuzz/runtime/src/guard.rs", &[(guard, &plain)]));
            }
        }
        all
    }

    fn build_own(&self, overlay: &Overlay) -> PathBuf {
        let builder = Builder {
            toolchain: &self.toolchain,
            root: &self.root,
            target_dir: target_dir(Variant::Own.name()).join("target"),
            user_dir: target_dir("user"),
            shared_dir: target_dir(Variant::Own.name()).join("target"),
            bin_dir: target_dir(Variant::Own.name()).join("bin"),
            counts: Counts::Edges,
            optimise: true,
        };
        match builder.build(overlay, &self.interrupt).unwrap() {
            Built::Binary(path) => path,
            Built::Errors(errors) => panic!("{}", errors[0].rendered),
            Built::Stopped(reason) => panic!("{reason}"),
        }
    }

    fn cargo(&self, overlay: &Overlay, variant: Variant, bin: &str) -> PathBuf {
        let dir = target_dir(variant.name()).join("target");
        let mut cargo = Command::new(&self.toolchain.cargo);
        cargo.args(["build", "--release", "--quiet", "--bin", bin, "--target", &self.toolchain.host]);
        cargo.arg("--manifest-path").arg(overlay.fuzz_manifest()).arg("--target-dir").arg(&dir);
        let edges = Edges::place(&dir).unwrap();
        cargo.env("RUSTFLAGS", edges.rustflags().join(" ")).envs(edges.env(overlay, PortIs::Guided));
        cargo.env("IMPLFUZZ_C_ROOT", &self.root);
        cargo.env("CC", &self.toolchain.cc.path).env("CXX", &self.toolchain.cxx.path);
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("IMPLFUZZ_ASAN");
        assert!(cargo.status().unwrap().success(), "{bin} does not build");
        dir.join(&self.toolchain.host).join("release").join(bin)
    }

    fn throughput(&self, rounds: usize) -> String {
        let mut text = format!(
            "## Throughput\n\nExecutions per second of processor time under libFuzzer, for inputs with at most the given number of bytes, {rounds} rounds.\n\n\
             - `executions/s`: this tool, as `verify` runs it.\n\
             - `no sanitizer`: the same harness, allocators, coverage and `Cargo.toml`, but without ASan, UBSan and the guard (the code that catches crashes of C).\n\
             - `cargo fuzz`: a hand-written cargo-fuzz target that decodes its input with `arbitrary`, calls C and the port, and compares the results \
             ([benches/peer](https://github.com/cargo-implfuzz/cargo-implfuzz/tree/main/benches/peer)), built by `cargo fuzz build` with its defaults ({}). It checks less than this tool: \
             its C is built without sanitizers, and it compares only return values.\n\n\
             | function | bytes | executions/s | no sanitizer | `cargo fuzz` | ratio to no sanitizer | ratio to `cargo fuzz` |\n|---|--:|--:|--:|--:|--:|--:|\n",
            toolchain_words()
        );
        let peer = Peer::prepare(PORTS.len(), &self.toolchain.host);
        let built = [Variant::Own, Variant::Bare].map(|variant| self.build(variant, 0).0);
        for (symbol, ..) in PORTS {
            peer.build(Some(symbol));
            let binaries = [built[0].clone(), built[1].clone(), peer.binary(symbol)];
            for (size, runs) in SIZES {
                let mut speeds = [const { Vec::new() }; 3];
                for _ in 0..rounds {
                    for (binary, (own, speeds)) in
                        binaries.iter().zip([true, true, false].into_iter().zip(&mut speeds))
                    {
                        speeds.push(runs as f64 / fuzz(own, binary, symbol, size, runs));
                    }
                }
                let ratio = |other: usize| {
                    median(speeds[0].iter().zip(&speeds[other]).map(|(own, other)| own / other).collect())
                };
                let [own, bare, theirs] = speeds.clone().map(median);
                writeln!(
                    text,
                    "| `{symbol}` | {size} | {own:.0} | {bare:.0} | {theirs:.0} | {:.2} | {:.1} |",
                    ratio(1),
                    ratio(2)
                )
                .unwrap();
                eprintln!("{symbol} {size}: {:.2} of no sanitizer, {:.2} of cargo fuzz", ratio(1), ratio(2));
            }
        }
        text
    }

    fn edits(&self, rounds: usize) -> String {
        let small = Peer::prepare(PORTS.len(), &self.toolchain.host);
        let large = Peer::prepare(peer::LARGE, &self.toolchain.host);
        // Dependencies and everything else that an edit does not touch.
        small.build(Some(EDITED));
        large.build(None);
        self.build(Variant::Own, 0);
        let few = (1..=rounds as u64).map(|round| self.build(Variant::Own, 1_000_000 + round).1).collect();
        let few = median(few);
        let open = self.open_all();
        let mut times = [const { Vec::new() }; 4];
        for round in 1..=rounds as u64 {
            times[0].push(self.build(Variant::Own, round).1);
            small.edit(round);
            times[1].push(small.build(Some(EDITED)));
            large.edit(2 * round);
            times[2].push(large.build(Some(EDITED)));
            large.edit(2 * round + 1);
            times[3].push(large.build(None));
            eprintln!(
                "edit to runnable, own, small, large, all of the large: {:.2?}",
                times.each_ref().map(|t| t.last())
            );
        }
        let [own, one_of_few, one_of_many, all_of_many] = times.map(median);
        format!(
            "## From an edit to a runnable binary\n\nWall time from the change of a constant in a port to a runnable binary, {rounds} rounds. \
             This tool builds one binary, with ASan and UBSan, which contains the harnesses of all functions judged so far; \
             `cargo fuzz` builds one target, or all.\n\n\
             | what is built | s |\n|---|--:|\n\
             | this tool, {} harnesses in one binary | {few:.2} |\n\
             | this tool, {open} harnesses in one binary | {own:.2} |\n\
             | `cargo fuzz`, one target of {} | {one_of_few:.2} |\n\
             | `cargo fuzz`, one target of {} | {one_of_many:.2} |\n\
             | `cargo fuzz`, all {} targets | {all_of_many:.2} |\n",
            PORTS.len(),
            PORTS.len(),
            peer::LARGE,
            peer::LARGE
        )
    }

    fn mutants(&self) -> String {
        let mut text = String::from(
            "## Mutants\n\n`contract --check` of one function. `first` is the time of the first run, which builds the mutants of C; `again` is the \
             time of a second run, for which they are already built. Both include opening the repository and a run of C against itself. \
             `judging` counts only the time for which the mutants run.\n\n\
             | function | mutants | killed | first, s | again, s | judging, s |\n|---|--:|--:|--:|--:|--:|\n",
        );
        for symbol in MUTATED {
            let timed = || {
                let start = Instant::now();
                let told = self.tool(&["contract", "--check", symbol, "--seconds", "10", "--format", "json"]);
                let mut lines = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                let last = lines.next_back().unwrap_or_else(|| panic!("nothing was said of {symbol}"));
                assert_eq!(last["type"], "contract-check", "{last}");
                (start.elapsed().as_secs_f64(), last["symbols"][0].clone())
            };
            let ((first, _), (again, told)) = (timed(), timed());
            let count = told["mutants"].as_array().unwrap().len();
            let killed = &told["killed"];
            let judging =
                told["mutant_millis"].as_f64().map_or("-".into(), |ms| format!("{:.1}", ms / 1000.0));
            writeln!(text, "| `{symbol}` | {count} | {killed} | {first:.1} | {again:.1} | {judging} |")
                .unwrap();
            eprintln!(
                "{symbol}: {count} mutants, {killed} killed, {first:.1} s, again {again:.1} s, judging {judging} s"
            );
        }
        text
    }
}

impl Variant {
    fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Bare => "bare",
        }
    }
}

fn toolchain_words() -> &'static str {
    if peer::has_nightly() { "a nightly rustc" } else { "the stable rustc and RUSTC_BOOTSTRAP=1" }
}

fn target_dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed-builds").join(name)
}

/// Processor seconds of so many executions, of a binary of this tool or of `cargo fuzz`.
fn fuzz(own: bool, binary: &Path, symbol: &str, size: usize, runs: u64) -> f64 {
    let corpus = clib::scratch("speed-corpus");
    let mut state = 1u64;
    for file in 0..16 {
        let bytes: Vec<u8> = (0..size)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        std::fs::write(corpus.join(file.to_string()), bytes).unwrap();
    }
    let mut command = Command::new(binary);
    command.current_dir(&corpus).env_clear().env("IMPLFUZZ_TARGET", symbol);
    command.arg(format!("-runs={runs}")).arg(format!("-max_len={size}")).args(["-seed=1", "-len_control=0"]);
    if own {
        command.env("ASAN_OPTIONS", ASAN_OPTIONS).arg("-detect_leaks=0");
    } else {
        // As `cargo fuzz run` sets it.
        command.env("ASAN_OPTIONS", "detect_odr_violation=0");
    }
    let child = command.arg(&corpus).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are valid, and nobody else waits for this child.
    let ended = unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) };
    assert!(ended == pid && status == 0, "{} ended with {status}", binary.display());
    // SAFETY: `wait4` has filled it.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
