//! Every other cheat that syntax can show, beside calls of the C original: each is refused, at its line and for its reason.

use super::super::Rule;
use super::{HEAD, SIGNATURE, refused, run};

#[test]
fn reach_into_the_system() {
    for (path, what) in [
        ("std::process::exit(0)", "process"),
        ("std::process::abort()", "process"),
        ("std::fs::read(\"x\").is_ok()", "files"),
        ("std::env::var(\"FUZZ\").is_ok()", "environment"),
        ("std::thread::yield_now()", "threads"),
        ("std::time::Instant::now()", "clock"),
        ("std::panic::catch_unwind(|| 1).is_ok()", "panics"),
        ("std::io::stdin()", "read or write"),
        ("std::net::TcpStream::connect(\"x\")", "network"),
        ("std::path::Path::new(\"x\").exists()", "files"),
        ("::std::process::exit(0)", "process"),
        ("std::os::fd::RawFd::from(1)", "only computes"),
        ("core::arch::x86_64::_rdtsc()", "processor"),
        ("std::alloc::System", "allocate with"),
        ("libc::exit(0)", "libc::exit"),
        ("libc::_exit(0)", "libc::_exit"),
        ("libc::open(c\"x\".as_ptr(), 0)", "libc::open"),
        ("libc::fork()", "libc::fork"),
        ("libc::time(core::ptr::null_mut())", "libc::time"),
    ] {
        refused(&format!("HEAD {{\n let _ = {path};\n crc }}"), Rule::System, 2, what);
    }
    refused("use std::process as p;\nHEAD { p::exit(0) }", Rule::System, 1, "process");
    refused("use std as s;\nHEAD { s::process::exit(0) }", Rule::Path, 1, "own name");
    refused("use std::*;\nHEAD { process::exit(0) }", Rule::Path, 1, "by name what you need");
    refused("HEAD { <std::process::Command>::new(\"sh\"); 1 }", Rule::System, 1, "process");
    refused("HEAD { let f: std::fs::File; 1 }", Rule::System, 1, "files");
    refused("fn g<T: std::io::Read>(_: T) {}\nHEAD { 1 }", Rule::System, 1, "read or write");
}

#[test]
fn stubs() {
    refused("HEAD {\n    unimplemented!(\"kit_crc32\")\n}", Rule::Stub, 2, "`unimplemented!` is a stub");
    refused("HEAD {\n match crc { 0 => 1,\n _ => std::todo!() } }", Rule::Stub, 3, "`todo!` is a stub");
    refused("HEAD { if crc > 9 && crc < 3 {\n unimplemented!() }\n 1 }", Rule::Stub, 2, "is a stub");
    refused("use core::unimplemented as later;\nHEAD { later!() }", Rule::Stub, 1, "is a stub");
    refused(
        "macro_rules! later { () => { unimplemented!() } }\nHEAD { later!() }",
        Rule::Stub,
        1,
        "is a stub",
    );
    refused("HEAD {\n panic!(\"not supported\") }", Rule::Stub, 2, "every path through it ends in `panic!`");
    refused("HEAD {\n kit_crc32(crc, buf) }", Rule::Stub, 2, "`kit_crc32()`");
    refused(
        "HEAD { work(crc) }\nfn work(c: u32) -> u32 { loop { if c > 1 { unreachable!() } else { panic!() } } }",
        Rule::Stub,
        1,
        "`work()`",
    );
    refused("HEAD { let f = || {\n todo!() }; 1 }", Rule::Stub, 2, "is a stub");
    refused(
        "HEAD { crc + crate::checksum::kit_later(1) }",
        Rule::Path,
        1,
        "`kit_later` is not ported yet: write `crate::callee::kit_later`",
    );
}

