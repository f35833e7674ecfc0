//! Ordinary ports that deal with C: its types, pointers, allocator and names. None may be refused.

use super::{SIGNATURE, accepted};

#[test]
fn raw_pointers() {
    let count = accepted(
        "unsafe fn kit_crc32(crc: u32, buf: *const u8, len: usize) -> u32",
        "
pub unsafe fn kit_crc32(crc: u32, mut buf: *const u8, mut len: usize) -> u32 {
    if buf.is_null() { return 0; }
    let mut c = crc;
    // SAFETY: the caller gives `len` bytes.
    while len > 0 {
        c = c.wrapping_add(unsafe { *buf } as u32);
        buf = unsafe { buf.add(1) };
        len -= 1;
    }
    let bytes = unsafe { core::slice::from_raw_parts(buf, len) };
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), core::ptr::null_mut(), 0) };
    let word = unsafe { core::ptr::read_unaligned(buf as *const u32) };
    c ^ word ^ core::mem::size_of::<usize>() as u32
}
",
    );
    assert_eq!(count, 6, "five blocks and the function");
}

#[test]
fn c_types_by_any_spelling() {
    let signature = "unsafe fn kit_crc32(map: *mut crate::ffi::kit_map, n: ::core::ffi::c_int, f: crate::ffi::kit_cmp) -> *const ::core::ffi::c_char";
    accepted(signature, "
use std::os::raw::{c_char, c_int};
use crate::ffi::{self, kit_cmp};
pub unsafe fn kit_crc32(m: *mut kit_map, n: libc::c_int, compare: Option<unsafe extern \"C\" fn(*const u8, *const u8) -> i32>) -> *const c_char {
    core::ptr::null()
}
".replace("Option<unsafe extern \"C\" fn(*const u8, *const u8) -> i32>", "kit_cmp").as_str());
    accepted(signature, "
use core::ffi::*;
pub unsafe fn kit_crc32(m: *mut crate::ffi::kit_map, n: c_int, compare: super::ffi::kit_cmp) -> *const c_char {
    let point = crate::ffi::kit_point { x: n, y: crate::ffi::KIT_ERANGE };
    let crate::ffi::kit_point { x, y } = point;
    if crate::ffi::kit_kind::KIT_BIG == 1 && x == y { unsafe { (*m).used += 1 } }
    if let Some(compare) = compare && unsafe { compare(core::ptr::null(), core::ptr::null()) } < 0 {
        return c\"less\".as_ptr();
    }
    let offset = core::mem::offset_of!(crate::ffi::kit_point, y) as c_int;
    let slots = unsafe { core::ptr::addr_of_mut!((*m).slots) };
    let _ = (offset, slots);
    core::ptr::null()
}
");
}

#[test]
fn a_glob_of_the_bindings_for_types_and_constants() {
    accepted("fn kit_crc32(map: &mut crate::ffi::kit_map) -> i32", "
use crate::ffi::*;
pub fn kit_crc32(map: &mut kit_map) -> i32 {
    match map.used as i32 { KIT_OK => KIT_ERANGE, x if x == KIT_ERANGE => kit_kind::KIT_BIG as i32, _ => KIT_OK }
}
");
}

#[test]
fn errno_and_the_c_allocator() {
    accepted(
        "unsafe fn kit_crc32(n: usize) -> *mut core::ffi::c_void",
        "
use libc::{c_void, size_t, EINVAL};
unsafe fn kit_crc32(n: usize) -> *mut c_void {
    if n == 0 {
        unsafe { *libc::__errno_location() = EINVAL };
        return core::ptr::null_mut();
    }
    let p = unsafe { libc::malloc(n as size_t) };
    if p.is_null() { return p; }
    unsafe {
        libc::memset(p, 0, n);
        let q = libc::realloc(p, n * 2);
        libc::free(q);
        libc::calloc(n, 2)
    }
}
",
    );
}

#[test]
fn parsing_numbers_and_c_strings() {
    accepted(
        "fn kit_crc32(text: &core::ffi::CStr, out: &mut i32) -> bool",
        "
use std::ffi::CStr;
pub fn kit_crc32(text: &CStr, out: &mut i32) -> bool {
    let Ok(text) = text.to_str() else { return false };
    match i32::from_str_radix(text.trim(), 16).or_else(|_| text.parse::<i32>()) {
        Ok(n) => { *out = n; true }
        Err(error) => { let _ = error.to_string(); false }
    }
}
",
    );
}

#[test]
fn callees_ported_functions_and_globals() {
    accepted(SIGNATURE, "
use crate::callee;
use crate::bits::kit_rotl32 as rotl;
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let a = callee::kit_hash(buf) ^ crate::callee::kit_later(crc);
    let b = rotl(a, 3) ^ crate::bits::kit_rotl32(a, 5) ^ kit_adler32(1, &[]) ^ self::kit_adler32(1, &[]);
    let table = &crate::globals::kit_table;
    a ^ b ^ table[0] ^ unsafe { *(&raw const crate::globals::kit_mode) } ^ crate::checksum::kit_adler32(a, &[])
}
");
}

#[test]
fn structs_of_the_c_library() {
    accepted(
        "fn kit_crc32(seconds: i64) -> i64",
        "
pub fn kit_crc32(seconds: i64) -> i64 {
    let time = libc::timespec { tv_sec: seconds, tv_nsec: 0 };
    let value: libc::timeval = libc::timeval { tv_sec: time.tv_sec, tv_usec: 0 };
    value.tv_sec
}
",
    );
}

#[test]
fn sorting_with_a_c_callback() {
    accepted("unsafe fn kit_crc32(base: *mut core::ffi::c_void, n: usize, cmp: crate::ffi::kit_cmp)", "
unsafe extern \"C\" fn ascending(a: *const u8, b: *const u8) -> i32 { unsafe { i32::from(*a) - i32::from(*b) } }
pub unsafe fn kit_crc32(base: *mut core::ffi::c_void, n: usize, cmp: crate::ffi::kit_cmp) {
    let cmp = cmp.unwrap_or(ascending);
    let items = unsafe { std::slice::from_raw_parts_mut(base.cast::<u8>(), n) };
    items.sort_by(|a, b| unsafe { cmp(a, b) }.cmp(&0));
    static NAMES: [&str; 2] = [\"a\", \"b\"];
    let _ = NAMES.len();
    let mut i = 0;
    loop { if i >= n { break } i += 1; }
}
");
}

#[test]
fn a_signature_may_have_function_pointers() {
    let ty = "::core::option::Option<unsafe extern \"C\" fn(x: i32) -> i32>";
    let signature = format!("unsafe fn kit_crc32(f: {ty}, x: i32) -> {ty}");
    accepted(
        &signature,
        &format!("pub {signature} {{ let Some(f) = f else {{ return None }}; unsafe {{ f(x) }}; Some(f) }}"),
    );
}

#[test]
fn local_names_may_be_names_of_c() {
    accepted(
        SIGNATURE,
        "
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let kit_hash = crc; let kit_next = |x: u32| x + 1; let kit_table = 3;
    kit_next(kit_hash) + kit_table + buf.map(|kit_table| kit_table.len() as u32).unwrap_or(0)
}
",
    );
}
