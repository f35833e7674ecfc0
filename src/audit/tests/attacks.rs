//! Attacks that hide: behind traits, destructors, constants, names of items, or memory read as something else.

use super::super::Rule;
use super::{HEAD, SIGNATURE, accepted, all_refused};

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
