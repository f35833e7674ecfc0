//! Text that macros put together, and text in unusual spellings: the audit reads it as the compiler does.

use super::super::Rule;
use super::{HEAD, SIGNATURE, accepted, all_refused, refused};

/// A macro of the reply can put tokens together, so nothing is hidden in its parts.
#[test]
fn macros_of_the_reply_hide_nothing() {
    all_refused(&[
        (
            "macro_rules! m { ($a:ident) => { $a!(\"HOME\") } } HEAD { m!(x); 1 }",
            Rule::Macro,
            "`$a!` calls a macro",
        ),
        (
            "macro_rules! m { ($($t:tt)*) => { $($t)* } } HEAD { m!(env ! (\"HOME\")); 1 }",
            Rule::System,
            "how it is built",
        ),
        (
            "macro_rules! m { ($a:tt, $($t:tt)*) => { $a $($t)* } } HEAD { m!(env, ! (\"HOME\")); 1 }",
            Rule::System,
            "could be put together to `env!`",
        ),
        (
            "macro_rules! m { ($x:ident . $a:tt, $n:tt, $g:tt) => { $a $n $g } } HEAD { u32::from(m!(x.cfg, !, (fuzzing))) }",
            Rule::System,
            "could be put together to `cfg!`",
        ),
        (
            "macro_rules! m { ($x:expr) => { 1 } } HEAD { macro_rules! m { ($x:ident . $a:tt, $n:tt, $g:tt) => { $a $n $g } } u32::from(m!(x.cfg, !, (fuzzing))) }",
            Rule::System,
            "could be put together to `cfg!`",
        ),
        (
            "macro_rules! m { ($x:ident :: $a:tt, $n:tt, $g:tt) => { $a $n $g } } HEAD { u32::from(m!(x::cfg, !, (fuzzing))) }",
            Rule::System,
            "could be put together to `cfg!`",
        ),
        (
            "macro_rules! m { ($a:tt) => { # $a fn f() {} } } HEAD { m!([cfg(fuzzing)]); 1 }",
            Rule::Attribute,
            "begins no attribute",
        ),
        (
            "macro_rules! m { ($($t:tt)*) => { $($t)* fn f() {} } } m!(#, [cfg(fuzzing)]); HEAD { 1 }",
            Rule::Attribute,
            "begins no attribute",
        ),
        (
            "macro_rules! m { ($(#[$a:meta])*) => { $(#[$a])* fn f() {} } } HEAD { 1 }",
            Rule::Attribute,
            "is not allowed",
        ),
        ("macro_rules! m { ($($t:tt)*) => { extern $($t)* } } HEAD { 1 }", Rule::Item, "`extern` block"),
        ("macro_rules! m { () => { static mut N: u32 = 0; } } m!(); HEAD { 1 }", Rule::State, "static mut"),
        ("macro_rules! m { () => { unimplemented!() } } HEAD { m!() }", Rule::Stub, "is a stub"),
        (
            "macro_rules! m { ($t:ty) => { impl $t { fn f(&self) {} } } } HEAD { 1 }",
            Rule::Item,
            "acts in other ports",
        ),
        ("#[macro_export] macro_rules! m { () => { 1 } } HEAD { m!() }", Rule::Attribute, "is not allowed"),
        (
            "struct S; macro_rules! m { ($($t:tt)*) => { $($t)* } } m!(impl crate::ffi::kit_map { fn f() {} }); HEAD { 1 }",
            Rule::Item,
            "acts in other ports",
        ),
        ("m!(); HEAD { 1 }", Rule::Item, "acts in other ports"),
        (
            "macro_rules! m { (#[allow($($t:tt)*)]) => { $($t)* } } HEAD { m!(#[allow(option_env!(\"OUT_DIR\"))]).is_some() as u32 }",
            Rule::System,
            "how it is built",
        ),
        (
            "macro_rules! m { (#[allow($($t:tt)*)]) => { $($t)* } } HEAD { m!(#[allow({unimplemented!()})]) }",
            Rule::Stub,
            "is a stub",
        ),
        ("macro_rules! m { ($a:ident) => { crate::$a::shared(1) } } HEAD { m!(bits) }", Rule::Macro, "`$a`"),
        ("macro_rules! m { ($a:ident) => { $a::env::var(\"X\") } } HEAD { m!(std); 1 }", Rule::Macro, "`$a`"),
        ("macro_rules! assert { ($($t:tt)*) => {} } HEAD { assert!(crc > 1); 1 }", Rule::Macro, "rename it"),
        (
            "macro_rules! m { ($v:vis) => { $v fn shared() {} } } m!(pub); HEAD { 1 }",
            Rule::Item,
            "acts in other ports",
        ),
        (
            "mod inner { pub trait Go {} impl Go for u32 {} } pub use inner::Go; HEAD { 1 }",
            Rule::Item,
            "helpers must be private",
        ),
        (
            "macro_rules! m { ($($t:tt)*) => { $($t)* } } HEAD { m!(use x, std::process::exit(1); 1) }",
            Rule::System,
            "process",
        ),
    ]);
}

