//! Builds the port for a C program: the program provides the library's variables and the functions that the port
//! lacks.

use super::names::{Name, of_library, open};
use super::plan::{PortedFunction, Route};
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::static_library::Checks;
use crate::judge::Judge;
use crate::project::port_for_c::port_for_c;
use crate::project::ported::Ported;
use crate::rust::shims::Bound;
use crate::rust::stub_text::counting_capi_file;
use crate::symbol::Function;
use fs_err as fs;
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
    let (intercepted, inside): (Vec<_>, Vec<_>) = ported.iter().partition(|one| one.is_intercepted());
    let exported: Vec<(Bound, bool)> =
        intercepted.iter().map(|one| (one.planned.bound(), one.route == Route::Linker)).collect();
    let inside: Vec<Bound> = inside.iter().map(|one| one.planned.bound()).collect();
    let is_ported = |function: &Function| judge.project.ported(function) == Ported::Yes;
    let (texts, apart) =
        port_for_c(judge.project, (counting_capi_file(&exported, &inside), false), &is_ported)?;
    let archive = dir.join("libport.a");
    let native = judge.static_library((&dir.join("overlay"), Checks::None), &archive, &texts)?;
    let wrong = |error: object::Error| {
        Error::new(ErrorKind::Internal, format!("{} cannot be read: {error}", archive.display()))
    };
    let open = open(&fs::read(&archive)?).map_err(wrong)?;
    let all = of_library(&judge.project.library);
    let needed = all.into_iter().filter(|name| open.contains(&name.linker_name)).collect();
    Ok(PortSide { archive, native, needed, apart })
}
