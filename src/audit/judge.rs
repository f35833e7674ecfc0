//! Whether a candidate may use what a path means, and the sentence that says why not.

use super::Rule;
use super::platform::{self, Refusal};
use super::scope::{Meaning, Scopes, Space};

/// Judges what a path means; `written` is the path as it stands in the text.
pub(super) fn meaning(
    scopes: &Scopes<'_>,
    meaning: &Meaning,
    written: &str,
    space: Space,
) -> Result<(), Refusal> {
    match meaning {
        Meaning::Local | Meaning::Prelude => Ok(()),
        Meaning::Own(path) => own(scopes, path),
        Meaning::Path(path) => judge(scopes, path, space).map_err(|(rule, reason)| {
            let full = path.join("::");
            let through = if full == written { String::new() } else { format!(" (written `{written}`)") };
            (rule, format!("{reason}{through}"))
        }),
        Meaning::Unknown => Err((Rule::UnknownPath, unknown(scopes, written))),
        Meaning::Ambiguous(name) => Err((Rule::UnknownPath, ambiguous(name))),
    }
}

/// Judges a path from the root of a crate.
pub(super) fn judge(scopes: &Scopes<'_>, path: &[String], space: Space) -> Result<(), Refusal> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["crate", inner @ ..] => in_crate(scopes, inner, space),
        [root @ ("core" | "alloc" | "std"), ..] => platform::std_path(root, &path[1..]),
        ["libc"] => Ok(()),
        ["libc", name, ..] => platform::libc_name(name, scopes.allowed.libc.contains(*name)),
        _ => Err((Rule::UnknownPath, unknown(scopes, &path.join("::")))),
    }
}

fn in_crate(scopes: &Scopes<'_>, path: &[&str], space: Space) -> Result<(), Refusal> {
    let allowed = scopes.allowed;
    match path {
        [] | ["ffi" | "callee" | "globals"] => Ok(()),
        ["ffi", name, ..] => {
            let is_type = space == Space::Type && allowed.ffi.items.contains(*name);
            if allowed.ffi.foreign.contains(*name) && !is_type {
                return Err((Rule::CallThrough, foreign(scopes, name)));
            }
            known(scopes, allowed.ffi.items.contains(*name), path)
        }
        ["callee", name] if *name == scopes.name => {
            let reason =
                format!("`crate::callee::{name}` is the function itself: it leads back to the C original");
            Err((Rule::CallThrough, reason))
        }
        ["callee", name] => known(scopes, allowed.may_call(name), path),
        ["globals", name, ..] => known(scopes, allowed.has_global(name), path),
        ["capi", ..] => Err((
            Rule::CallThrough,
            "`crate::capi` holds the exported C names; a port may not use it".to_string(),
        )),
        [module] => known(scopes, *module == scopes.module || allowed.ported.contains_key(*module), path),
        [module, name] => {
            let itself = *module == scopes.module && *name == scopes.name;
            known(scopes, itself || allowed.is_ported(module, name), path)
        }
        _ => known(scopes, false, path),
    }
}

fn known(scopes: &Scopes<'_>, is_known: bool, path: &[&str]) -> Result<(), Refusal> {
    if is_known {
        return Ok(());
    }
    Err((Rule::UnknownPath, unknown(scopes, &format!("crate::{}", path.join("::")))))
}

fn foreign(scopes: &Scopes<'_>, name: &str) -> String {
    let reason = format!("`crate::ffi::{name}` is the C original; a port may not call it");
    match scopes.allowed.way_to(name) {
        Some(way) if name != scopes.name => format!("{reason}: write `{way}`"),
        _ if scopes.allowed.has_global(name) => {
            format!("`crate::ffi::{name}` is C's own variable; write `crate::globals::{name}`")
        }
        _ => reason,
    }
}

/// An item of the module: another symbol may be called only when it is ported.
fn own(scopes: &Scopes<'_>, path: &[String]) -> Result<(), Refusal> {
    let Some(name) = path.first().filter(|name| *name != scopes.name) else { return Ok(()) };
    let is_other_symbol = path.len() == 1 && scopes.allowed.around.symbols.contains(name);
    if !is_other_symbol || scopes.allowed.is_ported(scopes.module, name) {
        return Ok(());
    }
    let way = scopes.allowed.way_to(name).map(|way| format!(": write `{way}`")).unwrap_or_default();
    Err((Rule::UnknownPath, format!("`{name}` is not ported yet{way}")))
}

/// Why a name that stands for several things is refused.
pub(super) fn ambiguous(name: &str) -> String {
    format!(
        "`{name}` stands for more than one thing here (imported twice, or imported and declared); rename one"
    )
}

fn unknown(scopes: &Scopes<'_>, written: &str) -> String {
    let allowed = scopes.allowed;
    let last = written.rsplit("::").next().unwrap_or(written);
    let hint = if allowed.ffi.items.contains(last) {
        format!("; write `crate::ffi::{last}`")
    } else if allowed.has_global(last) {
        format!("; write `crate::globals::{last}`")
    } else {
        allowed.way_to(last).map(|way| format!("; write `{way}`")).unwrap_or_default()
    };
    format!("unknown path `{written}`: neither defined here nor among what a port may use{hint}")
}
