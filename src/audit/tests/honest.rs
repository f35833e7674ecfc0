//! Ordinary ports in plain Rust, in the styles that people and models write: none may be refused.

use super::{SIGNATURE, accepted, run};

#[test]
fn slices_iterators_and_const_tables() {
    accepted(
        SIGNATURE,
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
fn imports_of_a_module_itself_and_words_that_macros_know() {
    accepted(
        SIGNATURE,
        "
fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    use core::mem::{self, size_of};
    let vis = [false; 4];
    assert!(!vis[crc as usize & 3] && vec![vis; 2].len() == 2);
    crc ^ mem::take(&mut (buf.map_or(0, <[u8]>::len) as u32)) ^ size_of::<u32>() as u32
}
",
    );
}

#[test]
fn iterator_chains_and_closures() {
    accepted(
        SIGNATURE,
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
    accepted(SIGNATURE, "
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
        SIGNATURE,
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
        SIGNATURE,
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
fn generics_nested_functions_and_recursion() {
    accepted(
        SIGNATURE,
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
        SIGNATURE,
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
    assert!(text.len() > 8, \"short: {text}\");
    let raw = Box::into_raw(Box::new(3u32));
    boxed(sorted.values().sum::<u32>()) ^ *unsafe { Box::from_raw(raw) }
}
",
    );
}

#[test]
fn functions_and_closures_are_values() {
    let items = "fn one(x: u32) -> u32 { x }\nfn two(x: u32) -> u32 { !x }\nstruct Pair<F> { f: F, g: F }\n";
    for body in [
        "[one, two][crc as usize & 1](crc) ^ unsafe { *core::ptr::from_ref(&crc) }",
        "let f = if unsafe { *core::ptr::from_ref(&crc) } > 1 { one } else { two }; f(crc)",
        "let pair = Pair { f: one, g: one }; (pair.f)((pair.g)(crc))",
        "let steps: [fn(u32) -> u32; 2] = [one, two]; steps[crc as usize & 1](crc)",
        "let step: &dyn Fn(u32) -> u32 = &|x| x ^ crc; unsafe { *core::ptr::from_ref(&step(1)) }",
    ] {
        accepted(
            SIGNATURE,
            &format!("{items}pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {{ {body} }}"),
        );
    }
}

#[test]
fn numbers_and_bits() {
    accepted(
        SIGNATURE,
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
fn ways_of_counting_and_naming_are_reported() {
    let report = run(
        SIGNATURE,
        "const A: u8 = 1;\nfn h() { unsafe {} }\npub fn kit_crc32(_: u32, mut b: Option<&[u8]>) -> u32 { h(); b = None; u32::from(A) }",
    );
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    assert_eq!((report.unsafe_code.count, report.helpers.join(" ")), (1, "A h".to_string()));
}

#[test]
fn a_problem_reads_like_a_sentence() {
    let report = run(
        SIGNATURE,
        "pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {\n    // why\n    crate::ffi::kit_crc32(crc)\n}",
    );
    let problem = &report.problems[0];
    assert_eq!(
        problem.to_string(),
        "line 3: `crate::ffi::kit_crc32` is the C original; a port may not call it"
    );
    assert_eq!((problem.column, problem.excerpt.as_str()), (5, "crate::ffi::kit_crc32(crc)"));
    let wrong = run(SIGNATURE, "pub fn kit_crc32(crc: u32) -> u32 { crc }");
    assert_eq!(
        wrong.problems[0].to_string(),
        "line 1: the signature must stay `fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32`: it has 1 parameters instead of 2"
    );
}

#[test]
fn a_negation_behind_a_keyword_is_no_macro() {
    accepted(
        SIGNATURE,
        "
fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let mut line = buf.unwrap_or(&[]);
    let file = crc > 7;
    while !line.is_empty() {
        if !file { return !line.len() as u32; }
        line = &line[1..];
    }
    return !crc;
}
",
    );
    let unsafe_text = "
fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 {
    let line = buf.unwrap_or(&[]).as_ptr();
    let mut at = 0;
    // SAFETY: a test reads nothing.
    while !unsafe { line.add(at).is_null() } { at += 1; }
    if !(line.is_null() || at > 3) { crc } else { !crc }
}
";
    accepted(SIGNATURE, unsafe_text);
}
