//! Functions as values beside `unsafe`: those that could meet are refused, ordinary uses are not.

use super::super::Rule;
use super::{HEAD, SIGNATURE, accepted, refused, run};

const ITEMS: &str = "fn one(x: u32) -> u32 { x } fn two(x: u32) -> u32 { !x } #[allow(dead_code)] #[derive(Clone, Copy)] enum Own { A(u32), B(u32), C } \
    #[allow(dead_code)] struct Pair<F> { f: F, g: F } struct Wrap(u32); struct Kept; impl Kept { fn a(x: u32) -> u32 { x } fn b(x: u32) -> u32 { !x } }";
const UNSAFE: &str = "let c = unsafe { *core::ptr::from_ref(&crc) };";

/// Bodies in which functions meet, or could.
const MEET: &[&str] = &[
    // By array.
    "[one, two][c as usize & 1](c)",
    "(&[one, two])[c as usize & 1](c)",
    "vec![one, two][c as usize & 1](c)",
    "vec![one; 2][0](c)",
    "[|x: u32| x, |x: u32| !x][c as usize & 1](c)",
    "[u32::swap_bytes, u32::reverse_bits][c as usize & 1](c)",
    "[<u32>::swap_bytes, <u32>::reverse_bits][c as usize & 1](c)",
    "[Kept::a, <Kept>::b][c as usize & 1](c)",
    "[crate::callee::kit_later, one][c as usize & 1](c)",
    "[*&one, *&two][c as usize & 1](c)",
    "[(one, 1), (one, 2)][0].0(c)",
    "[const { one }, const { one }][c as usize & 1](c)",
    // Through names.
    "let f = |x: u32| one(x); let g = |x: u32| two(x); [f, g][c as usize & 1](c)",
    "let f = one; let g = two; [f, g][c as usize & 1](c)",
    "let f: _ = |x: u32| x; let g = f; let h = |x: u32| !x; [g, h][c as usize & 1](c)",
    "let f = &one; let g = &two; [*f, *g][c as usize & 1](c)",
    "let (one, two) = (one, two); [one, two][c as usize & 1](c)",
    "let [f, g] = [one, two]; if c > 1 { f(c) } else { g(c) }",
    "[(one,).0, (two,).0][c as usize & 1](c)",
    "let s = Pair { f: one, g: one }; [s.f, s.g][c as usize & 1](c)",
    "struct Held<F>(F); let (s, t) = (Held(one), Held(two)); [s.0, t.0][c as usize & 1](c)",
    "let f = |x: u32| x; let s = Pair { f, g: f }; [s.f, s.g][c as usize & 1](c)",
    "let f = |x: u32| x; let g = |x: u32| !x; [f.clone(), g.clone()][c as usize & 1](c)",
    "use one as f; use two as g; [f, g][c as usize & 1](c)",
    // By branch.
    "let mut f = if c > 4 { one } else if c > 3 { return 1 } else { two }; f = f; f(c)",
    "let f = if c > 4 { one } else { { if c > 3 { return 1 } two } }; f(c)",
    "let f = if let Some(_) = buf && c > 1 { one } else { two }; f(c)",
    "let f = match c { 0 => one, 1 => { return 1 } _ => two }; f(c)",
    "let f = match c { 0 => Own::A, 1 => return 1, _ => Own::B }; matches!(f(c), Own::A(_)) as u32",
    "let f = unsafe { if c > 1 { one } else { two } }; f(c)",
    "core::convert::identity(match c { 0 => one, _ => two })(c)",
    "let Some(f) = (if c > 1 { Some((one, 1).0) } else { None }) else { return 1 }; f(c)",
    "fn pick(c: u32) -> impl Fn(u32) -> u32 { if c > 1 { one } else { two } } pick(c)(c)",
    "let f = || one; let g = || two; [f(), g()][c as usize & 1](c)",
    "let f = loop { if c > 1 { break (one as fn(u32) -> u32) } break two }; f(c)",
    "let f = 'a: { if c > 1 { break 'a (one as fn(u32) -> u32) } two }; f(c)",
    // Constructors.
    "matches!([Own::A, Own::B][c as usize & 1](c), Own::A(_)) as u32",
    "use Own::{A, B as D}; matches!([A, D][c as usize & 1](c), A(_)) as u32",
    "use Own::*; matches!([A, B][c as usize & 1](c), A(_)) as u32",
    "type O = Own; matches!([O::A, O::B][c as usize & 1](c), O::A(_)) as u32",
    "fn wrap(x: u32) -> Wrap { Wrap(x) } [Wrap, wrap][c as usize & 1](c).0",
    "matches!([core::ops::Bound::Included, core::ops::Bound::Excluded][c as usize & 1](c), core::ops::Bound::Included(_)) as u32",
    "[Some, |x: u32| Some(!x)][c as usize & 1](c).unwrap_or(1)",
    // By type.
    "let mut f = one as fn(u32) -> u32; f = f; f(c)",
    "let f = one as _; let g = [f, two as fn(u32) -> u32]; g[c as usize & 1](c)",
    "let f: &dyn Fn(u32) -> u32 = if c > 1 { &one } else { &two }; f(c)",
];

