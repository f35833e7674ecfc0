//! Ways to reach the C original: each is refused, at its line and for its reason.

use super::super::{Candidate, Rule, audit};
use super::{HEAD, MODULE, SIGNATURE, accepted, allowed, refused};

#[test]
fn call_through_by_path() {
    refused(
        "HEAD {\n    let b = buf.unwrap_or(&[]);\n    unsafe { crate::ffi::kit_crc32(crc, b.as_ptr(), b.len()) }\n}",
        Rule::CallThrough,
        3,
        "`crate::ffi::kit_crc32` is the C original; a port may not call it",
    );
    refused(
        "HEAD { unsafe { super::ffi::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        1,
        "the C original",
    );
    refused(
        "HEAD { unsafe { self::super::ffi::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        1,
        "the C original",
    );
    refused(
        "HEAD { unsafe { crate::ffi::kit_hash(core::ptr::null()) } }",
        Rule::CallThrough,
        1,
        "write `crate::callee::kit_hash`",
    );
    refused("HEAD { unsafe { crate::ffi::kit_table[0] } }", Rule::CallThrough, 1, "kit_table");
    refused(
        "HEAD { unsafe { crate::ffi::r#kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        1,
        "the C original",
    );
}

#[test]
fn call_through_by_rename() {
    refused(
        "use crate::ffi::kit_crc32 as helper;\nHEAD { unsafe { helper(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        1,
        "the C original",
    );
    for import in [
        "use crate::ffi as types;",
        "use crate as root;",
        "use super::{ffi::{self as a, kit_map}, bits};",
        "use crate::callee as others;",
        "use crate::capi as exported;",
        "use self::super::globals as state;",
        "use std as s;",
        "use {core as c};",
        "use ::std::{self as s};",
        "use libc as l;",
    ] {
        refused(&format!("{import}\nHEAD {{ 1 }}"), Rule::Path, 1, "by its own name");
        refused(&format!("HEAD {{\n {import}\n 1 }}"), Rule::Path, 2, "by its own name");
    }
}

#[test]
fn call_through_by_glob() {
    for import in ["use crate::*;", "use super::*;", "use crate::bits::*;"] {
        refused(&format!("{import}\nHEAD {{ 1 }}"), Rule::Item, 1, "a glob of another port's module");
    }
    for import in ["use std::*;", "use {core::*};"] {
        refused(&format!("{import}\nHEAD {{ 1 }}"), Rule::Path, 1, "by name what you need");
    }
}

/// What goes by another name than its own is left to the linkage proof: `tests/suite/without_audit.rs`.
#[test]
fn bare_names_are_left_to_the_linkage_proof() {
    for text in [
        "use crate::ffi::*;\nHEAD { unsafe { kit_next() } }",
        "use crate::ffi::*;\nHEAD { let s = format!(\"{kit_next:p}\"); s.len() as u32 }",
        "use libc::*;\nHEAD { unsafe { dlsym(core::ptr::null_mut(), c\"x\".as_ptr()); } 1 }",
        "HEAD { crate::real(crc) }",
        "HEAD { port::other(crc) }",
        "use core::mem::swap as m;\nHEAD { m::panic::catch_unwind(|| 1).is_ok() as u32 }",
    ] {
        accepted(SIGNATURE, &text.replace("HEAD", HEAD));
    }
}

#[test]
fn harmless_globs_hide_nothing() {
    refused("use core::ffi::*;\nHEAD { std::process::exit(0) }", Rule::System, 2, "process");
    for from in ["core::ffi", "core::mem"] {
        let call = "let f = unsafe { transmute(1usize) }; 1";
        refused(&format!("use {from}::*;\nHEAD {{ {call} }}"), Rule::FnPointer, 2, "transmute");
    }
}

#[test]
fn a_local_of_the_same_name_does_not_launder() {
    refused(
        "use crate::ffi;\nHEAD {\n  let ffi = 1;\n  unsafe { ffi::kit_next() } }",
        Rule::CallThrough,
        4,
        "the C original",
    );
}

#[test]
fn call_through_by_re_export() {
    refused("pub use crate::ffi::kit_crc32 as real;\nHEAD { 1 }", Rule::CallThrough, 1, "the C original");
    refused(
        "HEAD { unsafe { crate::capi::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        1,
        "capi",
    );
    // The address of another ported function is C's business; that of a stub leads nowhere.
    accepted(SIGNATURE, &format!("{HEAD} {{ crate::capi::kit_rotl32 as usize as u32 }}"));
    refused("HEAD { crate::capi::kit_rotl32(crc, 1) }", Rule::CallThrough, 1, "write `callee::kit_rotl32`");
    refused("HEAD { crate::capi::kit_hash as usize as u32 }", Rule::CallThrough, 1, "other ported functions");
}

