//! Builds the port for a C program: the program provides the library's variables and the functions that the port
//! lacks.

use super::names::{Name, of_library, open};
use super::plan::PortedFunction;
use crate::c::archive::reached_by;
use crate::error::{Error, ErrorKind, Result};
use crate::judge::Judge;
use crate::project::Project;
use crate::project::ported::Ported;
use crate::rust::shims::Bound;
use crate::rust::stub_text::{callee_file, counting_capi_file};
use crate::rust::{dropin_crate, globals};
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The port as a library, with its requirements.
#[derive(Debug)]
pub(super) struct PortSide {
    pub archive: PathBuf,
    /// rustc's linker arguments after it.
    pub native: Vec<String>,
    /// The C names that it uses.
    pub needed: Vec<Name>,
    /// Variables of which C and the port have separate copies.
    pub apart: Vec<String>,
}

/// Builds it below `dir`. Functions that C programs call come first in `ported`.
pub(super) fn build(judge: &Judge, dir: &Path, ported: &[PortedFunction]) -> Result<PortSide> {
    let intercepted = ported.iter().filter(|one| one.is_intercepted());
    let exported: Vec<Bound> = intercepted.map(|one| one.planned.bound()).collect();
    let (texts, apart) = for_c(judge.project, counting_capi_file(&exported))?;
    let archive = dir.join("libport.a");
    let native = judge.static_library(&dir.join("overlay"), &archive, &texts)?;
    let wrong = |error: object::Error| {
        Error::new(ErrorKind::Internal, format!("{} cannot be read: {error}", archive.display()))
    };
    let open = open(&fs::read(&archive)?).map_err(wrong)?;
    let all = of_library(&judge.project.library);
    let needed = all.into_iter().filter(|name| open.contains(&name.linker_name)).collect();
    Ok(PortSide { archive, native, needed, apart })
}

/// A file of the port crate: its path and its text.
type File = (PathBuf, String);

/// The files of the port crate that differ from the tree where C programs are linked with it, and the variables with
/// separate copies. `capi` is the text of its C ABI.
///
/// # Errors
/// `Internal` where the generated Rust cannot be read.
pub fn for_c(project: &Project, capi: String) -> Result<(Vec<File>, Vec<String>)> {
    // Each variable exists once, so nothing must be copied between sides.
    let all: Vec<Bound> = project.planned.iter().map(|p| Bound { shared: &[], ..p.bound() }).collect();
    let callee = callee_file(&all, &|function| project.ported(function) == Ported::Yes);
    let variables = project.library.globals.iter();
    let variables: BTreeMap<String, String> = variables
        .map(|g| (globals::identifier(g.name.as_str()), reached_by(g.linkage, &g.module, &g.c_name)))
        .collect();
    let (text, _) = globals::globals_file(&project.library, &project.values);
    let (text, apart) = dropin_crate::globals_file(&text, &variables).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the text of globals.rs is not Rust: {error}"))
    })?;
    let files = [
        ("src/ffi.rs", dropin_crate::ffi_file(&project.ffi)),
        ("src/globals.rs", text),
        ("src/capi.rs", capi),
        ("src/callee.rs", callee),
    ];
    Ok((files.into_iter().map(|(path, text)| (PathBuf::from(path), text)).collect(), apart))
}