/// The same with items of their own.
const MEET_IN_ITEMS: &[&str] = &[
    "struct S; impl S { fn a(x: u32) -> u32 { x } fn b(x: u32) -> u32 { !x } fn go(c: u32) -> u32 { [Self::a, Self::b][c as usize & 1](c) } }",
    "enum E { A(u32), B(u32) } impl E { fn go(c: u32) -> bool { matches!([Self::A, Self::B][c as usize & 1](c), E::A(_)) } }",
    "const FS: &[fn(u32) -> u32] = &[one, two];",
    "static FS: [&(dyn Fn(u32) -> u32 + Sync); 2] = [&one, &two];",
    "struct S; impl S { const F: fn(u32) -> u32 = one; }",
    "fn pick<T: Fn(u32) -> u32>(t: T) -> impl Fn(u32) -> u32 { let s = Pair { f: one, g: one }; let _ = t; s.f }",
];

/// Ordinary bodies.
const HONEST: &[&str] = &[
    "let add = |x: u32| x + c; add(1) ^ add(2)",
    "let mut n = 0; let mut bump = |x: u32| n += x; bump(1); bump(c); n",
    "let xs = buf.unwrap_or(&[]); xs.iter().copied().map(u32::from).map(one).fold(0, |a, b| a ^ b)",
    "let step = |a: u32, b: &u8| a ^ u32::from(*b); buf.unwrap_or(&[]).iter().fold(c, step)",
    "let small = |x: &&u8| **x < 9; buf.unwrap_or(&[]).iter().filter(small).count() as u32",
    "let small = |x: &&u8| **x < 9; let xs = buf.unwrap_or(&[]); (xs.iter().filter(&small).count() + xs.iter().filter(&small).count()) as u32",
    "if c > 1 { one(c) } else { two(c) }",
    "match c { 0 => one(c), 1 => Kept::a(c), _ => (two)(c) }",
    "let f = one; f(f(c))",
    "fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 { f(f(x)) } twice(one, c) ^ twice(|x| x ^ c, c)",
    "fn each(f: &mut dyn FnMut(u32)) { f(1); f(2) } let mut n = 0; each(&mut |x| n += x); n",
    "fn adder(n: u32) -> impl Fn(u32) -> u32 { move |x| x ^ n } adder(c)(1)",
    "let kinds = [Own::C, Own::A(c), Own::C]; matches!(kinds[0], Own::C) as u32",
    "let kind = match c { 0 => Own::C, 1 => Own::A(1), _ => Own::B(2) }; matches!(kind, Own::C) as u32",
    "use Own::*; let kind = if c > 1 { C } else { A(c) }; matches!(kind, C) as u32",
    "use core::cmp::Ordering; let o = match c { 0 => Ordering::Less, 1 => Ordering::Equal, _ => Ordering::Greater }; o as i32 as u32",
    "let all = [Some(c), None, Some(1)]; all.iter().flatten().sum::<u32>()",
    "let wrapped = Some(c).map(Wrap).map_or(0, |w| w.0); let kinds: Vec<Own> = vec![1, c].into_iter().map(Own::A).collect(); wrapped ^ kinds.len() as u32",
    "static base: [u32; 2] = [1, 2]; const extra: u32 = 3; let pair = (extra, base); [extra, base[0]][0] ^ pair.0",
    "let add = |x: u32| x; let add = add(c); [add, 1][0]",
    "let one = c; [one, 1][0] ^ if c > 1 { one } else { 2 }",
    "let two = match buf { Some(two) => two.len() as u32, None => 0 }; (two, 1).0",
    "let unit = Kept; let _ = unit; let all = [u32::MAX, u32::MIN, crate::globals::kit_table[0]]; all[0]",
    "let order = |a: &u8, b: &u8| b.cmp(a); let mut v = buf.unwrap_or(&[]).to_vec(); v.sort_by(order); v.len() as u32",
    "let mut v = buf.unwrap_or(&[]).to_vec(); v.sort_by_key(|x| core::cmp::Reverse(*x)); v.len() as u32",
    "let first = buf.and_then(<[u8]>::first).copied().unwrap_or_default(); (first, c).1",
    "(one as usize == two as *const u8 as usize) as u32",
    "let sum: Box<dyn Fn(u32) -> u32> = Box::new(move |x| x ^ c); sum(1)",
    "core::array::from_fn::<u32, 2, _>(|i| i as u32)[0] ^ (|x: u32| x)(c)",
];

