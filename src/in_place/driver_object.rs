//! Compiles a driver. The functions of headers of which it has copies have entries there, as those of the library have.

use super::driver::{Driver, Language};
use crate::c::entries::{CALLED, ROOM};
use crate::c::own_copies::{CPP, OwnCopy, own_copies};
use crate::c::signatures::{Signature, signatures};
use crate::error::{ErrorKind, Result};
use crate::in_place::build_site::BuildSite;
use crate::platform::process::{Job, time_limits};
use crate::platform::workspace::write_atomic;
use crate::symbol::{Library, RelPath, Unit};
use camino::Utf8Path;
use std::path::{Path, PathBuf};

/// The flags of a driver.
const PLAIN: [&str; 6] = ["-O1", "-g0", "-w", "-fno-pie", "-fno-lto", "-fno-optimize-sibling-calls"];

/// Renames the compiler's list of entries to the name that `entries.c` looks for.
const OWN_ENTRIES: &str = "--rename-section=__patchable_function_entries=implfuzz_driver_entries";

/// An optimising compiler leaves out the call of a pure function whose result the driver does not use.
const ALL_CALLED: [&str; 1] = ["-O0"];

/// A driver's object.
#[derive(Debug)]
pub(super) struct DriverObject {
    pub path: PathBuf,
    /// The functions of headers that have entries in it.
    pub own: Vec<OwnCopy>,
    /// The driver's own functions, as far as it is known how they get their arguments.
    pub functions: Vec<Signature>,
}

/// Compiles a driver with these flags; whether the functions of headers have entries in it.
///
/// # Errors
/// `C` if it does not compile, and Ctrl-C.
pub(super) fn compile(
    driver: &Driver,
    (root, library, flags): (&Utf8Path, &Library, Vec<String>),
    has_entries: bool,
    place: BuildSite,
) -> Result<DriverObject> {
    let path = place.dir.join(format!("driver-{}.o", driver.name));
    let program = program(driver, &flags);
    let (own, functions) = match has_entries {
        true => (copies(driver, (root, library, &program), place)?, signatures(root, &program)?),
        false => (Vec::new(), Vec::new()),
    };
    let compile = |source: &Path, job: Job, more: &[&str]| {
        let job = job.args(&flags).args(more).args(["-U_FORTIFY_SOURCE", "-c", "-o"]).arg(&path).arg(source);
        place.done(job, &driver.file)?;
        // The library's units have such a list, too; the driver's gets another name.
        let job = Job::new(&place.toolchain.objcopy).arg(OWN_ENTRIES).arg(&path);
        place.done(job, Utf8Path::new("objcopy"))
    };
    let job = || place.compiler(driver.language).dir(root).timeout(time_limits::COMPILE_C);
    if own.is_empty() {
        compile(driver.file.as_std_path(), job().args(PLAIN).args(ROOM), &[])?;
        return Ok(DriverObject { path, own, functions });
    }
    let lines: String = own.iter().map(|copy| format!("{}\n", copy.line)).collect();
    let file = root.join(&driver.file);
    let ending = driver.file.extension().unwrap_or("c");
    let source = place.dir.join("units").join(format!("implfuzz-driver-{}.{ending}", driver.name));
    write_atomic(&source, format!("#include \"{file}\"\n{lines}").as_bytes())?;
    let patchable = || place.patchable(job()).args(ALL_CALLED);
    match compile(&source, patchable(), &CALLED) {
        Err(error) if error.kind() == ErrorKind::C => compile(&source, patchable(), &[])?,
        done => done?,
    }
    Ok(DriverObject { path, own, functions })
}

/// The driver as a unit of C or C++.
fn program(driver: &Driver, flags: &[String]) -> Unit {
    let mut flags = flags.to_vec();
    if driver.language == Language::Cxx {
        flags.extend(["-x", CPP].into_iter().chain(CALLED).map(str::to_owned));
    }
    Unit { file: RelPath(driver.file.clone()), module: format!("driver-{}", driver.name), flags }
}

/// The functions of headers of which a driver has copies.
fn copies(
    driver: &Driver,
    (root, library, program): (&Utf8Path, &Library, &Unit),
    place: BuildSite,
) -> Result<Vec<OwnCopy>> {
    let scratch = place.dir.join(format!("copies-{}", driver.name));
    let cc = (place.toolchain.cc.path.as_path(), scratch.as_path());
    own_copies(root, library, program, cc, place.interrupt)
}
