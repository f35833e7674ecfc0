//! zlib, as the crate `libz-sys` carries it: a real library is listed whole, its stubs compile, recorded replies are
//! accepted, and planted wrong ports are refuted. Everything comes through cargo; nothing else touches the network.
//!
//! The tests that fuzz share one directory and one cargo target, so that C and libFuzzer are built once; a lock keeps them
//! in turn.

use crate::support::clib::{copy_files, scratch, target_dir, vendored};
use crate::support::compiled;
use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The release whose functions the recordings in `fixtures/recordings/zlib` port.
const LIBZ_SYS: &str = "1.1.31";

/// Modules that tests write to, with their text as `init` wrote it.
const EDITED: [&str; 2] = ["adler32", "crc32"];

/// The exit code when a port is refuted.
const DIVERGENCE: i32 = 10;

/// zlib with stubs, `init` done.
struct Zlib {
    root: PathBuf,
    stubs: [String; 2],
}

static ZLIB: LazyLock<Mutex<Zlib>> = LazyLock::new(|| Mutex::new(Zlib::prepare("zlib")));

impl Zlib {
    /// The one copy, with every function a stub again and no counterexample, corpus or verdict of another test.
    fn fresh() -> MutexGuard<'static, Zlib> {
        // A test that failed leaves nothing that is not written anew here.
        let zlib = ZLIB.lock().unwrap_or_else(PoisonError::into_inner);
        zlib.forget();
        zlib
    }

    fn prepare(name: &str) -> Self {
        let root = scratch(name);
        copy_files(&vendored("libz-sys", LIBZ_SYS).join("src/zlib"), &root);
        let zlib = Self { root, stubs: Default::default() };
        zlib.tool(&["init"]).assert().success();
        let stubs = EDITED.map(|module| std::fs::read_to_string(zlib.module(module)).unwrap());
        Self { stubs, ..zlib }
    }

    fn forget(&self) {
        for (module, text) in EDITED.iter().zip(&self.stubs) {
            std::fs::write(self.module(module), text).unwrap();
        }
        for dir in ["rust/fuzz/seeds", ".implfuzz/cache/seeds", ".implfuzz/cache/fuzz"] {
            drop(std::fs::remove_dir_all(self.root.join(dir)));
        }
    }

    fn module(&self, name: &str) -> PathBuf {
        self.root.join(format!("rust/src/{name}.rs"))
    }

    fn tool(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("cargo-implfuzz").unwrap();
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", target_dir()).arg("implfuzz");
        let unmeasured = ["--config", "grade.measure=false", "--config", "grade.least='weak'"];
        command.args(&args[..1]).args(unmeasured).args(&args[1..]);
        command
    }

    /// The object that a command ends with, and its exit code.
    fn result(&self, args: &[&str]) -> (Value, i32) {
        let output = self.tool(args).args(["--format", "json"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let last =
            text.lines().last().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        let value: Value = serde_json::from_str(last).unwrap();
        assert_eq!(value["type"], args[0], "{text}{}", String::from_utf8_lossy(&output.stderr));
        (value, output.status.code().unwrap())
    }

    /// Writes `body` in place of the body of `pub fn <name>`.
    fn plant(&self, module: &str, name: &str, body: &str) {
        let path = self.module(module);
        let text = std::fs::read_to_string(&path).unwrap();
        let start = text.find(&format!("pub fn {name}(")).expect("the function has a stub");
        let stub = format!("{{\n    unimplemented!(\"{name}\")\n}}");
        let at = start + text[start..].find(&stub).expect("the body is the stub");
        let text = format!("{}{{\n{body}}}{}", &text[..at], &text[at + stub.len()..]);
        std::fs::write(&path, text).unwrap();
    }
}

/// The functions that a C compiler makes of the `.c` files, statics included.
fn compiled_functions(root: &Path) -> Vec<String> {
    let out = scratch("zlib-objects");
    let sources = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let sources = sources.filter(|source| source.extension().is_some_and(|extension| extension == "c"));
    let names = sources.flat_map(|source| {
        let object = out.join(source.with_extension("o").file_name().unwrap());
        compiled::used_functions(root, &source, &object)
    });
    names.collect()
}

#[test]
fn every_function_that_the_compiler_sees_is_listed_once() {
    let zlib = Zlib::prepare("zlib-listed");
    let (list, _) = zlib.result(&["list"]);
    let listed: Vec<&str> =
        list["symbols"].as_array().unwrap().iter().map(|row| row["symbol"].as_str().unwrap()).collect();
    let compiled = compiled_functions(&zlib.root);
    let (names, expected) = (
        listed.iter().copied().collect::<BTreeSet<_>>(),
        compiled.iter().map(String::as_str).collect::<BTreeSet<_>>(),
    );
    assert!(expected.len() > 150, "only {} functions compiled", expected.len());
    assert_eq!(names, expected);
    assert_eq!(listed.len(), compiled.len(), "a function is listed twice");
    for name in ["bi_reverse", "multmodp", "gz_intmax"] {
        assert!(names.contains(name), "static function {name}");
    }
}

#[test]
fn the_crate_compiles_with_all_stubs() {
    let zlib = Zlib::prepare("zlib-stubs");
    let mut check = Command::new(std::env::var_os("CARGO").unwrap());
    let output = check
        .current_dir(zlib.root.join("rust"))
        .env("CARGO_TARGET_DIR", target_dir())
        .args(["check", "--quiet"])
        .output()
        .unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{messages}");
    assert!(!messages.contains("warning"), "generated code warns:\n{messages}");
}

#[test]
#[ignore = "a minute: cargo test --test suite zlib -- --ignored"]
fn recorded_replies_are_ported_and_unrefuted() {
    let zlib = Zlib::fresh();
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/zlib");
    let replay = format!("llm.replay_dir={:?}", recordings.to_str().unwrap());
    let provider = ["--config", "llm.provider=\"replay\"", "--config", &replay];
    let brief = ["--config", "fuzz.loop_seconds=3", "--config", "fuzz.accept_seconds=4"];
    let args = [&["port", "adler32_z", "crc32_z"][..], &provider, &brief].concat();
    let (ported, code) = zlib.result(&args);
    assert_eq!(ends(&ported, "end"), [("adler32_z", "accepted"), ("crc32_z", "accepted")], "{ported:#}");
    assert_eq!(code, 0);
    let (verified, code) =
        zlib.result(&["verify", "adler32_z", "crc32_z", "--runs", "20000", "--seconds", "5"]);
    assert_eq!(ends(&verified, "grade"), [("adler32_z", "weak"), ("crc32_z", "weak")], "{verified:#}");
    assert_eq!(code, 0);
    // A null buffer of length 1 breaks the C itself: such inputs are turned away.
    for row in verified["symbols"].as_array().unwrap() {
        assert!(
            row["executions"].as_u64().unwrap() > 1000 && row["accept_rate"].as_f64().unwrap() > 0.99,
            "{row:#}"
        );
    }
}

fn ends<'v>(result: &'v Value, field: &str) -> Vec<(&'v str, &'v str)> {
    let rows = result["symbols"].as_array().unwrap().iter();
    rows.map(|row| (row["symbol"].as_str().unwrap(), row[field].as_str().unwrap())).collect()
}

