//! Ordinary ports, in the styles that people and models write: none may be refused.

use super::run;

#[track_caller]
fn accepted(signature: &str, text: &str) -> usize {
    let report = run(signature, text);
    assert!(report.is_clean(), "{text}\n{:#?}", report.problems);
    report.unsafe_count
}

const SLICE: &str = "fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32";

#[test]
fn slices_iterators_and_const_tables() {
    accepted(
        SLICE,
        "
/// Checksum; C's `unimplemented!()` is only mentioned here.
#[inline]
#[must_use]
pub fn kit_crc32(mut c: u32, data: Option<&[u8]>) -> u32 {
    let Some(data) = data else { return 0 };
    c = !c;
    for &byte in data {
        c = TABLE[((c ^ u32::from(byte)) & 0xff) as usize] ^ (c >> 8);
    }
    !c
}

const TABLE: [u32; 256] = make_table();

const fn make_table() -> [u32; 256] {
    let mut table = [0u32; 256];
    let mut n = 0;
    while n < 256 {
        let mut c = n as u32;
        let mut k = 0;
        while k < 8 {
            c = if c & 1 != 0 { POLY ^ (c >> 1) } else { c >> 1 };
            k += 1;
        }
        table[n] = c;
        n += 1;
    }
    table
}
",
    );
}

#[test]
fn iterator_chains_and_closures() {
    accepted(
        SLICE,
        "
fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let step = |acc: u32, (i, &b): (usize, &u8)| acc.wrapping_mul(31).wrapping_add(u32::from(b) << (i % 8));
    let sum = buf.unwrap_or_default().iter().enumerate().fold(crc, step);
    let words: Vec<u32> = buf.unwrap_or(&[]).chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    words.iter().copied().chain(std::iter::once(sum)).max().unwrap_or(u32::MAX)
}
",
    );
}

#[test]
fn helper_structs_with_impl_blocks_and_traits() {
    accepted(SLICE, "
use core::fmt;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct State<'a, const N: usize> { low: u32, high: u32, rest: &'a [u8] }

impl<'a, const N: usize> State<'a, N> {
    const MASK: u32 = (1 << N) - 1;

    fn new(rest: &'a [u8]) -> Self { Self { low: 1, high: 0, rest } }

    fn step(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.low = (self.low + u32::from(first)) & Self::MASK;
        Some(first)
    }
}

impl<const N: usize> fmt::Display for State<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, \"{}:{:>w$}\", self.low, self.high, w = N) }
}

impl<'a, const N: usize> Iterator for State<'a, N> {
    type Item = u8;
    fn next(&mut self) -> Option<Self::Item> { self.step() }
}

pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let mut state = State::<16>::new(buf.unwrap_or(b\"\"));
    while let Some(byte) = state.step() {
        match byte.cmp(&b'a') {
            Ordering::Less => state.high += 1,
            Ordering::Equal | Ordering::Greater => {}
        }
    }
    state.high << 16 | state.low ^ crc
}
");
}

#[test]
fn enums_matches_globs_and_labels() {
    accepted(
        SLICE,
        "
enum Token { Digit(u32), Space, Other(u8) }
use Token::*;

fn classify(byte: u8) -> Token {
    match byte {
        b'0'..=b'9' => Digit(u32::from(byte - b'0')),
        b' ' | b'\\t' => Space,
        other => Other(other),
    }
}

pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let mut total = crc;
    let bytes = buf.unwrap_or(&[]);
    'outer: for window in bytes.windows(2) {
        for byte in window {
            match classify(*byte) {
                Digit(d) if d > 0 => total += d,
                Digit(_) | Space => continue 'outer,
                Token::Other(c) => { if matches!(c, b'!' | b'?' if total > 3) { break 'outer; } }
            }
        }
    }
    let found = 'search: { if total == 3 { break 'search true; } false };
    total + u32::from(found)
}
",
    );
}

#[test]
fn let_else_and_if_let_chains() {
    accepted(
        SLICE,
        "
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let Some(bytes) = buf else { return crc };
    if let [first, .., last] = bytes && first == last && let Ok(n) = u32::try_from(bytes.len()) {
        return n ^ u32::from(*first);
    } else if let Some(x) = bytes.first() && let y @ 1..=9 = *x {
        return u32::from(y);
    }
    while let Some(z) = bytes.get(crc as usize) && *z > 0 { return u32::from(*z); }
    crc
}
",
    );
}

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
    accepted(SLICE, "
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
fn generics_nested_functions_and_recursion() {
    accepted(
        SLICE,
        "
fn widest<T, F>(items: &[T], key: F) -> Option<T> where T: Copy, F: Fn(&T) -> u64 {
    items.iter().copied().max_by_key(|item| key(item))
}
type Pair = (u32, u32);
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    const LIMIT: usize = 16;
    fn gcd<T: Copy + PartialEq + Default + core::ops::Rem<Output = T>>(a: T, b: T) -> T {
        if b == T::default() { a } else { gcd(b, a % b) }
    }
    let pair: Pair = (gcd(crc, 12), gcd::<u32>(9, 6));
    match buf {
        Some([_, rest @ ..]) if rest.len() < LIMIT => kit_crc32(pair.0, Some(rest)).max(pair.1),
        _ => widest(&[1u32, 2], |&x| u64::from(x)).map_or(0, |x| x),
    }
}
",
    );
}

