//! Ways to reach the C original: each is refused, at its line and for its reason.

use super::super::Rule;
use super::{HEAD, SIGNATURE, accepted, refused};

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
    refused(
        "use crate::ffi as types;\nHEAD { unsafe { types::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        2,
        "(written `types::kit_crc32`)",
    );
    refused(
        "use crate as root;\nHEAD { unsafe { root::ffi::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        2,
        "the C original",
    );
    refused(
        "HEAD {\n  use super::{ffi::{self as a, kit_map}, bits};\n  use a as b;\n  unsafe { b::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        4,
        "the C original",
    );
    refused(
        "use crate::ffi as types;\nHEAD { unsafe { self::types::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        2,
        "the C original",
    );
    refused(
        "use crate::ffi as types;\nHEAD { unsafe { crate::checksum::types::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        2,
        "the C original",
    );
}

#[test]
fn call_through_by_glob() {
    refused(
        "use crate::ffi::*;\nHEAD { unsafe { kit_next() } }",
        Rule::CallThrough,
        2,
        "`crate::ffi::kit_next`",
    );
    // Inside a function a glob comes before the module's items, so this is C's function and no recursion.
    refused(
        "HEAD {\n  use crate::ffi::*;\n  unsafe { kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    refused(
        "use crate::*;\nHEAD { unsafe { ffi::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::UnknownPath,
        1,
        "import by name",
    );
    refused(
        "use super::*;\nHEAD { unsafe { ffi::kit_crc32(crc, core::ptr::null(), 0) } }",
        Rule::UnknownPath,
        1,
        "import by name",
    );
    refused("HEAD { use libc::*; fn f() {} f(); 1 }", Rule::UnknownPath, 1, "import by name");
    // A type of that name shadows in its own name space only.
    refused(
        "use crate::ffi::*;\nstruct kit_next { x: u8 }\nHEAD { unsafe { kit_next() } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
}

#[test]
fn harmless_globs_and_renames_hide_nothing() {
    refused("use core::ffi::*;\nHEAD { std::process::exit(0) }", Rule::System, 2, "process");
    refused(
        "use core::ffi::*;\nHEAD { let f: fn() = unsafe { core::mem::transmute(1usize) }; 1 }",
        Rule::FnPointer,
        2,
        "transmute",
    );
    refused(
        "use core::mem::*;\nHEAD { let f: fn() = unsafe { transmute(1usize) }; 1 }",
        Rule::FnPointer,
        2,
        "transmute",
    );
    refused(
        "use core::ffi::*;\nuse crate::ffi::*;\nHEAD { unsafe { kit_next() } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    refused("use core::ffi::*;\nHEAD { port::ffi::kit_next() }", Rule::UnknownPath, 2, "unknown path");
    refused(
        "use crate::ffi::*;\nHEAD { use core::cmp::Ordering::*;\n unsafe { kit_next() } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    refused(
        "use crate::ffi::*;\nHEAD { use crate::ffi::kit_kind::*;\n unsafe { kit_next() } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    // A type's name does not hide a function's.
    refused(
        "use crate::ffi::*;\nHEAD { use core::ffi::c_int as kit_next;\n unsafe { kit_next() } }",
        Rule::CallThrough,
        2,
        "reserved for the C function",
    );
    refused(
        "use crate::ffi::*;\nenum E { kit_next { x: u8 } }\nuse E::*;\nHEAD { unsafe { kit_next() } }",
        Rule::CallThrough,
        2,
        "reserved for the C function",
    );
    refused(
        "use crate::ffi::*;\nHEAD { fn g<kit_next>() -> u32 {\n unsafe { kit_next() } }\n g::<u8>() }",
        Rule::CallThrough,
        3,
        "the C original",
    );
}

#[test]
fn a_local_of_the_same_name_does_not_launder() {
    refused(
        "use crate::ffi::*;\nHEAD {\n  { let kit_next = || 1; kit_next(); }\n  unsafe { kit_next() } }",
        Rule::CallThrough,
        4,
        "the C original",
    );
    refused(
        "use crate::ffi::*;\nHEAD {\n  let kit_next = unsafe { kit_next() };\n  kit_next }",
        Rule::CallThrough,
        3,
        "the C original",
    );
    refused(
        "use crate::ffi::*;\nHEAD {\n  let kit_next = 1;\n  fn inner() -> u32 { unsafe { kit_next() } }\n  inner() + kit_next }",
        Rule::CallThrough,
        4,
        "the C original",
    );
    refused(
        "use crate::ffi::*;\nHEAD {\n  if let Some(kit_next) = buf { 1 } else {\n  unsafe { kit_next() } } }",
        Rule::CallThrough,
        4,
        "the C original",
    );
    refused(
        "use crate::ffi;\nHEAD {\n  let ffi = 1;\n  unsafe { ffi::kit_next() } }",
        Rule::CallThrough,
        4,
        "the C original",
    );
    refused(
        "use crate::ffi::*;\nHEAD {\n  match crc { kit_next if kit_next > 1 => 1, _ => unsafe { kit_next() } } }",
        Rule::CallThrough,
        3,
        "the C original",
    );
}

#[test]
fn call_through_by_re_export() {
    refused("pub use crate::ffi::kit_crc32 as real;\nHEAD { 1 }", Rule::CallThrough, 1, "the C original");
    refused(
        "HEAD { crate::bits::ffi::kit_crc32(crc) }",
        Rule::UnknownPath,
        1,
        "unknown path `crate::bits::ffi::kit_crc32`",
    );
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
    refused("HEAD { crate::real(crc) }", Rule::UnknownPath, 1, "unknown path `crate::real`");
    refused(
        "HEAD { port::ffi::kit_crc32(crc) }",
        Rule::UnknownPath,
        1,
        "unknown path `port::ffi::kit_crc32`",
    );
    refused("HEAD { ::port::ffi::kit_crc32(crc) }", Rule::UnknownPath, 1, "unknown path");
}

#[test]
fn call_through_by_its_own_shim() {
    refused("HEAD { crate::callee::kit_crc32(crc, buf) }", Rule::CallThrough, 1, "is the function itself");
    refused("use crate::callee::*;\nHEAD { kit_next() }", Rule::UnknownPath, 2, "kit_next");
    refused(
        "HEAD { use crate::callee::*;\n kit_crc32(crc, buf) }",
        Rule::CallThrough,
        2,
        "is the function itself",
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
        3,
        "transmute",
    );
    refused(
        "type F = fn(u32) -> u32;\nHEAD { let f =\n unsafe { core::mem::transmute::<usize, F>(1) }; f(crc) }",
        Rule::FnPointer,
        3,
        "transmute",
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
        3,
        "function pointer",
    );
    refused(
        "union U { a: usize, f: fn(u32) -> u32 }\nHEAD { unsafe { (U { a: 1 }.f)(crc) } }",
        Rule::Item,
        1,
        "union",
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
    refused(
        "use crate::ffi::*;\nHEAD { let s = format!(\"{kit_next:p}\"); s.len() as u32 }",
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
    refused(
        "use libc::*;\nHEAD { unsafe { dlsym(core::ptr::null_mut(), c\"x\".as_ptr()); } 1 }",
        Rule::UnknownPath,
        2,
        "dlsym",
    );
    refused("HEAD { unsafe { libc::syscall(60) }; 1 }", Rule::System, 1, "syscall");
}
