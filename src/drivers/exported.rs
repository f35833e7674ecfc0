//! Drivers as programs for other machines, with what they begin with beside them.

use super::ports::{Archive, programs};
use super::{Work, all_committed, folder_of};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::in_place::candidates::Candidates;
use crate::in_place::corpus::sanitised;
use crate::in_place::driver::{Driver, drivers};
use crate::in_place::exported::Judging;
use crate::platform::process::Interrupt;
use crate::project::Project;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// A driver that was built.
#[derive(Debug)]
pub struct Exported {
    pub driver: Driver,
    pub program: PathBuf,
}

/// Builds each driver of a repository with the ports in the tree beside C. `to` gets the program `driver_<name>`; beside it,
/// as far as there are some, words for inputs (`.dict`) and a folder of inputs (`.inputs`).
///
/// # Errors
/// `Config` if there is no driver or no port, `Build` if the port does not compile, `C` if a driver or the library does not,
/// and Ctrl-C.
pub fn export(
    project: &Project,
    to: &Path,
    archive_of: Archive,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Vec<Exported>> {
    let work = Work::of(project, interrupt)?;
    let found = drivers(work.root, &project.config.drivers.files, &project.library)?;
    if found.is_empty() {
        let text = "no file of the repository defines LLVMFuzzerTestOneInput, so nothing runs the library";
        return Err(Error::new(ErrorKind::Config, text).help("cargo implfuzz drivers --new NAME"));
    }
    let step = "building the drivers for other machines".to_owned();
    reporter.event(Event::StepStarted { step, total: None });
    let all: Vec<&Driver> = found.iter().collect();
    let (judges, ported) = programs(&work, &all, (None, "ports"), archive_of)?;
    if ported.is_empty() {
        let text = "no function of the library has a port, so there is nothing to compare with C";
        return Err(Error::new(ErrorKind::Config, text).help("cargo implfuzz port --all"));
    }
    let dir = work.dir("exported");
    let entries = work.entries()?;
    let (parts, place) = (work.parts(&entries, Candidates::None), work.place(&dir)?);
    let library = sanitised(parts, place)?;
    fs::create_dir_all(to)?;
    let mut built = Vec::new();
    for (driver, judge) in found.into_iter().zip(judges) {
        let committed = all_committed(project).join(folder_of(driver.file.as_str()));
        let shown = project.shown(&committed);
        let judging = Judging { ported: &ported, judge: &judge, committed: &shown };
        let made = library.exported(&driver, judging, parts, place)?;
        let program = to.join(name(&driver));
        fs::copy(&made, &program)?;
        if let Some(words) = library.dictionary() {
            fs::copy(words, program.with_extension("dict"))?;
        }
        let seeds = project.config.drivers.seeds.iter().map(|seed| work.root.join(seed).into_std_path_buf());
        inputs(&program.with_extension("inputs"), seeds.chain([committed]))?;
        built.push(Exported { driver, program });
    }
    reporter.event(Event::StepFinished { message: String::new() });
    Ok(built)
}

/// The name of a driver's program: services take letters, digits, `_` and `-` alone.
fn name(driver: &Driver) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    format!("driver_{}", driver.name.chars().map(plain).collect::<String>())
}

/// Copies the files of these folders into a new one, if there are some.
fn inputs(to: &Path, folders: impl Iterator<Item = PathBuf>) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let mut number = 0;
    for folder in folders.filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if !path.is_file() {
                continue;
            }
            fs::create_dir_all(to)?;
            number += 1;
            fs::copy(&path, to.join(format!("{number:05}")))?;
        }
    }
    Ok(())
}
