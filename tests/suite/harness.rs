//! Generated harnesses on a small library with every role and shape of contract: right ports pass, wrong ports are
//! refuted with the right class, contracts edited by hand take precedence.

use crate::support::clib::{target_dir, user_cache};
use crate::support::{Repo, builds};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Bodies that do what the C functions do.
const RIGHT: &[(&str, &str)] = &[
    ("is_even", "a % 2 == 0"),
    ("mix16", "a ^ (b as u16).wrapping_mul(3)"),
    ("mix64", "a.wrapping_add((b << 7).cast_signed())"),
    ("half", "a / 2.0"),
    ("blend", "if turn { a - b } else { a + b }"),
    ("apply", "match mode { 3 => a.wrapping_add(b), 9 => a ^ b, _ => 0 }"),
    ("mode_name", "match mode { 3 => Some(c\"add\"), 9 => Some(c\"xor\"), _ => None }"),
    ("sum_u8", "data.iter().fold(0u32, |sum, b| sum.wrapping_add(u32::from(*b)))"),
    ("sum_i32", "data.iter().map(|v| i64::from(*v)).sum()"),
    ("negate_i32", "for v in data { *v = v.wrapping_neg(); }"),
    ("ramp", "for (i, b) in out.iter_mut().enumerate() { *b = start.wrapping_add(i as u8); }"),
    ("sum_points", "points.iter().map(|p| i64::from(p.x) - i64::from(p.y)).sum()"),
    ("hash", "data.iter().fold(7u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(*b)))"),
    ("dot", "a.iter().zip(b).fold(0u32, |s, (a, b)| s.wrapping_add(u32::from(*a) * u32::from(*b)))"),
    ("maybe_sum", "data.map_or(-1, |d| d.iter().map(|b| i32::from(*b)).sum())"),
    (
        "checked_max",
        "if len <= 0 { return if len < 0 { -2 } else { -1 }; }
         // SAFETY: the caller gives `len` elements.
         unsafe { core::slice::from_raw_parts(data, len as usize) }.iter().copied().max().unwrap_or(-1)",
    ),
    (
        "fill_checked",
        "if len < 0 { return -1; }
         for i in 0..len as usize {
             // SAFETY: the caller gives `len` elements.
             unsafe { *out.add(i) = with };
         }
         len",
    ),
    (
        "strict_null",
        "if data.is_null() && len > 0 { return -1; }
         if len == 0 { return 0; }
         // SAFETY: not null, so the caller gives `len` elements.
         unsafe { core::slice::from_raw_parts(data, len) }.iter().map(|b| i32::from(*b)).sum()",
    ),
    ("unchecked_sum", "data.iter().fold(1u32, |s, b| s.wrapping_mul(3).wrapping_add(u32::from(*b)))"),
    ("vowels", "text.to_bytes().iter().filter(|b| b\"aei\".contains(b)).count()"),
    ("first_or", "text.map_or(other, |t| i32::from(t.to_bytes_with_nul()[0]))"),
    ("split", "*high = (value >> 16) as u16; if let Some(low) = low { *low = value as u16; }"),
    ("bump", "*counter = counter.wrapping_add(by);"),
    (
        "divide",
        "match (a.checked_div(b), a.checked_rem(b)) {
             (Some(q), Some(r)) => { *quotient = q; *rest = r; 0 }
             _ => {
                 *quotient = 0;
                 // SAFETY: libc gives a valid pointer to this thread's errno.
                 unsafe { *libc::__errno_location() = libc::EDOM };
                 -1
             }
         }",
    ),
    ("crc4", "key.iter().rev().fold(0u32, |c, b| c * 5 + u32::from(*b))"),
    ("rotate3", "v.rotate_left(1);"),
    ("mirror", "ffi::point { x: p.y, y: p.x }"),
    ("norm1", "i64::from(p.x).abs() + i64::from(p.y).abs()"),
    ("move_by", "p.x = p.x.wrapping_add(dx); p.y = p.y.wrapping_add(dy);"),
    (
        "grow",
        "let mut b = b;
         for size in &mut b.size { *size = size.wrapping_add(by); }
         b.open = !b.open;
         if b.mode == 3 { b.at.x = 0; }
         b",
    ),
    (
        "parse_digit",
        "match text.to_bytes() {
             [d @ b'0'..=b'9'] => core::ffi::c_int::from(d - b'0'),
             _ => {
                 // SAFETY: libc gives a valid pointer to this thread's errno.
                 unsafe { *libc::__errno_location() = libc::EINVAL };
                 -1
             }
         }",
    ),
    ("product", "i64::from(a) * i64::from(b)"),
    ("strict_sum", "a + b"),
    ("keywords", "type_.wrapping_sub(fn_.wrapping_mul(2)).wrapping_add(match_.wrapping_mul(3))"),
    ("keyword_length", "data.iter().fold(0, |h, b| h ^ u32::from(*b))"),
    ("shapes__helper", "a.wrapping_add(1)"),
    ("other__helper", "a ^ 0x55"),
    // What one call leaves in errno the next does not see. 4095 is never there before a call: no system call gives it.
    (
        "use_one",
        "// SAFETY: libc gives a valid pointer to this thread's errno.
         let errno = unsafe { &mut *libc::__errno_location() };
         if core::mem::replace(errno, 4095) == 4095 { return 0; }
         shapes__helper(a).wrapping_mul(2)",
    ),
    ("use_two", "other__helper(a).wrapping_add(other__helper(a.wrapping_add(1)))"),
    ("depth", "n & 0xffff"),
    ("small", "n.wrapping_mul(3).wrapping_add(1)"),
    (
        "cost",
        "table.iter().zip(count).fold(0u32, |s, (t, c)| s.wrapping_add(u32::from(*t).wrapping_mul(*c)))",
    ),
    ("xor_bytes", "data.iter().fold(0u32, |x, b| (x << 1) ^ u32::from(*b))"),
    ("unused", "let _ = a; 5"),
];