#[test]
fn call_through_by_its_own_shim() {
    refused("HEAD { crate::callee::kit_crc32(crc, buf) }", Rule::CallThrough, 1, "is the function itself");
    refused(
        "use crate::{callee::{kit_crc32 as old}};\nHEAD { old(crc, buf) }",
        Rule::CallThrough,
        1,
        "itself",
    );
    let mut allowed = super::allowed(SIGNATURE);
    allowed.ways_back.insert("kit_hash".to_owned());
    let text = format!("{HEAD} {{ crate::callee::kit_hash(buf) }}");
    let candidate = super::Candidate { module: "checksum", name: "kit_crc32", text: &text };
    let problems = super::audit(&candidate, &allowed).problems;
    assert!(
        problems[0].reason.contains("`crate::callee::kit_hash` leads back to the C original"),
        "{problems:?}"
    );
}

#[test]
fn call_through_by_extern_block() {
    refused(
        "unsafe extern \"C\" {\n fn c_kit_crc32(c: u32, b: *const u8, n: usize) -> u32;\n}\nHEAD { unsafe { c_kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::Item,
        1,
        "`extern` block",
    );
    refused(
        "HEAD {\n unsafe extern \"C\" { #[link_name = \"c_kit_crc32\"] safe fn f(c: u32) -> u32; }\n f(crc) }",
        Rule::Item,
        2,
        "`extern` block",
    );
    refused("extern crate port;\nHEAD { port::ffi::kit_crc32(crc) }", Rule::Item, 1, "extern crate");
}

#[test]
fn call_through_by_function_pointer() {
    refused(
        "HEAD {\n let f = crate::ffi::kit_crc32;\n unsafe { f(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        2,
        "the C original",
    );
    refused(
        "const F: unsafe extern \"C\" fn(u32, *const u8, usize) -> u32 = crate::ffi::kit_crc32;\nHEAD { unsafe { F(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        1,
        "the C original",
    );
    refused(
        "HEAD { let f: extern \"C\" fn(u32) -> u32 =\n unsafe { core::mem::transmute(0x1000usize) }; f(crc) }",
        Rule::FnPointer,
        2,
        "transmute",
    );
    refused(
        "use std::mem::transmute as t;\nHEAD { let f =\n unsafe { t::<usize, fn(u32) -> u32>(1) }; f(crc) }",
        Rule::FnPointer,
        1,
        "transmute",
    );
    refused(
        "type F = fn(u32) -> u32;\nHEAD { let f =\n unsafe { core::mem::transmute::<usize, F>(1) }; f(crc) }",
        Rule::FnPointer,
        1,
        "function pointer",
    );
    refused(
        "HEAD { let f =\n unsafe { core::mem::transmute::<usize, crate::ffi::kit_cmp>(1) }; 1 }",
        Rule::FnPointer,
        2,
        "transmute",
    );
    refused(
        "HEAD { let a = 1usize;\n let f = unsafe { *(&a as *const usize as *const fn(u32) -> u32) }; f(crc) }",
        Rule::FnPointer,
        2,
        "function pointer",
    );
    refused(
        "type F = fn(u32) -> u32;\nHEAD { let a = 1usize;\n unsafe { core::ptr::read((&raw const a).cast::<F>())(crc) } }",
        Rule::FnPointer,
        1,
        "function pointer",
    );
    refused(
        "union U { a: usize, f: fn(u32) -> u32 }\nHEAD { unsafe { (U { a: 1 }.f)(crc) } }",
        Rule::FnPointer,
        1,
        "function pointer",
    );
}

#[test]
fn call_through_a_helper() {
    refused(
        "HEAD { helper(crc) }\nfn helper(c: u32) -> u32 {\n unsafe { crate::ffi::kit_crc32(c, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    refused(
        "struct S;\nimpl S { fn go(&self) -> u32 {\n unsafe { crate::ffi::kit_next() } } }\nHEAD { S.go() }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    refused(
        "HEAD { let f = |c| unsafe {\n crate::ffi::kit_crc32(c, core::ptr::null(), 0) }; f(crc) }",
        Rule::CallThrough,
        2,
        "the C original",
    );
    refused(
        "HEAD { assert!(\n unsafe { crate::ffi::kit_next() } == 0); 1 }",
        Rule::CallThrough,
        2,
        "the C original",
    );
    refused(
        "HEAD { let v = vec![0; unsafe {\n crate::ffi::kit_next() } as usize]; v.len() as u32 }",
        Rule::CallThrough,
        2,
        "the C original",
    );
    refused(
        "HEAD { if matches!(crc, x if x ==\n unsafe { crate::ffi::kit_next() }) { 1 } else { 2 } }",
        Rule::CallThrough,
        2,
        "the C original",
    );
}

