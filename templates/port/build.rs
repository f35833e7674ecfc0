//! Builds the C original: one alias unit per source file, all symbols renamed to `c_<name>`, so that the port may
//! carry the C names. With `--cfg fuzzing` it is instrumented and sanitised. Written by cargo-implfuzz.
//!
//! No file of the C library is touched. `CC`, `CFLAGS`, `AR` and `OBJCOPY` are honoured; `IMPLFUZZ_C_ROOT` says where
//! the C sources are, if not in the parent directory; `IMPLFUZZ_ASAN=1` adds AddressSanitizer (whose runtime the
//! caller links); `IMPLFUZZ_COVERAGE` asks for counters of source coverage (`1`) or for none (`0`) in place of those that
//! guide the fuzzer.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

include!("c_units.rs");

/// A C source file, what its compilation needs, and what stands behind it: a reachable second name for every static,
/// and assertions that records are laid out as the Rust side has them.
struct Unit {
    file: &'static str,
    flags: &'static [&'static str],
    lines: &'static [&'static str],
}

/// Of shifts, the number of bits alone: what is shifted out of a signed number is undefined on paper, and the same with
/// every compiler.
const UBSAN: &str = "-fsanitize=signed-integer-overflow,shift-exponent,integer-divide-by-zero,bounds,unreachable,return,\
                     vla-bound,bool,enum,nonnull-attribute,returns-nonnull-attribute,float-cast-overflow,builtin";
/// Flags with which signed numbers wrap around.
const WRAPPING: &[&str] = &["-fwrapv", "-fno-strict-overflow"];