/// A macro could put an attribute, a type or a name together from its arguments.
#[test]
fn parts_of_attributes_and_of_types_are_not_put_together() {
    all_refused(&[
        (
            "macro_rules! put { ($h:tt $d:tt $g:tt $($rest:tt)*) => { $h $g $($rest)* } } put! { #[doc = \"\"] [unsafe(link_section = \".note.mine\")] fn away() {} } HEAD { 1 }",
            Rule::Attribute,
            "could be put into an attribute",
        ),
        (
            "macro_rules! put { ($h:tt $d:tt $g:tt $($rest:tt)*) => { $h $g $($rest)* } } put! { #[doc = \"\"] [cfg(fuzzing)] fn away() {} } HEAD { 1 }",
            Rule::Attribute,
            "without attributes in its arguments",
        ),
        (
            "macro_rules! m { ([$d:ident = $v:literal]) => { $v } } macro_rules! n { ($h:tt $g:tt) => { m!($g) } } HEAD { n!(#[doc = 5]) }",
            Rule::Attribute,
            "without attributes",
        ),
        ("fn caf\u{e9}(x: u32) -> u32 { x } HEAD { caf\u{e9}(crc) }", Rule::Path, "ASCII letters"),
        ("use std::panic; HEAD { panic::Location::caller().line() }", Rule::System, "panics"),
        (
            "HEAD { let kept = unsafe { libc::__errno_location().add(25) }; 1 }",
            Rule::State,
            "the address of `errno`",
        ),
        (
            "macro_rules! ty { ($f:tt $($a:ty),*) => { $f($($a),*) -> u32 } } HEAD { unsafe { *core::ptr::from_ref::<ty!(fn u32)>(todo) }(crc) }",
            Rule::FnPointer,
            "may not write function pointer types",
        ),
        ("use crate::globals::*; HEAD { unsafe { kit_mode } }", Rule::Path, "by its own name"),
    ]);
    accepted(SIGNATURE, &format!("{HEAD} {{ unsafe {{ *libc::__errno_location() = 5 }}; 1 }}"));
    accepted(
        SIGNATURE,
        &format!(
            "static T: [u32; 2] = [1, 2]; {HEAD} {{ let c = core::cell::Cell::new(crc); c.get() + T[0] }}"
        ),
    );
}

