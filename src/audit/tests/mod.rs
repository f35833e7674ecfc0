//! The audit against cheats, and against honest ports.

mod attacks;
mod beside;
mod call_through;
mod cheats;
mod honest;
mod honest_c;
mod macros;

use super::{Allowed, AuditReport, Candidate, FfiNames, Problem, Rule, audit};

/// The generated bindings of a small library.
const FFI: &str = "
pub const KIT_OK: ::core::ffi::c_int = 0;
pub const KIT_ERANGE: ::core::ffi::c_int = 2;
#[repr(C)] #[derive(Clone, Copy)] pub struct kit_map { pub used: usize, pub slots: *mut u64 }
#[repr(C)] pub struct kit_point { pub x: i32, pub y: i32 }
pub type kit_cmp = ::core::option::Option<unsafe extern \"C\" fn(*const u8, *const u8) -> i32>;
pub mod kit_kind { pub type Type = u32; pub const KIT_SMALL: Type = 0; pub const KIT_BIG: Type = 1; }
unsafe extern \"C\" {
    #[link_name = \"c_kit_crc32\"] pub fn kit_crc32(crc: u32, buf: *const u8, len: usize) -> u32;
    #[link_name = \"c_kit_hash\"] pub fn kit_hash(buf: *const u8) -> u32;
    #[link_name = \"c_kit_next\"] pub fn kit_next() -> u32;
    #[link_name = \"c_kit_table\"] pub static kit_table: [u32; 256];
}
";

/// The module as generated, with one port of before.
const MODULE: &str = "
//! Generated.
use crate::ffi::kit_map;
const POLY: u32 = 0xedb88320;
pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32 { unimplemented!(\"kit_crc32\") }
pub fn kit_adler32(adler: u32, buf: &[u8]) -> u32 { adler ^ buf.len() as u32 }
pub fn kit_later(x: u32) -> u32 { unimplemented!(\"kit_later\") }
";

fn allowed(signature: &str) -> Allowed {
    let mut ffi = FfiNames::read(FFI).unwrap();
    ffi.foreign.extend(["kit_adler32", "kit_later"].map(str::to_owned));
    let mut allowed = Allowed::new(syn::parse_str(signature).unwrap());
    allowed.ffi = ffi.into();
    let mut allowed = allowed.in_module(MODULE).unwrap();
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect();
    allowed.callees = std::sync::Arc::new(names(&["kit_hash", "kit_later"]));
    allowed.globals = names(&["kit_table", "kit_mode"]);
    let ported = [("checksum", names(&["kit_adler32"])), ("bits", names(&["kit_rotl32"]))];
    allowed.ported =
        std::sync::Arc::new(ported.into_iter().map(|(module, names)| (module.into(), names)).collect());
    allowed
}

/// Audits `text` as a reply for its function `kit_crc32`.
fn run(signature: &str, text: &str) -> AuditReport {
    let name = "kit_crc32";
    audit(&Candidate { module: "checksum", name, text }, &allowed(signature))
}

const SIGNATURE: &str = "fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32";
const HEAD: &str = "pub fn kit_crc32(crc: u32, buf: Option<&[u8]>) -> u32";

/// `text`, in which `HEAD` stands for the right signature, breaks `rule` in `line`, and the reason has `words`.
#[track_caller]
fn refused(text: &str, rule: Rule, line: usize, words: &str) {
    let text = text.replace("HEAD", HEAD);
    let report = run(SIGNATURE, &text);
    let hit = report.problems.iter().any(|p| p.rule == rule && p.line == line && p.reason.contains(words));
    assert!(hit, "{text}\nwanted {rule:?} in line {line} with `{words}`, got {:#?}", report.problems);
}

/// The number of unsafe blocks of a clean candidate.
#[track_caller]
fn accepted(signature: &str, text: &str) -> usize {
    let report = run(signature, text);
    assert!(report.problems.is_empty(), "{text}\n{:#?}", report.problems);
    report.unsafe_code.count
}

/// Each breaks its rule in the first line.
#[track_caller]
fn all_refused(attacks: &[(&str, Rule, &str)]) {
    for (text, rule, words) in attacks {
        refused(text, *rule, 1, words);
    }
}

/// The problems of `text`, a reply for `kit_crc32`, in the module with this text.
fn problems_in(module: &str, text: &str) -> Vec<Problem> {
    let allowed = allowed(SIGNATURE).in_module(module).unwrap();
    audit(&Candidate { module: "checksum", name: "kit_crc32", text }, &allowed).problems
}
