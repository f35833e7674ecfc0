//! The allowed parts of Rust's libraries, of the `libc` crate, of macros and of attributes: tables, with reasons for
//! exclusions. `libc_facts` lists the system's functions. Nothing here reads syntax.

use super::Rule;
use crate::libc_facts::{self as libc, ForPorts};
use crate::rust::macro_names::STD_MACROS;

/// A refusal: the rule and the reason.
pub(super) type Refusal = (Rule, String);

/// Names that need no `use`.
#[rustfmt::skip]
const PRELUDE: &[&str] = &[
    "AsMut", "AsRef", "Box", "Clone", "Copy", "Default", "DoubleEndedIterator", "Drop", "Eq", "Err",
    "ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce", "From", "FromIterator", "Hash", "Into",
    "IntoIterator", "Iterator", "None", "Ok", "Option", "Ord", "PartialEq", "PartialOrd", "Result", "Send",
    "Sized", "Some", "String", "Sync", "ToOwned", "ToString", "TryFrom", "TryInto", "Unpin", "Vec",
    "align_of", "align_of_val", "bool", "char", "drop", "f32", "f64", "i128", "i16", "i32", "i64", "i8",
    "isize", "size_of", "size_of_val", "str", "u128", "u16", "u32", "u64", "u8", "usize",
];

/// Whether a name needs no `use`: a type, trait, value or primitive type of Rust's prelude.
pub fn is_prelude(name: &str) -> bool {
    PRELUDE.contains(&name)
}

/// Modules of `core`, `alloc` and `std` that only compute.
#[rustfmt::skip]
const MODULES: &[&str] = &[
    "array", "ascii", "borrow", "boxed", "cell", "char", "clone", "cmp", "collections", "convert",
    "default", "error", "f32", "f64", "ffi", "fmt", "hash", "hint", "i128", "i16", "i32", "i64", "i8",
    "isize", "iter", "marker", "mem", "num", "ops", "option", "prelude", "primitive", "ptr", "rc", "result",
    "slice", "str", "string", "u128", "u16", "u32", "u64", "u8", "usize", "vec",
];

/// Judges `core::<path>` (or `alloc::`, `std::`); an empty path is the crate itself.
pub(super) fn std_path(root: &str, path: &[String]) -> Result<(), Refusal> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let full = || format!("`{root}::{}`", path.join("::"));
    match names.as_slice() {
        [] | ["os"] | ["os", "raw", ..] | ["sync"] | ["sync", "atomic", ..] | ["sync", "Arc"] => Ok(()),
        ["alloc"]
        | ["alloc", "Layout" | "alloc" | "alloc_zeroed" | "dealloc" | "realloc" | "handle_alloc_error", ..] => {
            Ok(())
        }
        ["sync", ..] => Err((Rule::State, format!("{} holds state that outlives a call", full()))),
        ["time", "Duration", ..] => Ok(()),
        // Names of types, and their numbers: another build of the same text has others.
        ["any", ..] => Err((Rule::System, format!("{} makes the port depend on how it is built", full()))),
        // Whichever way leads there: `core::prelude::v1` has them too.
        [first, .., name] if MODULES.contains(first) => macro_refusal(name).map_or(Ok(()), Err),
        [name] if macro_refusal(name).is_some() => {
            Err(macro_refusal(name).expect("the guard has just seen it"))
        }
        [first] if MODULES.contains(first) => Ok(()),
        // `use std::panic` brings in a module, too.
        [name] if is_macro(name) && *name != "panic" => Ok(()),
        [first, ..] => Err((Rule::System, format!("{} is not allowed: {}", full(), why_not(first)))),
    }
}

/// Whether a macro of Rust's own libraries has this name.
pub(super) fn is_macro(name: &str) -> bool {
    STD_MACROS.contains(&name) || macro_refusal(name).is_some()
}

fn why_not(module: &str) -> &'static str {
    match module {
        "process" => "a port may not start, end or leave processes",
        "fs" | "path" => "a port may not touch files",
        "net" => "a port may not use the network",
        "env" => "a port may not depend on the environment",
        "thread" => "a port may not start threads or keep state in them",
        "io" => "a port may not read or write outside its arguments",
        "time" => "a port may not depend on the clock",
        "panic" => "a port may not catch or hide panics",
        "arch" | "intrinsics" | "simd" => "a port may not depend on the processor",
        "alloc" => "allocate with `Vec`, `Box`, or the `libc` function that C uses",
        _ => "a port only computes",
    }
}