#[test]
fn edits_outside_of_the_request() {
    refused(
        "HEAD { 1 }\npub fn kit_adler32(a: u32, b: &[u8]) -> u32 { 0 }",
        Rule::Requested,
        2,
        "`kit_adler32` is another symbol",
    );
    refused("HEAD { 1 }\nfn kit_later(x: u32) -> u32 { 1 }", Rule::Requested, 2, "another symbol");
    refused("HEAD { 1 }\nfn kit_hash() -> u32 { 1 }", Rule::Requested, 2, "another symbol");
    refused("HEAD { 1 }\npub fn helper() {}", Rule::Item, 2, "private");
    refused("HEAD { 1 }\npub(crate) const X: u8 = 1;", Rule::Item, 2, "private");
    refused("HEAD { 1 }\nHEAD { 2 }", Rule::Requested, 2, "twice");
    refused("fn other() {}", Rule::Requested, 1, "no function `kit_crc32`");
    refused("pub mod inner { pub fn f() {} }\nHEAD { 1 }", Rule::Item, 1, "private");
    refused("pub trait T { fn f(&self); }\nHEAD { 1 }", Rule::Item, 1, "private");
    refused("#![allow(dead_code)]\nHEAD { 1 }", Rule::Attribute, 1, "whole file");
    refused("HEAD { 1 }\nimpl crate::ffi::kit_map { fn f() {} }", Rule::Item, 2, "acts in other ports");
    refused("HEAD { 1 }\nstruct S;\nunsafe impl Sync for S {}", Rule::Item, 3, "unsafe impl");
    refused("HEAD { 1 } }", Rule::Parse, 1, "not Rust");
}

#[test]
fn other_signatures() {
    for (head, what) in [
        ("pub fn kit_crc32(crc: u32, buf: &[u8]) -> u32", "parameter 2"),
        ("pub fn kit_crc32(crc: u32, buf: Option<&mut [u8]>) -> u32", "parameter 2"),
        ("pub fn kit_crc32(crc: u32) -> u32", "1 parameters instead of 2"),
        ("pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u64", "returns `u64`"),
        ("pub fn kit_crc32(crc: u32, buf: Option<&[u8]>)", "returns"),
        ("pub unsafe fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32", "unsafe"),
        ("pub extern \"C\" fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32", "extern"),
        ("pub const fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32", "const"),
        ("pub fn kit_crc32<T>(crc: u32, buf: Option<&[u8]>) -> u32", "generics"),
        ("pub fn kit_crc32(crc: u32, Some(buf): Option<&[u8]>) -> u32", "plain name"),
    ] {
        refused(&format!("{head} {{ loop {{}} }}"), Rule::Requested, 1, what);
    }
}

#[test]
fn smuggled_attributes() {
    for attribute in [
        "no_mangle",
        "unsafe(no_mangle)",
        "unsafe(export_name = \"kit_crc32\")",
        "link_section = \".init_array\"",
        "used",
        "cfg(not(fuzzing))",
        "cfg_attr(fuzzing, inline)",
        "test",
        "doc = include_str!(\"/etc/passwd\")",
        "naked",
        "derive(Serialize)",
        "global_allocator",
        "target_feature(enable = \"avx\")",
        "path = \"x.rs\"",
        "serde::x",
    ] {
        refused(&format!("#[{attribute}]\nHEAD {{ 1 }}"), Rule::Attribute, 1, "is not allowed in a port");
    }
    refused("HEAD {\n #[cfg(fuzzing)]\n return 0;\n 1 }", Rule::Attribute, 2, "same in every build");
    refused(
        "HEAD { match crc {\n #[cfg(fuzzing)] 0 => 1,\n _ => 2 } }",
        Rule::Attribute,
        2,
        "same in every build",
    );
    refused(
        "#[unsafe(no_mangle)]\nextern \"C\" fn helper() {}\nHEAD { 1 }",
        Rule::Attribute,
        1,
        "replace C's symbol",
    );
    refused("HEAD { struct S {\n #[cfg(test)] x: u8 }\n 1 }", Rule::Attribute, 2, "same in every build");
    refused(
        "pub fn kit_crc32(crc: u32,\n #[cfg(fuzzing)] buf: Option<&[u8]>) -> u32 { 1 }",
        Rule::Attribute,
        2,
        "same in every build",
    );
}

