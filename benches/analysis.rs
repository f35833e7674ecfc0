//! The cost of reading real C libraries, compared with clang and bindgen, in one run: `cargo bench --bench analysis`.
//! With `-- --write` the table goes into docs/analysis.md; names of packages after that choose libraries.
//!
//! `init` is measured against `clang -fsyntax-only` and bindgen over the same files, each with as many jobs at once as the
//! machine has cores.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "it starts the tools that it measures, and waits by hand"
)]

#[path = "../tests/suite/support/mod.rs"]
mod support;

use cargo_implfuzz::c::bind::Bindings;
use cargo_implfuzz::c::flags::old_c_flags;
use cargo_implfuzz::platform::toolchain::Search;
use cargo_implfuzz::symbol::{Library, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use support::real::{self, RealLib};
use support::{clib, compiled};

/// One line of the table. Times in seconds.
struct Line {
    package: String,
    files: usize,
    listed: usize,
    expected: usize,
    bound: usize,
    stubs: usize,
    /// Reasons with their counts, the most frequent first.
    unsupported: Vec<(String, usize)>,
    init: f64,
    clang: f64,
    bindgen: f64,
    again: f64,
    /// KiB
    memory: u64,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let chosen: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let is_chosen = |lib: &&RealLib| chosen.is_empty() || chosen.iter().any(|name| **name == lib.package);
    let clang = clang();
    let lines: Vec<Line> = real::ALL.iter().filter(is_chosen).map(|lib| measure(lib, &clang)).collect();
    let text = table(&lines);
    println!("{text}");
    if args.iter().any(|arg| arg == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/analysis.md");
        std::fs::write(path, format!("{HEAD}\n{text}{TAIL}")).unwrap();
    }
}

const HEAD: &str = "# Reading real C libraries\n\n\
    Written by `cargo bench --bench analysis -- --write`; all numbers are from one run on one machine.\n";

const TAIL: &str = "\n\
    - `listed` and `expected`: `expected` counts the functions that `gcc -O0` compiles from the same files, including statics and inline functions of the library's headers; `listed` counts those of them that the tool found. Both numbers are from gcc's point of view, all other columns from clang's: `XXH_swap32` and `XXH_swap64` in lz4 and zstd are macros for gcc and functions for clang.\n\
    - `bound`: functions whose C original can be called from Rust. `stubs compile`: functions that have a stub; rustc compiled the crate with all of them.\n\
    - `init s`: time of a first `cargo implfuzz init`, which runs libclang, bindgen and the C compiler on every file. `clang s` and `bindgen s`: times of `clang -fsyntax-only` and of bindgen on the same files. All three use as many jobs as the machine has cores. The second ratio subtracts bindgen's time from that of `init`.\n\
    - `again ms`: time of a second `init` without any change, in total and per 1,000 functions. `MiB`: peak memory of the first `init`.\n";

fn measure(lib: &RealLib, clang: &Path) -> Line {
    eprintln!("{}", lib.package);
    let source = lib.source();
    let args = lib.arguments();
    let port = clib::scratch(&format!("{}-bench", lib.package));
    clib::copy_tree(&source, &port);
    let (init, memory) = run_init(&port, &args);
    // The configuration that the first one wrote is new to the second one.
    run_init(&port, &[]);
    let again = (0..5).map(|_| run_init(&port, &[]).0).fold(f64::INFINITY, f64::min);
    let root = camino::Utf8PathBuf::from_path_buf(port.clone()).unwrap().canonicalize_utf8().unwrap();
    // `expected` is counted with gcc, which can keep every static function: what it sees is what is compared.
    let (library, _) = clib::read(&root, &lib.settings(), Path::new("gcc"));
    let absent = |why: &&str| why.starts_with("the C compiler");
    let listed = library.functions.iter().filter(|f| f.unsupported.as_deref().filter(absent).is_none());
    let listed: BTreeSet<&String> = listed.map(|f| &f.c_name).collect();
    let objects = compiled::units(&format!("{}-bench-objects", lib.package), &root, &library);
    let expected: BTreeSet<String> =
        objects.values().flat_map(|unit| unit.functions.iter().cloned()).collect();
    let clang_time = in_parallel(&library.units, |unit| syntax_only(clang, &port, unit));
    let bindgen_time = in_parallel(&library.units, |unit| bindgen_alone(&port, unit));
    // Everything else is what the machine's compiler sees, as in the port that was written.
    let (library, bindings) = clib::read(&root, &lib.settings(), clang);
    let (stubs, reasons) = stubs_and_reasons(&port, &library, &bindings);
    check_stubs(&port);
    Line {
        package: format!("{} {}", lib.package, lib.version),
        files: library.units.len(),
        listed: listed.len(),
        expected: expected.len(),
        bound: bindings.functions.len(),
        stubs,
        unsupported: reasons,
        init,
        clang: clang_time,
        bindgen: bindgen_time,
        again,
        memory,
    }
}

/// Runs `init` to its end: seconds, and the most memory in KiB.
fn run_init(dir: &Path, args: &[String]) -> (f64, u64) {
    let start = Instant::now();
    let mut init = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
    init.current_dir(dir).args(["implfuzz", "init", "-q"]).args(args).stdout(Stdio::null());
    let child = init.spawn().unwrap();
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are valid, and nobody else waits for this child.
    let ended = unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) };
    assert!(ended == pid && status == 0, "init failed in {}: {status}", dir.display());
    // SAFETY: `wait4` has filled it.
    let usage = unsafe { usage.assume_init() };
    (start.elapsed().as_secs_f64(), u64::try_from(usage.ru_maxrss).unwrap())
}