/// Bodies that are wrong by little, with the class of finding that they must get, and what it must name.
const WRONG: &[(&str, &str, &str, &str)] = &[
    ("is_even", "a & 3 == 0 || a & 3 == 2 && a != -2", "mismatch", "return value"),
    ("mix16", "a ^ (b * 3) as u16", "panic", "overflow"),
    ("half", "(a / 2.0).abs()", "mismatch", "return value"),
    ("apply", "match mode { 3 => a.wrapping_add(b), 9 => a | b, _ => 0 }", "mismatch", "return value"),
    ("mode_name", "match mode { 3 => Some(c\"add\"), 9 => Some(c\"xor\"), _ => Some(c\"\") }", "mismatch", "string"),
    ("negate_i32", "if let [most @ .., _] = data { for v in most { *v = v.wrapping_neg(); } }", "mismatch", "`data"),
    (
        "ramp",
        "for (i, b) in out.iter_mut().enumerate() { *b = start.wrapping_add(i as u8) ^ u8::from(i == 200); }",
        "mismatch",
        "out[200]",
    ),
    ("sum_points", "points.iter().map(|p| i64::from(p.y) - i64::from(p.x)).sum()", "mismatch", "return value"),
    (
        "hash",
        "let last = data[data.len() - 1];
         data[..data.len() - 1].iter().chain([&last]).fold(7u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(*b)))",
        "panic",
        "overflow",
    ),
    ("dot", "a.iter().zip(b).skip(1).fold(0u32, |s, (a, b)| s + u32::from(*a) * u32::from(*b))", "mismatch", ""),
    ("maybe_sum", "data.map_or(0, |d| d.iter().map(|b| i32::from(*b)).sum())", "mismatch", "return value"),
    (
        "checked_max",
        "if len <= 0 { return if len < 0 { -2 } else { -1 }; }
         // SAFETY: it is not: the memory is constant.
         let data = unsafe { core::slice::from_raw_parts_mut(data.cast_mut(), len as usize) };
         data.sort_unstable();
         data[data.len() - 1]",
        "out-of-bounds",
        "constant `data`",
    ),
    (
        "fill_checked",
        "if len < 0 { return -1; }
         for i in 0..=len as usize {
             // SAFETY: it is not: one too many.
             unsafe { *out.add(i) = with };
         }
         len",
        "out-of-bounds",
        "`out`",
    ),
    (
        "vowels",
        "let mut n = 0;
         let mut i = 0;
         let bytes = text.to_bytes();
         while i < bytes.len() {
             if b\"ae\".contains(&bytes[i]) { n += 1; }
             if bytes[i] != b'i' { i += 1; }
         }
         n",
        "timeout",
        "",
    ),
    ("first_or", "text.map_or(other, |t| i32::from(t.to_bytes_with_nul()[0] as i8))", "mismatch", "return value"),
    ("split", "*high = (value >> 16) as u16;", "mismatch", "`low`"),
    ("bump", "*counter += by;", "panic", "overflow"),
    (
        "divide",
        "match (a.checked_div(b), a.checked_rem(b)) {
             (Some(q), Some(r)) => { *quotient = q; *rest = r; 0 }
             _ => {
                 // SAFETY: libc gives a valid pointer to this thread's errno.
                 unsafe { *libc::__errno_location() = libc::EDOM };
                 -1
             }
         }",
        "mismatch",
        "`quotient`",
    ),
    (
        "sum_u8",
        "if !data.as_ptr().addr().is_multiple_of(2) { return 0; }
         data.iter().map(|b| u32::from(*b)).sum()",
        "mismatch",
        "return value",
    ),
    (
        "sum_i32",
        "let sum = data.iter().map(|v| i64::from(*v)).sum();
         if let Some(first) = data.first() {
             // SAFETY: it is not: the memory is constant.
             unsafe { core::ptr::from_ref(first).cast_mut().write_volatile(*first ^ 1) };
         }
         sum",
        "out-of-bounds",
        "constant `data`",
    ),
    (
        "xor_bytes",
        "let mut copy = vec![0u8; data.len() + 1];
         // SAFETY: it is not: one byte too many, of which nothing comes.
         unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), copy.as_mut_ptr(), data.len() + 1) };
         core::hint::black_box(&copy);
         data.iter().fold(0u32, |x, b| (x << 1) ^ u32::from(*b))",
        "abort",
        "use-after-poison in memcpy",
    ),
    ("crc4", "key.iter().fold(0u32, |c, b| c * 5 + u32::from(*b))", "mismatch", "return value"),
    ("mirror", "p", "mismatch", "return value"),
    ("move_by", "p.x = p.x.wrapping_add(dy); p.y = p.y.wrapping_add(dx);", "mismatch", "`p`"),
    (
        "grow",
        "let mut b = b;
         for size in &mut b.size { *size = size.wrapping_add(by); }
         b.open = !b.open;
         if b.mode == 3 { b.at.x = 0; }
         b.weight = -b.weight;
         b",
        "mismatch",
        "return value",
    ),
    (
        "parse_digit",
        "match text.to_bytes() { [d @ b'0'..=b'9'] => core::ffi::c_int::from(d - b'0'), _ => -1 }",
        "mismatch",
        "errno",
    ),
    ("product", "i64::from(a.wrapping_mul(b))", "mismatch", "return value"),
    (
        "depth",
        "let room = [n as u8; 4096];
         if n == 0 { return 0; }
         let below = depth(n - 1);
         ((below + 1) & 0xffff) ^ u32::from(room[(below % 4096) as usize] ^ n as u8)",
        "abort",
        "",
    ),
];