/// What C of older standards needs, and compilers of today take for errors. `-Wno-` with a class that a compiler does
/// not know is no error, so none is asked.
const DEMOTED: &[&str] = &[
    "implicit-function-declaration",
    "int-conversion",
    "implicit-int",
    "incompatible-function-pointer-types",
    "incompatible-pointer-types",
    "return-type",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c_units.rs");
    for name in ["IMPLFUZZ_C_ROOT", "IMPLFUZZ_ASAN", "IMPLFUZZ_COVERAGE", "CC", "CFLAGS", "AR", "OBJCOPY"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if env::var_os("CARGO_FEATURE_C_ORIGINAL").is_none() {
        return;
    }
    let root = env::var_os("IMPLFUZZ_C_ROOT").map_or_else(|| PathBuf::from(".."), PathBuf::from);
    let root = root.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for path in WATCHED {
        println!("cargo:rerun-if-changed={}", root.join(path).display());
    }
    let objects = compile_all(&root, &out);
    rename(&out, &objects);
    archive(&out, &objects);
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static:-bundle=implfuzz_c");
    for library in LINK {
        println!("cargo:rustc-link-lib={library}");
    }
}

/// Compiles as many units at a time as cargo allows. The clones share what is asked of the compiler once: its kind, and
/// the flags that it knows.
fn compile_all(root: &Path, out: &Path) -> Vec<PathBuf> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1_usize).max(1);
    let units: Vec<(usize, &Unit)> = UNITS.iter().enumerate().collect();
    let build = cc::Build::new();
    let mut objects = Vec::new();
    for some in units.chunks(jobs) {
        std::thread::scope(|scope| {
            let spawn = |&(index, unit): &(usize, &'static Unit)| {
                let (build, dir) = (build.clone(), out.join(format!("unit{index}")));
                scope.spawn(move || compile(build, root, &dir, unit))
            };
            let threads: Vec<_> = some.iter().map(spawn).collect();
            for thread in threads {
                objects.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
    }
    objects
}

fn compile(mut build: cc::Build, root: &Path, dir: &Path, unit: &Unit) -> Vec<PathBuf> {
    fs::create_dir_all(dir).expect("OUT_DIR is writable");
    // `CFLAGS` come last, and may define what takes checks out of C for fuzzing: C is judged as it ships.
    let is_fuzzed = env::var_os("CARGO_CFG_FUZZING").is_some();
    let mut text = String::from(if is_fuzzed { "#undef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION\n" } else { "" });
    text += &format!("#include \"{}\"\n", root.join(unit.file).display());
    for line in unit.lines {
        text += &format!("{line}\n");
    }
    let source = dir.join("unit.c");
    if fs::read_to_string(&source).ok().as_deref() != Some(&text) {
        fs::write(&source, text).expect("OUT_DIR is writable");
    }
    build.cargo_metadata(false).warnings(false).file(&source).out_dir(dir).opt_level(2).debug(false);
    // The unit stands elsewhere than the file it includes: what the file finds beside itself it still does.
    for flag in unit.flags {
        build.flag(from_root(root, flag));
    }
    for class in DEMOTED {
        build.flag(format!("-Wno-{class}"));
    }
    if is_fuzzed {
        instrument(&mut build);
        if unit.flags.iter().any(|flag| WRAPPING.contains(flag)) {
            build.flag("-fno-sanitize=signed-integer-overflow");
        }
    }
    build.compile_intermediates()
}

/// The flag with its path counted from the root; a header that lies on the include path stays as it is.
fn from_root(root: &Path, flag: &str) -> String {
    let kinds = ["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I"];
    let kind = kinds.into_iter().find(|kind| flag.starts_with(kind));
    match kind.map(|kind| (kind, root.join(&flag[kind.len()..]))) {
        Some((kind, path)) if path.exists() => format!("{kind}{}", path.display()),
        _ => flag.to_owned(),
    }
}

fn instrument(build: &mut cc::Build) {
    build.flag("-fno-omit-frame-pointer").flag("-g1");
    build.flag(UBSAN);
    let coverage = env::var("IMPLFUZZ_COVERAGE").ok();
    match (coverage.as_deref(), build.get_compiler().is_like_clang()) {
        (Some("1"), _) => drop(build.flag("-fprofile-instr-generate").flag("-fcoverage-mapping")),
        (Some(_), _) => {}
        (None, true) => drop(build.flag("-fsanitize=fuzzer-no-link")),
        (None, false) => {
            build.flag("-fsanitize-coverage=trace-pc,trace-cmp");
            println!("cargo:trace_pc=1");
        }
    }
    let by_rustc = env::var("CARGO_CFG_SANITIZE").is_ok_and(|list| list.split(',').any(|s| s == "address"));
    if by_rustc || env::var_os("IMPLFUZZ_ASAN").is_some_and(|value| value == "1") {
        build.flag("-fsanitize=address");
    }
}

/// Gives every symbol of the library its new name, in definitions and references alike.
fn rename(out: &Path, objects: &[PathBuf]) {
    let map = out.join("renames.txt");
    let lines: String = RENAMED.iter().map(|name| format!("{name} c_{name}\n")).collect();
    fs::write(&map, lines).expect("OUT_DIR is writable");
    let objcopy = objcopy();
    for object in objects {
        let mut flag = std::ffi::OsString::from("--redefine-syms=");
        flag.push(&map);
        let status = Command::new(&objcopy).arg(flag).arg(object).status();
        assert!(
            status.as_ref().is_ok_and(|s| s.success()),
            "{} failed on {}: {status:?}; run `cargo implfuzz doctor`",
            objcopy.display(),
            object.display()
        );
    }
}

/// `OBJCOPY`, else the system's, else the one that comes with the Rust toolchain.
fn objcopy() -> PathBuf {
    if let Some(path) = env::var_os("OBJCOPY") {
        return path.into();
    }
    for name in ["objcopy", "llvm-objcopy"] {
        if Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()) {
            return name.into();
        }
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().expect("rustc runs");
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let host = env::var("HOST").expect("cargo sets HOST");
    Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-objcopy")
}

fn archive(out: &Path, objects: &[PathBuf]) {
    let library = out.join("libimplfuzz_c.a");
    drop(fs::remove_file(&library));
    let mut ar = cc::Build::new().get_archiver();
    let status = ar.arg("crs").arg(&library).args(objects).status();
    assert!(status.as_ref().is_ok_and(|s| s.success()), "ar failed: {status:?}; run `cargo implfuzz doctor`");
}