/// Seconds that the work on all units takes with a thread per core.
fn in_parallel(units: &[Unit], work: impl Fn(&Unit) + Sync) -> f64 {
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().unwrap().get().min(units.len()) {
            scope.spawn(|| {
                while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(unit);
                }
            });
        }
    });
    start.elapsed().as_secs_f64()
}

fn syntax_only(clang: &Path, dir: &Path, unit: &Unit) {
    let mut command = Command::new(clang);
    command.current_dir(dir).args(["-fsyntax-only", "-w"]).args(old_c_flags()).args(&unit.flags);
    assert!(command.arg(unit.file.0.as_str()).status().unwrap().success(), "{}", unit.file);
}

fn bindgen_alone(dir: &Path, unit: &Unit) {
    let flags = unit.flags.iter().map(|flag| match flag.strip_prefix("-I") {
        Some(path) => format!("-I{}", dir.join(path).display()),
        None => flag.clone(),
    });
    let builder = bindgen::builder()
        .header(dir.join(unit.file.0.as_str()).to_str().unwrap())
        .clang_args(["-xc", "-w"])
        .clang_args(flags)
        .clang_args(old_c_flags())
        .formatter(bindgen::Formatter::None)
        .allowlist_file(format!("{}/.*", dir.display()));
    let text = builder.generate().unwrap().to_string();
    assert!(!text.is_empty());
}

/// How many functions have a stub, and why the others have none.
fn stubs_and_reasons(dir: &Path, library: &Library, bindings: &Bindings) -> (usize, Vec<(String, usize)>) {
    let stubs: usize = std::fs::read_dir(dir.join("rust/src"))
        .unwrap()
        .map(|entry| {
            std::fs::read_to_string(entry.unwrap().path()).unwrap().matches("unimplemented!(").count()
        })
        .sum();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for function in &library.functions {
        let why = function.unsupported.clone();
        let why =
            why.or_else(|| (!bindings.functions.contains_key(&function.name)).then(|| "not bound".into()));
        if let Some(why) = why {
            *counts.entry(kind_of(&why)).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    (stubs, counts)
}

/// A reason without what it says of one function only.
fn kind_of(why: &str) -> String {
    let cut = why.find(" (").or_else(|| why.find(':')).unwrap_or(why.len());
    why[..cut].split(" in ").next().unwrap().to_owned()
}

fn check_stubs(dir: &Path) {
    let mut check = Command::new(std::env::var_os("CARGO").unwrap());
    check.current_dir(dir.join("rust")).args(["check", "--quiet"]);
    check.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-port"));
    assert!(check.status().unwrap().success(), "the stubs of {} do not compile", dir.display());
}

/// The newest clang, whose libclang `init` uses.
fn clang() -> PathBuf {
    let interrupt = cargo_implfuzz::platform::process::Interrupt::none();
    let toolchain =
        cargo_implfuzz::platform::toolchain::Toolchain::find(&Search::from_env(), &interrupt).unwrap();
    toolchain.cc.path
}

fn table(lines: &[Line]) -> String {
    let mut text = String::from(
        "| library | files | functions listed / expected | bound | stubs compile | init s | clang s | bindgen s | init / (clang + bindgen) | (init − bindgen) / clang | again ms | again ms per 1,000 | MiB |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for l in lines {
        writeln!(
            text,
            "| {} | {} | {} / {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.0} | {:.0} | {} |",
            l.package,
            l.files,
            l.listed,
            l.expected,
            l.bound,
            l.stubs,
            l.init,
            l.clang,
            l.bindgen,
            l.init / (l.clang + l.bindgen),
            (l.init - l.bindgen) / l.clang,
            l.again * 1000.0,
            l.again * 1e6 / l.listed as f64,
            l.memory / 1024
        )
        .unwrap();
    }
    text += "\nFunctions that have no stub, and why:\n\n| library | reasons |\n|---|---|\n";
    for l in lines {
        let reasons: Vec<String> =
            l.unsupported.iter().map(|(why, count)| format!("{count} × {why}")).collect();
        let reasons = if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") };
        writeln!(text, "| {} | {reasons} |", l.package).unwrap();
    }
    text
}
