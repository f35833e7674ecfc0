//! The text of a module beside the ports: it is read, whether a port names it or not.

use super::super::Rule;
use super::{HEAD, MODULE, problems_in};

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
        let problems = problems_in(&format!("{MODULE}{items}"), &format!("{HEAD} {{ 1 }}"));
        let told: Vec<_> = problems.iter().filter(|p| p.rule == rule && p.reason.contains(words)).collect();
        assert_eq!((told.len(), problems.len()), (1, 1), "{items}: {problems:#?}");
    }
}

/// The hash of a port that called it would not cover its text.
#[test]
fn a_public_function_that_is_no_port_is_not_used() {
    let module = format!("{MODULE}pub fn extra(x: u32) -> u32 {{ x }}");
    for (body, is_refused) in
        [("extra(crc)", true), ("self::extra(crc)", true), ("[crc].map(extra)[0]", true), ("crc", false)]
    {
        let problems = problems_in(&module, &format!("{HEAD} {{ {body} }}"));
        let is_told = problems.iter().any(|p| p.reason.contains("`crate::checksum::extra` is public"));
        assert_eq!(is_told, is_refused, "{body}: {problems:#?}");
    }
}

#[test]
fn an_import_of_the_module_counts_for_every_port_in_it() {
    for (items, rule) in [
        ("use std::net::ToSocketAddrs;", Some(Rule::System)),
        ("use std::io::{Read as _, Write as _};", Some(Rule::System)),
        ("use std as s;", Some(Rule::Path)),
        ("use crate::ffi as libc;", Some(Rule::Path)),
        // Another port of the module may do what this one may not.
        (
            "use core::fmt::Write as _; use std::ops::*; use libc; use libc::getenv; use crate::callee::kit_crc32 as old;",
            None,
        ),
        (
            "#[allow(unused_imports)] use crate::{callee, ffi, globals}; enum E { A } use E::*; use self::E as F;",
            None,
        ),
    ] {
        let problems = problems_in(&format!("{MODULE}{items}"), &format!("{HEAD} {{ 1 }}"));
        let is_told =
            problems.iter().all(|p| Some(p.rule) == rule && p.reason.contains("an import of the module"));
        assert!(is_told && problems.is_empty() == rule.is_none(), "{items}: {problems:#?}");
    }
}