#[test]
fn macros_that_see_the_build_or_hide_code() {
    for (call, rule) in [
        ("if cfg!(fuzzing) { return 0; }", Rule::System),
        ("let _ = env!(\"X\");", Rule::System),
        ("let _ = std::option_env!(\"X\");", Rule::System),
        ("include!(\"x.rs\");", Rule::System),
        ("let _ = include_bytes!(\"x\");", Rule::System),
        ("unsafe { core::arch::asm!(\"nop\") };", Rule::System),
        ("println!(\"{crc}\");", Rule::System),
        ("let _ = line!();", Rule::Macro),
        ("let _ = stringify!(a + b).len();", Rule::Macro),
        ("let _ = concat_idents!(kit_, crc32);", Rule::Macro),
    ] {
        refused(&format!("HEAD {{\n {call}\n crc }}"), rule, 2, "");
    }
    refused("use std::println as say;\nHEAD { 1 }", Rule::System, 1, "prints");
    refused("use core::arch::asm as assert;\nHEAD { 1 }", Rule::System, 1, "processor");
}

#[test]
fn state_that_records() {
    refused("static mut SEEN: [u32; 8] = [0; 8];\nHEAD { 1 }", Rule::State, 1, "static mut");
    refused(
        "use core::sync::atomic::AtomicU32;\nstatic N: AtomicU32 = AtomicU32::new(0);\nHEAD { 1 }",
        Rule::State,
        2,
        "`AtomicU32`",
    );
    refused(
        "use core::sync::atomic::AtomicU32 as N;\nstruct S { n: N }\nstatic T: S = S { n: N::new(0) };\nHEAD { 1 }",
        Rule::State,
        3,
        "AtomicU32",
    );
    refused(
        "HEAD {\n static SEEN: std::sync::Mutex<Vec<u32>> = std::sync::Mutex::new(Vec::new());\n 1 }",
        Rule::State,
        2,
        "outlives",
    );
    refused(
        "static L: std::sync::OnceLock<u8> = std::sync::OnceLock::new();\nHEAD { 1 }",
        Rule::State,
        1,
        "OnceLock",
    );
    refused("HEAD {\n thread_local! { static X: u8 = 1; }\n 1 }", Rule::State, 2, "`thread_local!`");
    refused("thread_local! { static X: u8 = 1; }\nHEAD { 1 }", Rule::State, 1, "`thread_local!`");
}

#[test]
fn state_of_the_libraries() {
    refused(
        "HEAD { unsafe { libc::strtok(core::ptr::null_mut(), c\"z\".as_ptr()) }; 1 }",
        Rule::State,
        1,
        "strtok_r",
    );
}

#[test]
fn text_that_nests_without_end_is_refused_and_not_followed() {
    let judge = || {
        let shapes = [
            ("(", ")"),
            ("!", ""),
            ("|a|", ""),
            ("{", "}"),
            ("1+", ""),
            ("Vec::<", ">"),
            ("if a {} else ", ""),
        ];
        for (open, close) in shapes {
            for n in [40, 250, 500] {
                let text = format!("{HEAD} {{ {}unknown{} }}", open.repeat(n), close.repeat(n));
                let report = run(SIGNATURE, &text);
                assert!(report.problems.iter().all(|p| p.rule == Rule::Parse), "{:?}", report.problems);
            }
            let text = format!("HEAD {{ 1;\n {}1{} }}", open.repeat(50_000), close.repeat(50_000));
            refused(&text, Rule::Parse, 2, "nests too deeply");
        }
    };
    // The stack of a main thread; a test has less, and a debug build needs more than a release build.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(judge).unwrap();
    thread.join().unwrap();
}