#[test]
fn collections_boxes_and_strings() {
    accepted(
        SLICE,
        "
use std::collections::{BTreeMap, HashMap as Map, hash_map::Entry};
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let mut seen: Map<u8, u32> = Map::new();
    for byte in buf.into_iter().flatten() {
        match seen.entry(*byte) {
            Entry::Occupied(mut e) => *e.get_mut() += 1,
            Entry::Vacant(e) => { e.insert(1); }
        }
    }
    let sorted: BTreeMap<_, _> = seen.into_iter().collect();
    let boxed: Box<dyn Fn(u32) -> u32> = Box::new(move |x| x ^ crc);
    let text = format!(\"{crc:08x}-{0}-{len}\", sorted.len(), len = sorted.len());
    debug_assert!(text.len() > 8, \"short: {text}\");
    let raw = Box::into_raw(Box::new(3u32));
    boxed(sorted.values().sum::<u32>()) ^ *unsafe { Box::from_raw(raw) }
}
",
    );
}

#[test]
fn numbers_and_bits() {
    accepted(
        SLICE,
        "
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let f = f64::from(crc).sqrt() + core::f64::consts::PI + f32::from_bits(crc) as f64;
    let n = i64::MAX.wrapping_neg() as u64 as u32;
    let (sum, over) = crc.overflowing_add(n);
    let bits = unsafe { core::mem::transmute::<[u8; 4], u32>([1, 2, 3, 4]) };
    let wide = <u64 as From<u32>>::from(sum) + u64::pow(2, 3) + <u64>::MAX.rotate_left(3);
    assert_eq!(u8::BITS, 8, \"bits\");
    if over { unreachable!(\"never for {crc}\") }
    (f.to_bits() ^ wide) as u32 ^ bits ^ buf.map_or(0, <[u8]>::len) as u32 ^ 0b1010_u32.leading_zeros()
}
",
    );
}

#[test]
fn sorting_with_a_c_callback() {
    accepted("unsafe fn kit_crc32(base: *mut core::ffi::c_void, n: usize, cmp: crate::ffi::kit_cmp)", "
unsafe extern \"C\" fn ascending(a: *const u8, b: *const u8) -> i32 { unsafe { i32::from(*a) - i32::from(*b) } }
pub unsafe fn kit_crc32(base: *mut core::ffi::c_void, n: usize, cmp: crate::ffi::kit_cmp) {
    let cmp = cmp.unwrap_or(ascending as unsafe extern \"C\" fn(*const u8, *const u8) -> i32);
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
fn local_names_may_be_names_of_c() {
    accepted(
        SLICE,
        "
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let kit_hash = crc; let kit_next = |x: u32| x + 1; let core = 3; let ffi = 4;
    kit_next(kit_hash) + core + ffi + buf.map(|kit_table| kit_table.len() as u32).unwrap_or(0)
}
",
    );
}

#[test]
fn ways_of_counting_and_naming_are_reported() {
    let report = run(
        SLICE,
        "const A: u8 = 1;\nfn h() { unsafe {} }\npub fn kit_crc32(_: u32, mut b: Option<&[u8]>) -> u32 { h(); b = None; u32::from(A) }",
    );
    assert!(report.is_clean(), "{:#?}", report.problems);
    assert_eq!((report.unsafe_count, report.helpers.join(" ")), (1, "A h".to_string()));
}

#[test]
fn a_problem_reads_like_a_sentence() {
    let report = run(
        SLICE,
        "pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {\n    // why\n    crate::ffi::kit_crc32(crc)\n}",
    );
    let problem = &report.problems[0];
    assert_eq!(
        problem.to_string(),
        "line 3: `crate::ffi::kit_crc32` is the C original; a port may not call it"
    );
    assert_eq!((problem.column, problem.excerpt.as_str()), (5, "crate::ffi::kit_crc32(crc)"));
    let wrong = run(SLICE, "pub fn kit_crc32(crc: u32) -> u32 { crc }");
    assert_eq!(
        wrong.problems[0].to_string(),
        "line 1: the signature must stay `fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32`: it has 1 parameters instead of 2"
    );
}
