//! Decides whether a candidate may use the item that a path resolves to, and words the refusal.

use super::Rule;
use super::own_crate::Allowed;
use super::scope::{Meaning, Space};
use super::std_api::{self, Refusal};

/// The port in question: its module and name, and the names that it may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requested<'a> {
    pub module: &'a str,
    pub name: &'a str,
    pub allowed: &'a Allowed,
}

/// Judges what a path means; `written` is the path as it stands in the text.
pub(super) fn meaning(
    port: Requested<'_>,
    meaning: &Meaning,
    written: &str,
    space: Space,
) -> Result<(), Refusal> {
    match meaning {
        Meaning::Local | Meaning::Prelude => Ok(()),
        Meaning::Own(path) => own(port, path),
        Meaning::Path(path) => judge(port, path, space).map_err(|(rule, reason)| {
            let full = path.join("::");
            let through = if full == written { String::new() } else { format!(" (written `{written}`)") };
            (rule, format!("{reason}{through}"))
        }),
        Meaning::Unknown => Err((Rule::UnknownPath, unknown(port, written))),
        Meaning::Ambiguous(name) => Err((Rule::UnknownPath, ambiguous(name))),
    }
}

/// Judges a path from the root of a crate.
pub(super) fn judge(port: Requested<'_>, path: &[String], space: Space) -> Result<(), Refusal> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["crate", inner @ ..] => in_crate(port, inner, space),
        [root @ ("core" | "alloc" | "std"), ..] => std_api::std_path(root, &path[1..]),
        ["libc"] => Ok(()),
        ["libc", name, ..] if port.allowed.must_be_replaceable(name) => Err((
            Rule::System,
            format!(
                "programs can replace `{name}` for this library: use the variable that leads to it, as C does"
            ),
        )),
        ["libc", name, ..] => std_api::libc_name(name, port.allowed.libc.contains(*name)),
        _ => Err((Rule::UnknownPath, unknown(port, &path.join("::")))),
    }
}

fn in_crate(port: Requested<'_>, path: &[&str], space: Space) -> Result<(), Refusal> {
    let allowed = port.allowed;
    match path {
        [] | ["ffi" | "callee" | "globals"] => Ok(()),
        ["ffi", name, ..] => {
            let is_type = space == Space::Type && allowed.ffi.items.contains(*name);
            if allowed.ffi.foreign.contains(*name) && !is_type {
                return Err((Rule::CallThrough, foreign(port, name)));
            }
            known(port, allowed.ffi.items.contains(*name), path)
        }
        ["callee", name] if *name == port.name => {
            let reason =
                format!("`crate::callee::{name}` is the function itself: it leads back to the C original");
            Err((Rule::CallThrough, reason))
        }
        ["callee", name] => known(port, allowed.may_call(name), path),
        ["globals", name, ..] => known(port, allowed.has_global(name), path),
        ["capi", name] if *name != port.name && allowed.module_of(name).is_some() => Ok(()),
        ["capi", ..] => Err((
            Rule::CallThrough,
            "`crate::capi` has the exported C names; a port may use only other ported functions there"
                .to_string(),
        )),
        [module] => known(port, *module == port.module || allowed.ported.contains_key(*module), path),
        [module, name] => {
            let itself = *module == port.module && *name == port.name;
            known(port, itself || allowed.is_ported(module, name), path)
        }
        _ => known(port, false, path),
    }
}

fn known(port: Requested<'_>, is_known: bool, path: &[&str]) -> Result<(), Refusal> {
    if is_known {
        return Ok(());
    }
    Err((Rule::UnknownPath, unknown(port, &format!("crate::{}", path.join("::")))))
}

fn foreign(port: Requested<'_>, name: &str) -> String {
    let reason = format!("`crate::ffi::{name}` is the C original; a port may not call it");
    match port.allowed.way_to(name) {
        Some(way) if name != port.name => format!("{reason}: write `{way}`"),
        _ if port.allowed.has_global(name) => {
            format!("`crate::ffi::{name}` is C's own variable; write `crate::globals::{name}`")
        }
        _ => reason,
    }
}

/// An item of the module: another symbol may be called only when it is ported.
fn own(port: Requested<'_>, path: &[String]) -> Result<(), Refusal> {
    let Some(name) = path.first().filter(|name| *name != port.name) else { return Ok(()) };
    let is_other_symbol = path.len() == 1 && port.allowed.around.symbols.contains(name);
    if !is_other_symbol || port.allowed.is_ported(port.module, name) {
        return Ok(());
    }
    let way = port.allowed.way_to(name).map(|way| format!(": write `{way}`")).unwrap_or_default();
    Err((Rule::UnknownPath, format!("`{name}` is not ported yet{way}")))
}

/// Why a name that stands for several things is refused.
pub(super) fn ambiguous(name: &str) -> String {
    format!(
        "`{name}` stands for more than one thing here (imported twice, or imported and declared); rename one"
    )
}

fn unknown(port: Requested<'_>, written: &str) -> String {
    let allowed = port.allowed;
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