/// `adler32_z` as the C has it, down to which of its shortcuts reduce how.
const ADLER32_Z: &str = "
    let Some(buf) = buf else { return 1 };
    let (mut a, mut b) = (adler & 0xffff, adler >> 16 & 0xffff);
    if let [byte] = buf {
        a += ffi::uLong::from(*byte);
        if a >= 65521 { a -= 65521; }
        b += a;
        if b >= 65521 { b -= 65521; }
        return a | b << 16;
    }
    if buf.len() < 16 {
        for byte in buf {
            a += ffi::uLong::from(*byte);
            b += a;
        }
        if a >= 65521 { a -= 65521; }
        return a | (b % 65521) << 16;
    }
    for block in buf.chunks(5552) {
        for byte in block {
            a += ffi::uLong::from(*byte);
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    a | b << 16
";

/// `crc32_z` bit by bit, without its tables.
const CRC32_Z: &str = "
    let Some(buf) = buf else { return 0 };
    let mut crc = !crc & 0xffff_ffff;
    for byte in buf {
        crc ^= ffi::uLong::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    crc ^ 0xffff_ffff
";

/// What a careless port of each gets wrong: what it is called, and the change to the right body, at every place.
const ADLER32_FAULTS: [(&str, &str, &str); 4] = [
    ("modulus", "65521", "65520"),
    // Within 16 bits, so that no sum overflows: each difference is one of values.
    ("signedness", "from(*byte)", "wrapping_add_signed(0, i64::from(*byte as i8)) & 0xffff"),
    (
        "last byte",
        "else { return 1 };",
        "else { return 1 };\n    let buf = &buf[..buf.len().saturating_sub(1)];",
    ),
    // Sums of 32 bits that are never reduced before the end: right for all but long buffers of high bytes.
    (
        "deferred modulo",
        "for block in buf.chunks(5552) {\n        for byte in block {\n            a += ffi::uLong::from(*byte);\n            b += a;",
        "for block in [buf] {\n        for byte in block {\n            a = a + ffi::uLong::from(*byte) & 0xffff_ffff;\n            b = b + a & 0xffff_ffff;",
    ),
];

const CRC32_FAULTS: [(&str, &str, &str); 4] = [
    ("polynomial", "0xedb8_8320", "0xedb8_8321"),
    ("final xor", "crc ^ 0xffff_ffff", "crc"),
    (
        "last byte",
        "else { return 0 };",
        "else { return 0 };\n    let buf = &buf[..buf.len().saturating_sub(1)];",
    ),
    ("signedness", "from(*byte)", "wrapping_add_signed(0, i64::from(*byte as i8))"),
];

/// Plants both bodies, judges them and gives the rows of `verify`.
fn judged(zlib: &Zlib, adler32_z: &str, crc32_z: &str) -> (Value, i32) {
    zlib.forget();
    zlib.plant("adler32", "adler32_z", adler32_z);
    zlib.plant("crc32", "crc32_z", crc32_z);
    zlib.result(&["verify", "adler32_z", "crc32_z", "--runs", "20000", "--seconds", "5"])
}

#[test]
#[ignore = "a minute: cargo test --test suite zlib -- --ignored"]
fn planted_faults_are_refuted_and_the_right_ports_are_not() {
    let zlib = Zlib::fresh();
    let (right, code) = judged(&zlib, ADLER32_Z, CRC32_Z);
    assert_eq!(ends(&right, "grade"), [("adler32_z", "weak"), ("crc32_z", "weak")], "{right:#}");
    assert_eq!(code, 0);
    for ((adler_fault, from, to), (crc_fault, crc_from, crc_to)) in ADLER32_FAULTS.iter().zip(&CRC32_FAULTS) {
        let (adler, crc) = (ADLER32_Z.replace(from, to), CRC32_Z.replace(crc_from, crc_to));
        assert!(adler != ADLER32_Z && crc != CRC32_Z, "{adler_fault}, {crc_fault}: nothing is planted");
        let (verdict, code) = judged(&zlib, &adler, &crc);
        let faults = format!("{adler_fault} in adler32_z, {crc_fault} in crc32_z");
        assert_eq!(
            ends(&verdict, "grade"),
            [("adler32_z", "refuted"), ("crc32_z", "refuted")],
            "{faults}: {verdict:#}"
        );
        assert_eq!(code, DIVERGENCE, "{faults}");
        for found in verdict["findings"].as_array().unwrap() {
            shows_the_difference(found, &faults);
        }
    }
}

/// A finding names its arguments and what each side returned for them, and the sides differ.
fn shows_the_difference(found: &Value, faults: &str) {
    let finding = &found["finding"];
    assert_eq!(finding["class"], "mismatch", "{faults}: {found:#}");
    let args: Vec<&str> =
        finding["args"].as_array().unwrap().iter().map(|arg| arg["name"].as_str().unwrap()).collect();
    assert!(args == ["adler", "buf", "len"] || args == ["crc", "buf", "len"], "{faults}: {found:#}");
    let value = |side: &str| finding[side][0]["value"].as_str().unwrap().parse::<u64>().unwrap();
    assert_ne!(value("oracle"), value("subject"), "{faults}: {found:#}");
}
