//! Variables of C that Rust has no static for: their C text, and whether a port may have a constant instead.

use crate::error::Result;
use crate::port::prompt::ffi_items::identifiers;
use crate::project::Project;
use crate::symbol::{Function, Global};
use fs_err as fs;
use serde::Serialize;
use std::collections::BTreeSet;

/// Most bytes of a variable's C text that a prompt shows.
const LONGEST: usize = 4096;

/// A variable of C without a Rust static.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CVariable {
    pub name: String,
    pub text: String,
    /// Whether it always has the value that its text shows.
    pub constant: bool,
}

/// The variable as C defines it.
///
/// # Errors
/// `Io` where C files cannot be read.
pub fn c_variable(project: &Project, global: &Global) -> Result<CVariable> {
    let text = text(project, global)?;
    let is_cut = text.len() > LONGEST;
    let shown: String = match is_cut {
        true => format!("{} /* the rest is left out */", &text[..text.floor_char_boundary(LONGEST)]),
        false => text.clone(),
    };
    let constant = !is_cut && is_constant(project, global, &text);
    Ok(CVariable { name: global.c_name.clone(), text: shown, constant })
}

/// Why no port of the function can do what C does: it uses a variable that may change and that Rust has no static for.
///
/// # Errors
/// `Io` where C files cannot be read.
pub fn out_of_reach(project: &Project, function: &Function) -> Result<Option<String>> {
    let keys: BTreeSet<_> = function.globals_read.iter().chain(&function.globals_written).collect();
    for global in keys.into_iter().filter_map(|key| project.library.global(key)) {
        let Some(why) = project.without_static(&global.name) else { continue };
        if !c_variable(project, global)?.constant {
            let name = &global.c_name;
            return Ok(Some(format!(
                "it uses `{name}`, which may change and has no Rust counterpart: {why}"
            )));
        }
    }
    Ok(None)
}

/// Whether nothing changes it, and no other variable is part of its value.
fn is_constant(project: &Project, global: &Global, own: &str) -> bool {
    let library = &project.library;
    let is_written = library.functions.iter().any(|function| function.globals_written.contains(&global.key));
    // A function that passes on its own variable may have it only read.
    let is_own = global.local_to.is_some() && !is_written;
    let is_fixed = !global.is_variable() || is_own;
    let names = identifiers(own);
    let mut others = library.globals.iter().filter(|other| other.key != global.key);
    is_fixed && !is_written && !own.contains('&') && !others.any(|other| names.contains(&other.c_name))
}

fn text(project: &Project, global: &Global) -> Result<String> {
    let place = &global.place;
    let file = fs::read(project.root()?.join(&place.file.0))?;
    Ok(String::from_utf8_lossy(file.get(place.start..place.end).unwrap_or_default()).into_owned())
}
