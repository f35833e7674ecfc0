//! Names that a port may not define: those of crates and of generated modules. Rust keeps types, values and macros
//! apart, so a constant called `core` does not hide the crate `core`; a list of names cannot make that distinction.

use super::Rule;
use super::std_api::Refusal;

/// Crates: a longer path that begins with one means the crate.
const CRATES: [&str; 4] = ["core", "alloc", "std", "libc"];
/// Modules of the port that are generated.
const MODULES: [&str; 3] = ["ffi", "callee", "globals"];

/// Whether a path that begins with this name and has more behind it leads into that crate, whatever else has the name.
pub(super) fn is_crate(name: &str) -> bool {
    CRATES.contains(&name)
}

/// Why nothing may get this name, if so.
pub(super) fn refusal(name: &str) -> Option<Refusal> {
    let what = match name {
        _ if CRATES.contains(&name) => "a crate",
        _ if MODULES.contains(&name) => "a generated module",
        _ => return None,
    };
    let reason = format!("`{name}` is reserved for {what}: rename it");
    Some((Rule::UnknownPath, reason))
}