/// The library of `tests/harness`, initialised.
struct Library(TempDir);

impl Drop for Library {
    fn drop(&mut self) {
        builds::forget(self.0.path());
    }
}

impl Library {
    fn new() -> Self {
        let library = Self(tempfile::tempdir().unwrap());
        let files = [
            ("shapes.h", include_str!("harness/shapes.h")),
            ("shapes.c", include_str!("harness/shapes.c")),
            ("other.c", include_str!("harness/other.c")),
        ];
        for (name, text) in files {
            std::fs::write(library.0.path().join(name), text).unwrap();
        }
        let out = library.run(&["init"]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        library
    }

    fn run(&self, args: &[&str]) -> Output {
        #[expect(clippy::disallowed_methods, reason = "tests start the tool itself")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
        let unmeasured = ["--config", "grade.measure=false", "--config", "grade.least='weak'"];
        command.arg("implfuzz").args(&args[..1]).args(unmeasured).args(&args[1..]).current_dir(self.0.path());
        command.env("CARGO_TARGET_DIR", target_dir()).env("XDG_CACHE_HOME", user_cache());
        command.output().unwrap()
    }

    /// Puts a body in the place of a stub.
    fn port(&self, symbol: &str, body: &str) {
        let stub = format!("unimplemented!(\"{symbol}\")");
        for module in ["shapes", "other"] {
            let path = self.0.path().join(format!("rust/src/{module}.rs"));
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains(&stub) {
                return std::fs::write(&path, text.replace(&stub, body)).unwrap();
            }
        }
        panic!("no stub of {symbol}");
    }

    /// Changes one place of a contract.
    fn edit(&self, symbol: &str, from: &str, to: &str) -> String {
        let path = self.0.path().join(format!("rust/contracts/{symbol}.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        text.replace(from, to)
    }

    /// Grades and findings by symbol, and the exit code.
    fn verify(&self, symbols: &[&str]) -> (BTreeMap<String, Value>, BTreeMap<String, Value>, i32) {
        let quick = ["--runs", "20000", "--seconds", "3", "--format", "json"];
        let out = self.run(&[&["verify"], symbols, &quick].concat());
        // One event a line; the result is the last.
        let text = String::from_utf8_lossy(&out.stdout);
        let json: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
        let by_symbol = |list: &str| {
            let all = json[list].as_array().unwrap_or_else(|| panic!("no `{list}` in {json}"));
            all.iter().map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
        };
        (by_symbol("symbols"), by_symbol("findings"), out.status.code().unwrap())
    }
}

#[test]
fn right_ports_of_every_shape_are_unrefuted() {
    let library = Library::new();
    for (symbol, body) in RIGHT {
        library.port(symbol, body);
    }
    let (judged, findings, code) = library.verify(&["--all"]);
    assert_eq!(findings, BTreeMap::new());
    let wrong: Vec<_> = judged.values().filter(|j| j["grade"] != "weak").collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((judged.len(), code), (RIGHT.len(), 0));
    // C has no answer where the sum overflows: some inputs, but not all, say nothing.
    let rate = judged["strict_sum"]["accept_rate"].as_f64().unwrap();
    assert!(rate > 0.1 && rate < 1.0, "{rate}");
    assert_eq!(judged["mix64"]["accept_rate"], 1.0);
}

#[test]
fn wrong_ports_are_refuted_with_their_class() {
    let library = Library::new();
    for (symbol, body, ..) in WRONG {
        library.port(symbol, body);
    }
    let (judged, findings, code) = library.verify(&["--all"]);
    let mut wrong = Vec::new();
    for (symbol, _, class, what) in WRONG {
        let finding = &findings.get(*symbol).map(|f| f["finding"].clone()).unwrap_or_default();
        let named = finding["what"].as_str().is_some_and(|text| text.contains(what));
        if judged[*symbol]["grade"] != "refuted" || finding["class"] != *class || !named {
            wrong.push(format!("{symbol}: wanted {class} of {what:?}, got {finding} {}", judged[*symbol]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((judged.len(), code), (WRONG.len(), 10));
}

#[test]
fn the_audit_refuses_ways_back_to_c() {
    let library = Library::new();
    // C's `use_two` calls C's `helper` of its file, not the other way round.
    library.port("other__helper", "crate::callee::use_two(a)");
    let (judged, _, code) = library.verify(&["other__helper"]);
    let reason = judged["other__helper"]["reason"].as_str().unwrap();
    assert!(
        judged["other__helper"]["grade"] == "refuted" && reason.contains("callee::use_two"),
        "{judged:#?}"
    );
    assert_eq!(code, 10);
    assert!(!library.0.path().join(".implfuzz/cache/bin").exists(), "what the audit refuses was built");
}

#[test]
fn contracts_edited_by_hand_win() {
    let library = Library::new();
    // Right only as far as the edited contracts ask.
    library.port("small", "assert!(n <= 10); n * 3 + 1");
    library.port("strict_sum", "assert!((-4..=90).contains(&a) && a != b); a + b");
    library.port(
        "keywords",
        "assert!(type_ < fn_); type_.wrapping_sub(fn_.wrapping_mul(2)).wrapping_add(match_.wrapping_mul(3))",
    );
    library.port("sum_u8", "assert!(data.len() <= 5); data.iter().map(|b| u32::from(*b)).sum()");
    library.port("depth", "0");
    let required = |symbol, text: &str| {
        library.edit(symbol, "errno = false\n", &format!("errno = false\nrequire = [{text}]\n"))
    };
    let small = required("small", "\"n <= 10\"");
    let keywords = required("keywords", "\"type < fn\"");
    required("depth", "\"n > 10\", \"n < 5\"");
    required("strict_sum", "\"a != b\"");
    library.edit(
        "strict_sum",
        "name = \"a\"\nrole = \"value\"\n",
        "name = \"a\"\nrole = \"value\"\nmin = -4\nmax = 90\n",
    );
    library.edit("sum_u8", "max = 4096\n", "max = 5\n");
    let out = library.run(&["init"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let read = |symbol: &str| {
        std::fs::read_to_string(library.0.path().join(format!("rust/contracts/{symbol}.toml"))).unwrap()
    };
    assert_eq!((read("small"), read("keywords")), (small, keywords));

    let (judged, findings, code) = library.verify(&["small", "strict_sum", "keywords", "sum_u8"]);
    assert!(judged.values().all(|j| j["grade"] == "weak"), "{judged:#?}\n{findings:#?}");
    assert_eq!(code, 0);
    // Limits fold inputs into their range instead of rejecting nearly all of them.
    assert!(judged["strict_sum"]["accept_rate"].as_f64().unwrap() > 0.5, "{}", judged["strict_sum"]);

    // What is never called is never passed, even though the port is wrong.
    let (judged, findings, code) = library.verify(&["depth"]);
    assert_eq!(judged["depth"]["grade"], "unverifiable", "{judged:#?}");
    assert_eq!((findings.len(), code), (0, 11));
}

#[test]
fn only_what_the_audit_reads_is_built() {
    // Not of the library above, whose harnesses take long to compile.
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    let rust = repo.root().join("rust");
    let manifest = std::fs::read_to_string(rust.join("Cargo.toml")).unwrap();
    std::fs::copy(rust.join("src/lib.rs"), rust.join("src/root.rs")).unwrap();
    std::fs::copy(rust.join("build.rs"), rust.join("mine.rs")).unwrap();
    std::fs::create_dir_all(rust.join("mine/src")).unwrap();
    std::fs::write(rust.join("mine/src/lib.rs"), "").unwrap();
    std::fs::write(rust.join("mine/Cargo.toml"), "[package]\nname = \"mine\"\nversion = \"0.1.0\"\n")
        .unwrap();
    for (from, to, words) in [
        ("[lib]", "[lib]\npath = \"src/root.rs\"", "built from src/root.rs"),
        ("build = \"build.rs\"", "build = \"mine.rs\"", "built from mine.rs"),
        ("libc = \"0.2\"", "libc = { package = \"mine\", path = \"mine\" }", "crate `mine`"),
        ("libc = \"0.2\"", "libc = { package = \"other\", version = \"1\" }", "crate `other`"),
        (
            "libc = \"0.2\"",
            "libc = \"0.2\"\ncore = { package = \"some-core\", version = \"1\" }",
            "a dependency is called `core`",
        ),
    ] {
        std::fs::write(rust.join("Cargo.toml"), manifest.replace(from, to)).unwrap();
        let ran = repo.run(&["verify", "twice", "--runs", "1000", "--seconds", "3"]);
        assert!(!ran.status.success() && ran.stderr.contains(words), "{ran}");
    }
}