/// Spellings that the compiler reads as other ones.
#[test]
fn raw_names_and_empty_brackets_hide_nothing() {
    all_refused(&[
        (
            "fn r#use() -> u32 { option_env!(\"X\").is_some() as u32 } HEAD { r#use() }",
            Rule::System,
            "how it is built",
        ),
        (
            "HEAD { let r#use = 1; r#use + core::any::type_name::<u8>().len() as u32 }",
            Rule::System,
            "how it is built",
        ),
        ("HEAD { std::<>::process::exit(0) }", Rule::System, "process"),
        ("HEAD { unsafe { core::<>::arch::x86_64::_rdtsc() as u32 } }", Rule::System, "processor"),
        ("HEAD { unsafe { crate::ffi::<>::kit_next() } }", Rule::CallThrough, "the C original"),
        (
            "HEAD { let f = unsafe { core::mem::transmute::<usize, _>(4usize) }; f(crc) }",
            Rule::FnPointer,
            "both types",
        ),
        (
            "HEAD { crate::bits::shared(crc) }",
            Rule::Path,
            "`crate::bits::shared` is public or in another module",
        ),
        ("use crate::bits as b; HEAD { b::shared(crc) }", Rule::Path, "own name"),
        ("HEAD { use crate::bits::*; shared(crc) }", Rule::Path, "by name what you need"),
        ("struct S; HEAD { debug_assert_matches!(crc, 1); 1 }", Rule::System, "absent from a release build"),
    ]);
    for text in [
        "fn r#fn(x: u32) -> u32 { x } HEAD { r#fn(crc) ^ unsafe { *core::ptr::from_ref(&crc) } }",
        "struct At { line: u32, file: u32 } macro_rules! m { ($at:ident) => { $at.line + $at.file } } HEAD { let at = At { line: crc, file: 1 }; m!(at) + at.line }",
        "struct Mark { line: u32 } macro_rules! up { ($m:expr) => { $m = $m.wrapping_add(1) } } HEAD { let mut at = Mark { line: crc }; up!(at.line); at.line }",
        "struct Node { type_id: u32 } HEAD { let node = Node { type_id: crc }; node.type_id }",
        "fn f(x: &'static mut [u8], y: &'static str) -> usize { x.len() + y.len() } struct Cell { x: u32 } static T: Cell = Cell { x: 1 }; HEAD { T.x }",
        "HEAD { let kit_later = |x: u32| x ^ 1; kit_later(crc) }",
        "fn f(kit_later: impl Fn(u32) -> u32) -> u32 { kit_later(1) } HEAD { let Some(kit_adler32) = Some(|x: u32| x) else { return 1 }; f(|kit_later| kit_adler32(kit_later)) }",
        "fn transmute_rows(x: u32) -> u32 { x } HEAD { transmute_rows(crc) }",
        "macro_rules! m { ($t:ty, $x:expr) => { <$t>::MAX.min($x as $t) as u32 + $crate::bits::kit_rotl32($x, 1) } } HEAD { m!(u8, crc) }",
        "HEAD { let f = || { static NAMES: [&'static str; 1] = [\"a\"]; NAMES.len() }; f() as u32 }",
        "fn f<'a>(x: &'a u8) -> impl Iterator<Item = u8> + use<'a> { core::iter::once(*x) } HEAD { f(&1).count() as u32 }",
    ] {
        accepted(SIGNATURE, &text.replace("HEAD", HEAD));
    }
}

/// What is no type ends in a refusal, not in a panic.
#[test]
fn signatures_of_any_shape_are_read() {
    for ty in ["Self", "super::x", "r#type", "crate::x", "_", "kit_up"] {
        let text =
            format!("use super as kit_up; pub fn kit_crc32(crc: {ty}, buf: Option<&[u8]>) -> u32 {{ 1 }}");
        refused(&text, Rule::Requested, 1, "parameter 1");
    }
}

/// A port may have modules, traits and macros that nobody else reaches.
#[test]
fn modules_traits_and_macros_of_the_port_are_ordinary() {
    for items in [
        "mod table { pub const SIZE: usize = 4; pub trait Step { fn step(self) -> u32; } impl Step for u32 { fn step(self) -> u32 { self + 1 } } pub fn of(x: u32) -> u32 { x.step() } }",
        "mod inner { use super::*; pub(super) fn f(x: u32) -> u32 { x ^ POLY } mod deeper { pub fn g() {} } }",
        "trait Bits { fn bits(self) -> u32; } impl Bits for u8 { fn bits(self) -> u32 { self.count_ones() } } impl Bits for bool { fn bits(self) -> u32 { u32::from(self) } }",
        "trait Bits { fn bits(self) -> u32; } macro_rules! bits { ($($t:ty),*) => { $(impl Bits for $t { fn bits(self) -> u32 { self.count_ones() } })* } } bits!(u8, u16, u32);",
        "macro_rules! step { ($c:ident, $b:expr) => { $c = ($c >> 1) ^ (POLY & ($b)); if $c != $b { $c ^= 1; } }; }",
        "union Word { bytes: [u8; 4], word: u32 }",
    ] {
        accepted(SIGNATURE, &format!("{items} {HEAD} {{ crc }}"));
    }
    let text =
        format!("{HEAD} {{ macro_rules! twice {{ ($x:expr) => {{ $x.wrapping_mul(2) }}; }} twice!(crc) }}");
    accepted(SIGNATURE, &text);
}
