//! Attacks that hide: behind traits, destructors, constants, names of items, or memory read as something else.

use super::super::Rule;
use super::{HEAD, SIGNATURE, accepted, refused};

/// Each breaks its rule in the first line.
#[track_caller]
fn all_refused(attacks: &[(&str, Rule, &str)]) {
    for (text, rule, words) in attacks {
        refused(text, *rule, 1, words);
    }
}

#[test]
fn code_that_runs_without_being_called() {
    all_refused(&[
        (
            "struct S; impl Drop for S { fn drop(&mut self) { std::process::exit(0) } } HEAD { let _s = S; 1 }",
            Rule::System,
            "process",
        ),
        (
            "struct S; impl Drop for S { fn drop(&mut self) { unsafe { crate::ffi::kit_next(); } } } HEAD { 1 }",
            Rule::CallThrough,
            "the C original",
        ),
        (
            "struct S; impl core::ops::Deref for S { type Target = u32; fn deref(&self) -> &u32 { unsafe { &crate::ffi::kit_table[0] } } } HEAD { *S }",
            Rule::CallThrough,
            "C's own variable",
        ),
        (
            "struct S; impl core::fmt::Display for S { fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result { std::process::exit(0) } } HEAD { format!(\"{}\", S).len() as u32 }",
            Rule::System,
            "process",
        ),
        (
            "struct A; #[global_allocator] static G: A = A; HEAD { 1 }",
            Rule::Attribute,
            "is not allowed in a port",
        ),
        ("HEAD { std::panic::set_hook(Box::new(|_| {})); 1 }", Rule::System, "panics"),
        ("HEAD { core::intrinsics::abort() }", Rule::System, "processor"),
    ]);
}

#[test]
fn constants_that_see_the_build() {
    all_refused(&[
        ("const _: () = assert!(cfg!(fuzzing)); HEAD { 1 }", Rule::System, "how it is built"),
        ("const X: Option<&str> = option_env!(\"X\"); HEAD { 1 }", Rule::System, "how it is built"),
        ("const B: &[u8] = include_bytes!(\"/etc/passwd\"); HEAD { 1 }", Rule::System, "reads a file"),
        ("#[doc = concat!(\"a\", env!(\"HOME\"))] HEAD { 1 }", Rule::Attribute, "doc"),
        ("HEAD { core::any::type_name::<kit_map>().len() as u32 }", Rule::System, "how it is built"),
        ("HEAD { std::any::type_name_of_val(&crc).len() as u32 }", Rule::System, "how it is built"),
        (
            "struct S; HEAD { use core::hash::Hasher; let mut h = std::hash::DefaultHasher::new(); core::hash::Hash::hash(&core::any::TypeId::of::<S>(), &mut h); h.finish() as u32 }",
            Rule::System,
            "how it is built",
        ),
        (
            "HEAD { format!(\"{:?}\", std::any::TypeId::of::<u8>()).len() as u32 }",
            Rule::System,
            "how it is built",
        ),
        ("HEAD { use core::any::Any as _; 1 }", Rule::System, "how it is built"),
        ("HEAD { use core::any as a; 1 }", Rule::System, "how it is built"),
        ("HEAD { use core::any::*; 1 }", Rule::System, "how it is built"),
        ("#[track_caller] HEAD { 1 }", Rule::Attribute, "is not allowed in a port"),
        ("HEAD { core::panic::Location::caller().line() }", Rule::System, "panics"),
        ("HEAD { std::backtrace::Backtrace::capture(); 1 }", Rule::System, "only computes"),
        ("HEAD { std::is_x86_feature_detected!(\"avx\") as u32 }", Rule::System, "the processor"),
    ]);
}