/// Judges `libc::<name>`; `extra` are the functions that the original calls.
pub(super) fn libc_name(name: &str, extra: bool) -> Result<(), Refusal> {
    let allowed = libc::for_ports(name);
    if allowed == ForPorts::Never {
        return Err((Rule::System, format!("`libc::{name}` is not allowed in a port")));
    }
    if extra || allowed == ForPorts::Call || is_libc_type(name) || is_constant(name) {
        return Ok(());
    }
    if name == "strtok" {
        let reason = "`libc::strtok` holds state that outlives a call; use `libc::strtok_r`";
        return Err((Rule::State, reason.to_string()));
    }
    let reason = format!(
        "`libc::{name}` is not among the libc names that a port may use (memory, strings, errno, types)"
    );
    Err((Rule::System, reason))
}

/// Whether code of a port may lead to this symbol of the C library of the system; `extra` as above.
pub(super) fn libc_symbol(name: &str, extra: bool) -> bool {
    match libc::for_ports(name) {
        ForPorts::Call | ForPorts::Link => true,
        ForPorts::AsOriginal => extra,
        ForPorts::Never => false,
    }
}

/// Structs of the C library whose names no function has: they hold values, and reach nothing.
const STRUCTS: [&str; 8] =
    ["timespec", "timeval", "timezone", "tm", "lconv", "iovec", "itimerval", "itimerspec"];

fn is_libc_type(name: &str) -> bool {
    name.starts_with("c_") || name.ends_with("_t") || STRUCTS.contains(&name)
}

fn is_constant(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && chars.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Why a well-known macro may not be called.
pub(super) fn macro_refusal(name: &str) -> Option<Refusal> {
    let (rule, why) = match name {
        "unimplemented" | "todo" => (Rule::Stub, "is a stub; a port must be complete"),
        "print" | "println" | "eprint" | "eprintln" | "dbg" => {
            (Rule::System, "prints; a port has no output of its own")
        }
        "include" | "include_str" | "include_bytes" => (Rule::System, "reads a file at build time"),
        "env" | "option_env" | "cfg" | "cfg_select" => {
            (Rule::System, "makes the port depend on how it is built")
        }
        name if name.starts_with("debug_assert") => {
            (Rule::System, "is absent from a release build: use `assert!`, or leave it out")
        }
        "asm" | "global_asm" | "naked_asm" => (Rule::System, "is machine code, which no audit can read"),
        "thread_local" => (Rule::State, "holds state that outlives a call"),
        "stringify" => (Rule::Macro, "shows comments and blanks of the port, which no evidence covers"),
        "concat_idents" => (Rule::Macro, "can hide names from the audit"),
        "is_x86_feature_detected" | "is_aarch64_feature_detected" => {
            (Rule::System, "makes the port depend on the processor")
        }
        "line" | "column" | "file" | "module_path" => {
            (Rule::Macro, "makes the port depend on its place in the source")
        }
        _ => return None,
    };
    Some((rule, format!("`{name}!` {why}")))
}

/// Attributes without influence on what runs or is exported; `doc` and `derive` are judged by their arguments.
pub(super) fn is_plain_attribute(name: &str) -> bool {
    matches!(
        name,
        "inline"
            | "cold"
            | "must_use"
            | "allow"
            | "expect"
            | "warn"
            | "deny"
            | "repr"
            | "default"
            | "rustfmt::skip"
    )
}

/// Why an attribute may not stand in a port.
pub(super) fn attribute_refusal(text: &str) -> &'static str {
    let has = |word: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word);
    if ["no_mangle", "export_name", "link_name", "link_section", "link", "used"].into_iter().any(has) {
        "it would replace C's symbol with the port's; only the tool exports names"
    } else if has("cfg") || has("cfg_attr") || has("test") {
        "a port must be the same in every build"
    } else if has("path") {
        "it reads another file"
    } else {
        "only doc, inline, cold, must_use, allow, repr and the standard derives are allowed in a port"
    }
}

pub(super) fn is_plain_derive(name: &str) -> bool {
    matches!(
        name,
        "Clone" | "Copy" | "Debug" | "PartialEq" | "Eq" | "PartialOrd" | "Ord" | "Hash" | "Default"
    )
}

/// Types that make a static mutable from inside.
pub(super) fn is_interior(name: &str) -> bool {
    name.starts_with("Atomic")
        || matches!(
            name,
            "Cell"
                | "RefCell"
                | "UnsafeCell"
                | "SyncUnsafeCell"
                | "OnceCell"
                | "LazyCell"
                | "Mutex"
                | "RwLock"
                | "OnceLock"
                | "LazyLock"
                | "Once"
                | "Condvar"
                | "ReentrantLock"
        )
}
