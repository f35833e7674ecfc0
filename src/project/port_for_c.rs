//! The port's crate as a library for C programs: its files that differ from the tree, because the program has the
//! library's variables and the functions that the port lacks.

use super::Project;
use crate::c::archive::variable_reached_by;
use crate::error::{Error, ErrorKind, Result};
use crate::rust::shims::Bound;
use crate::rust::stub_text::callee_file;
use crate::rust::{dropin_crate, globals};
use crate::symbol::Function;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file of the port crate: its path and its text.
pub type File = (PathBuf, String);

/// The files of the port crate that differ from the tree where C programs are linked with it, and the variables with
/// separate copies. `capi` is the text of its C ABI; `is_ported` says which functions have a port in the crate. With
/// `is_judging`, the program judges in place.
///
/// # Errors
/// `Internal` where the generated Rust cannot be read.
pub fn port_for_c(
    project: &Project,
    (capi, is_judging): (String, bool),
    is_ported: &dyn Fn(&Function) -> bool,
) -> Result<(Vec<File>, Vec<String>)> {
    // Each variable exists once, so nothing must be copied between sides.
    let all: Vec<Bound> = project.callable().map(|p| Bound { shared: &[], ..p.bound() }).collect();
    let callee = callee_file(&all, is_ported);
    let variables = project.library.globals.iter();
    let variables: BTreeMap<String, String> = variables
        .filter_map(|g| Some((globals::identifier(g.name.as_str()), variable_reached_by(g, is_judging)?)))
        .collect();
    let (text, _) = globals::globals_file(&project.library, &project.values);
    let (text, apart) = dropin_crate::globals_file(&text, &variables).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the text of globals.rs is not Rust: {error}"))
    })?;
    // Only its function uses a variable inside a function, and that is the port.
    let is_inside = |name: &String| {
        let mut globals = project.library.globals.iter().filter(|global| global.local_to.is_some());
        globals.any(|global| globals::identifier(global.name.as_str()) == *name)
    };
    let apart = apart.into_iter().filter(|name| !is_inside(name)).collect();
    let files = [
        ("src/ffi.rs", dropin_crate::ffi_file(&project.ffi)),
        ("src/globals.rs", text),
        ("src/capi.rs", capi),
        ("src/callee.rs", callee),
    ];
    Ok((files.into_iter().map(|(path, text)| (PathBuf::from(path), text)).collect(), apart))
}