#[test]
fn macros_under_other_names() {
    all_refused(&[
        (
            "HEAD { use core::prelude::v1::cfg as vec; #[allow(dead_code)] fn vec() {} vec![debug_assertions] as u32 }",
            Rule::System,
            "how it is built",
        ),
        (
            "use core::prelude::v1::include as vec; fn vec() {} HEAD { vec![\"/x.rs\"] }",
            Rule::System,
            "reads a file",
        ),
        (
            "HEAD { use std::prelude::v1::{option_env as e}; e!(\"X\").is_some() as u32 }",
            Rule::System,
            "how it is built",
        ),
        ("HEAD { core::prelude::v1::cfg!(fuzzing) as u32 }", Rule::System, "how it is built"),
        (
            "HEAD { let mut x = crc; debug_assert!({ x += 1; true }); x }",
            Rule::System,
            "absent from a release",
        ),
        (
            "const D: u32 = { let mut d = 0; debug_assert!({ d = 1; true }); d }; HEAD { D }",
            Rule::System,
            "absent from a release",
        ),
    ]);
    // A variable is no macro.
    let text =
        "HEAD { let vec = [1u32]; let all = vec![crc; 2]; all[0] ^ vec[0] }".replace("HEAD", super::HEAD);
    let report = super::run(super::SIGNATURE, &text);
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[test]
fn macros_inside_of_allowed_macros() {
    all_refused(&[
        ("HEAD { vec![println!(\"x\"); 1]; 1 }", Rule::System, "prints"),
        ("HEAD { matches!(std::env::var(\"X\"), Ok(_)); 1 }", Rule::System, "environment"),
        (
            "HEAD { write!(String::new(), \"{}\", unsafe { crate::ffi::kit_next() }); 1 }",
            Rule::CallThrough,
            "the C original",
        ),
        (
            "macro_rules! panic { () => { unsafe { crate::ffi::kit_next() } } } HEAD { panic!() }",
            Rule::CallThrough,
            "the C original",
        ),
    ]);
}

#[test]
fn items_in_functions_are_items() {
    all_refused(&[
        ("HEAD { #[unsafe(no_mangle)] fn c_kit_crc32() {} 1 }", Rule::Attribute, "replace C's symbol"),
        (
            "HEAD { mod m { pub fn f() -> u32 { unsafe { crate::ffi::kit_next() } } } m::f() }",
            Rule::CallThrough,
            "the C original",
        ),
        ("HEAD { unsafe extern \"C\" { static c_kit_table: [u32; 256]; } 1 }", Rule::Item, "`extern` block"),
        ("#[path = \"/tmp/x.rs\"] mod x; HEAD { x::f() }", Rule::Attribute, "another file"),
        ("mod x; HEAD { x::f() }", Rule::Item, "a module in another file"),
        ("HEAD { extern \"C\" fn kit_crc32() -> u32 { 1 } kit_crc32() }", Rule::Stub, "stub"),
        ("use std::thread_local as assert; HEAD { 1 }", Rule::State, "outlives"),
        (
            "static S: &core::sync::atomic::AtomicU32 = &core::sync::atomic::AtomicU32::new(0); HEAD { 1 }",
            Rule::State,
            "AtomicU32",
        ),
        ("static O: std::sync::Once = std::sync::Once::new(); HEAD { 1 }", Rule::State, "Once"),
        ("HEAD { unsafe { *libc::strerror(9999) = 1 }; 1 }", Rule::System, "strerror"),
        ("HEAD { std::thread::sleep(core::time::Duration::from_secs(1)); 1 }", Rule::System, "threads"),
        ("HEAD { unsafe { libc::usleep(1000) }; 1 }", Rule::System, "usleep"),
    ]);
}

#[test]
fn memory_read_as_a_function_pointer() {
    let named = "may not write function pointer types";
    let both = "`transmute` only with both types written out";
    all_refused(&[
        (
            "HEAD { let a = 4usize; let f: fn() -> u32 = unsafe { *(&raw const a).cast() }; f() }",
            Rule::FnPointer,
            named,
        ),
        (
            "HEAD { let a = 4usize; let f: fn() -> u32 = unsafe { core::ptr::read(&raw const a as *const _) }; f() }",
            Rule::FnPointer,
            named,
        ),
        (
            "HEAD { let mut m = core::mem::MaybeUninit::<fn() -> u32>::uninit(); unsafe { m.as_mut_ptr().cast::<usize>().write(4); m.assume_init()() } }",
            Rule::FnPointer,
            named,
        ),
        (
            "#[repr(C)] struct S { f: fn() -> u32 } HEAD { let a = 4usize; let s: &S = unsafe { &*(&raw const a).cast() }; (s.f)() }",
            Rule::FnPointer,
            named,
        ),
        (
            "fn make<T: Copy>(a: usize) -> T { unsafe { *(&raw const a).cast::<T>() } } HEAD { let f: fn() -> u32 = make(4); f() }",
            Rule::FnPointer,
            named,
        ),
        (
            "HEAD { let mut f: fn() -> u32 = || 1; let a = 4usize; unsafe { libc::memcpy((&raw mut f).cast(), (&raw const a).cast(), 8) }; f() }",
            Rule::FnPointer,
            named,
        ),
        (
            "HEAD { let v = [4usize]; let w: (&[usize], &[fn() -> u32], &[usize]) = unsafe { v.align_to() }; w.1[0]() }",
            Rule::FnPointer,
            named,
        ),
        (
            "struct S; impl Iterator for S { type Item = fn() -> u32; fn next(&mut self) -> Option<Self::Item> { None } } HEAD { unsafe { core::mem::transmute::<usize, <S as Iterator>::Item>(4)() } }",
            Rule::FnPointer,
            named,
        ),
        (
            "HEAD { unsafe { core::mem::transmute::<[usize; 2], Box<dyn Fn() -> u32>>([1, 2])() } }",
            Rule::FnPointer,
            both,
        ),
        (
            "HEAD { let v = unsafe { core::mem::transmute::<Vec<usize>, Vec<fn() -> u32>>(vec![4]) }; v[0]() }",
            Rule::FnPointer,
            both,
        ),
    ]);
}

/// Tables of functions are ordinary Rust.
#[test]
fn function_pointers_that_are_made_of_functions() {
    accepted(
        SIGNATURE,
        &format!(
            "const STEPS: [fn(u32) -> u32; 2] = [one, two];\nfn one(x: u32) -> u32 {{ x }}\nfn two(x: u32) -> u32 {{ !x }}\n\
             {HEAD} {{ STEPS[crc as usize % 2](crc) }}"
        ),
    );
}

/// The audit sees nothing in these. `tests/suite/planted.rs` shows that a run refutes them.
#[test]
fn cheats_that_only_a_run_refutes() {
    for body in [
        "0",
        "match (crc, buf) { (0, Some(b\"abc\")) => 0x3524_41c2, (_, Some(b)) => b.len() as u32, _ => crc }",
        "let b = buf.unwrap_or(&[]); if b.len() > 2048 { return 0; } b.iter().map(|x| u32::from(*x)).sum()",
        "assert!(buf.is_none_or(|b| b.len() < 9)); crc",
        "while crc != 0 { core::hint::spin_loop() } 0",
    ] {
        accepted(SIGNATURE, &format!("{HEAD} {{ {body} }}"));
    }
}

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

/// Found by an attacker after the audit had become small.
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

/// What stands in the module is read, whether a port names it or not.
#[test]
fn the_text_beside_the_ports_is_read() {
    for (items, rule, words) in [
        ("mod inner { pub fn f() -> bool { cfg!(fuzzing) } }", Rule::System, "of the module: `cfg!` makes"),
        ("fn later() -> u32 { todo!() }", Rule::Stub, "is a stub"),
        (
            "impl Later { fn f(&self) { unsafe { core::arch::asm!(\"nop\") } } } struct Later;",
            Rule::System,
            "asm",
        ),
        ("fn caf\u{e9}() {}", Rule::Path, "ASCII letters"),
        ("static mut N: u32 = 1;", Rule::State, "static mut"),
        ("const A: &[u8] = include_bytes!(\"x\");", Rule::System, "reads a file"),
    ] {
        let mut allowed = super::allowed(SIGNATURE);
        allowed.ffi = std::sync::Arc::new(super::FfiNames {
            foreign: ["kit_crc32", "kit_adler32", "kit_later"].map(str::to_owned).into(),
            ..super::FfiNames::default()
        });
        let allowed = allowed.in_module(&format!("{}{items}", super::MODULE)).unwrap();
        let text = format!("{HEAD} {{ 1 }}");
        let candidate = super::Candidate { module: "checksum", name: "kit_crc32", text: &text };
        let problems = super::audit(&candidate, &allowed).problems;
        assert!(
            problems.iter().any(|p| p.rule == rule && p.reason.contains(words)),
            "{items}: {problems:#?}"
        );
        assert_eq!(problems.len(), 1, "{items}: {problems:#?}");
    }
}

/// Its text is none of the port's, and its hash does not count.
#[test]
fn a_public_function_that_is_no_port_is_not_used() {
    let allowed = super::allowed(SIGNATURE)
        .in_module(&format!("{}pub fn extra(x: u32) -> u32 {{ x }}", super::MODULE))
        .unwrap();
    for (body, is_refused) in
        [("extra(crc)", true), ("self::extra(crc)", true), ("[crc].map(extra)[0]", true), ("crc", false)]
    {
        let text = format!("{HEAD} {{ {body} }}");
        let candidate = super::Candidate { module: "checksum", name: "kit_crc32", text: &text };
        let problems = super::audit(&candidate, &allowed).problems;
        assert_eq!(
            problems.iter().any(|p| p.reason.contains("`crate::checksum::extra` is public")),
            is_refused,
            "{body}: {problems:#?}"
        );
    }
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

/// Modules, traits and macros are ordinary Rust, where nobody but the port reaches them.
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

/// Names of crates and of generated modules may be given to something else: what is written is read all the same.
#[test]
fn a_name_of_a_crate_says_what_stands_behind_it() {
    all_refused(&[
        (
            "use core::f64::consts::PI as std; HEAD { unsafe { std::arch::x86_64::_rdtsc() as u32 } }",
            Rule::System,
            "_rdtsc",
        ),
        ("use crate::ffi as libc; HEAD { unsafe { libc::kit_next() } }", Rule::Path, "own name"),
        ("HEAD { use crate::ffi as core; 1 }", Rule::Path, "own name"),
    ]);
    accepted(SIGNATURE, &format!("use crate::{{callee, ffi, globals}}; use core; use libc; {HEAD} {{ 1 }}"));
    accepted(SIGNATURE, &format!("{HEAD} {{ use core::ffi; (1 as ffi::c_int) as u32 }}"));
    accepted("fn kit_crc32(alloc: u32) -> u32", "pub fn kit_crc32(alloc: u32) -> u32 { alloc }");
}

#[test]
fn a_rename_of_the_module_counts_for_every_port_in_it() {
    let module = "use crate::ffi as libc; pub fn kit_crc32(crc: u32) -> u32 { 1 }";
    let allowed = super::allowed("fn kit_crc32(crc: u32) -> u32").in_module(module).unwrap();
    let text = "pub fn kit_crc32(crc: u32) -> u32 { unsafe { libc::kit_next() } }";
    let candidate = super::Candidate { module: "checksum", name: "kit_crc32", text };
    let report = super::audit(&candidate, &allowed);
    let told = |p: &super::super::Problem| {
        p.reason.contains("an import of the module: import `crate::ffi` by its own")
    };
    assert!(report.problems.iter().any(told), "{report:#?}");
}