fn text(items: &str, body: &str) -> String {
    format!("{ITEMS} {items} {HEAD} {{ {UNSAFE} {body} }}")
}

#[test]
fn functions_that_could_meet_are_refused() {
    for body in MEET {
        refused(&text("", body), Rule::FnPointer, 1, "nor use functions");
    }
    for items in MEET_IN_ITEMS {
        refused(&text(items, "c"), Rule::FnPointer, 1, "nor use functions");
    }
}

#[test]
fn functions_that_are_called_or_passed_are_ordinary() {
    for body in HONEST {
        assert_eq!(accepted(SIGNATURE, &text("", body)), 1, "{body}");
    }
}

#[test]
fn functions_are_values_where_nothing_is_unsafe() {
    let all =
        MEET.iter().map(|body| text("", body)).chain(MEET_IN_ITEMS.iter().map(|items| text(items, "c")));
    for text in all.filter(|text| !text.contains("unsafe { if")) {
        let text = text.replace(UNSAFE, "let c = crc;");
        let report = run(SIGNATURE, &text);
        assert!(report.problems.is_empty(), "{text}\n{:#?}", report.problems);
    }
}

/// Imported functions and constants of other places keep what they are.
#[test]
fn names_from_elsewhere() {
    refused(
        &text("use crate::bits::kit_rotl32 as r;", "let f = (r, 1); f.0(c, 1)"),
        Rule::FnPointer,
        1,
        "nor use functions",
    );
    refused(
        &text("", "let f = [crate::callee::kit_later]; f[0](c)"),
        Rule::FnPointer,
        1,
        "nor use functions",
    );
    refused(&text("", "let f = (kit_adler32, 1); f.0(c, &[])"), Rule::FnPointer, 1, "nor use functions");
    refused(
        &text("", "let f = [libc::abs]; unsafe { f[0](1) as u32 }"),
        Rule::FnPointer,
        1,
        "nor use functions",
    );
    accepted(
        SIGNATURE,
        &text(
            "use crate::ffi::*;",
            "[kit_kind::KIT_BIG, KIT_OK as u32, POLY, crate::ffi::kit_kind::KIT_SMALL][0]",
        ),
    );
}