#[test]
fn call_through_the_dynamic_linker() {
    refused(
        "HEAD { let f =\n unsafe { libc::dlsym(core::ptr::null_mut(), c\"c_kit_crc32\".as_ptr()) }; f as u32 }",
        Rule::System,
        2,
        "`libc::dlsym` is not allowed",
    );
    refused("use libc::{dlsym as look};\nHEAD { 1 }", Rule::System, 1, "dlsym");
    refused("HEAD { unsafe { libc::syscall(60) }; 1 }", Rule::System, 1, "syscall");
}

#[test]
fn modules_named_like_those_of_rust_are_told_apart() {
    let problems = |module: &str, text: &str| {
        let mut allowed = allowed(SIGNATURE).in_module(module).unwrap();
        let ported = || std::collections::BTreeSet::from(["ported".to_owned()]);
        let names = ["core", "mem", "str"].map(|name| (name.to_owned(), ported()));
        allowed.ported = std::sync::Arc::new(names.into());
        let text = text.replace("HEAD", HEAD);
        audit(&Candidate { module: "checksum", name: "kit_crc32", text: &text }, &allowed).problems
    };
    for text in [
        "HEAD { core::mem::swap(&mut 1, &mut 2); 1 }",
        "HEAD { ::core::cmp::max(crc, 1) }",
        "use core::mem;\nHEAD { mem::swap(&mut 1, &mut 2); mem::take(&mut 1) }",
        "use std::{mem, str};\nHEAD { mem::take(&mut 1); str::from_utf8(b\"\").is_ok() as u32 }",
        "HEAD { str::from_utf8(b\"\").is_ok() as u32 }",
        "use core::mem as memory;\nHEAD { memory::take(&mut 1) }",
        "use core::mem;\nHEAD { mem::take(&mut crate::mem::ported(crc)) + crate::str::ported(crc) }",
    ] {
        let found = problems(MODULE, text);
        assert!(found.is_empty(), "{text}\n{found:#?}");
    }
    let imports = format!("{MODULE}use crate::mem;");
    let macros = format!("{MODULE}mod inner {{ macro_rules! m {{ ($s:tt) => {{ use crate $s mem; }} }} }}");
    for (module, text) in [
        (MODULE, "HEAD { crate::mem::secret(crc) }"),
        (MODULE, "HEAD { super::core::secret(crc) }"),
        (MODULE, "HEAD { self::mem::secret(crc) }"),
        (MODULE, "use crate::mem;\nHEAD { mem::secret(crc) }"),
        (MODULE, "HEAD { use super::{ffi, mem}; mem::secret(crc) }"),
        (MODULE, "use crate::{ffi::{self}, mem::{self}};\nHEAD { mem::secret(crc) }"),
        (MODULE, "use crate::*;\nHEAD { mem::secret(crc) }"),
        (MODULE, "use super::{*};\nHEAD { core::secret(crc) + mem::secret(crc) }"),
        (MODULE, "use crate::core;\nHEAD { core::secret(crc) }"),
        (MODULE, "use crate::facade::mem;\nHEAD { mem::secret(crc) }"),
        (MODULE, "use crate::facade as str;\nHEAD { str::secret(crc) }"),
        (MODULE, "use crate::core; use core::mem;\nHEAD { mem::secret(crc) }"),
        (MODULE, "macro_rules! m { ($u:tt) => { $u crate::mem; } }\nm!(use);\nHEAD { mem::secret(crc) }"),
        (
            MODULE,
            "macro_rules! m { ($i:ident) => { use crate::{$i}; } }\nm!(mem);\nHEAD { mem::secret(crc) }",
        ),
        (
            MODULE,
            "macro_rules! m { ($($p:ident),*) => { use $($p)::*; } }\nHEAD { m!(crate, mem); mem::secret(crc) }",
        ),
        (MODULE, "macro_rules! m { ($s:tt) => { use crate $s mem; } }\nHEAD { m!(::); mem::secret(crc) }"),
        (
            MODULE,
            "macro_rules! m { ($a:ident $s:tt $b:ident $t:tt $c:ident) => { use $a $s $b; } }\n\
            HEAD { m!(crate::mem::ported); mem::secret(crc) }",
        ),
        (&macros, "HEAD { mem::secret(crc) }"),
        (&imports, "HEAD { mem::secret(crc) }"),
    ] {
        let found = problems(module, text);
        let is_told = found.iter().any(|p| p.reason.contains("secret") || p.reason.contains("import `"));
        assert!(is_told, "{module}\n{text}\n{found:#?}");
    }
}
