//! Drivers on trial: whether one builds and may run, and what it reaches that no other driver does. `port` has models
//! write them.

use super::campaigns::Campaigns;
use super::{Driven, Inputs, Report, Work, driven, report};
use crate::error::{ErrorKind, Result};
use crate::event::Reporter;
use crate::in_place::corpus;
use crate::in_place::driver::{Driver, Language, drivers};
use crate::in_place::run::Number;
use crate::in_place::{breaking, driver_check};
use crate::platform::process::Interrupt;
use crate::project::Project;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// How many inputs on which C broke run again until one breaks again: each may take seconds.
const AGAIN: usize = 8;

/// The library, built once for all drivers that are tried, with the drivers that it has.
pub struct Trials<'t, 'p> {
    work: &'t Work<'p>,
    campaigns: &'t Campaigns<'t, 'p>,
    pub report: Report,
}

/// What came of trying a driver.
#[derive(Debug)]
pub enum Tried {
    /// With what the compiler or libFuzzer says.
    DoesNotRun(String),
    /// It reaches files, processes or the like, so it was not run.
    MayNotRun(String),
    Ran(Box<Ran>),
}

/// What a driver did.
#[derive(Debug)]
pub struct Ran {
    pub driven: Driven,
    /// The functions that no other driver reaches.
    pub new: BTreeSet<Number>,
    pub broken: Option<Broken>,
}

/// An input on which C breaks.
#[derive(Debug)]
pub struct Broken {
    pub input: PathBuf,
    /// What the sanitizer says.
    pub report: String,
}

/// Builds the library for drivers to be tried, and runs those that it has where they have not run yet.
///
/// # Errors
/// `C` if the library cannot be built, those of `body`, and Ctrl-C.
pub fn with_trials<T>(
    project: &Project,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
    body: impl FnOnce(&mut Trials, &mut dyn Reporter) -> Result<T>,
) -> Result<T> {
    let work = Work::of(project, interrupt)?;
    let found = drivers(work.root, &project.config.drivers.files, &project.library)?;
    let entries = work.entries()?;
    let campaigns = Campaigns::prepare(&work, &entries, reporter)?;
    let (all, left_out) = driven(&campaigns, found, Inputs::Kept, reporter)?;
    let mut trials = Trials { work: &work, campaigns: &campaigns, report: report(project, all, left_out) };
    body(&mut trials, reporter)
}

impl Trials<'_, '_> {
    /// Tries the driver in this file, a C file that is not yet one of the library's drivers.
    ///
    /// # Errors
    /// Those that the driver cannot have caused, and Ctrl-C.
    pub fn try_driver(&self, file: &Utf8Path, reporter: &mut dyn Reporter) -> Result<Tried> {
        let work = self.work;
        let name = file.file_stem().unwrap_or(file.as_str()).to_owned();
        let driver = Driver { name, file: file.to_owned(), language: Language::C };
        let dir = work.dir("written");
        let may_not = driver_check::forbidden(&driver, self.campaigns.parts(), work.place(&dir)?);
        let ran = match may_not {
            Ok(Some(why)) => return Ok(Tried::MayNotRun(why)),
            Ok(None) => self.campaigns.driven(driver, Inputs::Fuzzed, reporter),
            Err(error) => Err(error),
        };
        match ran {
            Ok(driven) => {
                let reached = self.report.reached();
                let new = driven.reached().into_iter().filter(|number| !reached.contains(number)).collect();
                let broken = self.broken(&driven)?;
                Ok(Tried::Ran(Box::new(Ran { driven, new, broken })))
            }
            Err(error) if error.kind() == ErrorKind::C => Ok(Tried::DoesNotRun(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// The first of a few inputs on which C breaks again.
    fn broken(&self, driven: &Driven) -> Result<Option<Broken>> {
        let program = corpus::program(&self.work.dir("fuzz"), &driven.driver);
        for input in driven.corpus.breaking.iter().take(AGAIN) {
            if let Some(report) = breaking::report(&program, input, self.work.interrupt)? {
                return Ok(Some(Broken { input: input.clone(), report }));
            }
        }
        Ok(None)
    }

    /// The driver is one of the library's from now on.
    pub fn keep(&mut self, driven: Driven) {
        self.change(|all| all.push(driven));
    }

    /// The driver in this file is none of the library's any more.
    pub fn drop_driver(&mut self, file: &Utf8Path) {
        self.change(|all| all.retain(|one| one.driver.file != file));
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<Driven>)) {
        let mut all = std::mem::take(&mut self.report.drivers);
        change(&mut all);
        self.report = report(self.work.project, all, std::mem::take(&mut self.report.left_out));
    }

    /// The folder of the files of the repository.
    pub fn root(&self) -> &Utf8Path {
        self.work.root
    }

    /// A name for the file of a new driver, which no file has.
    pub fn new_file(&self, about: &str) -> Utf8PathBuf {
        let file = |name: &str| Utf8Path::new(super::FOLDER).join(name).with_extension("c");
        let numbered = (2..).map(|number| file(&format!("{about}_{number}")));
        let mut names = std::iter::once(file(about)).chain(numbered);
        names.find(|name| !self.work.root.join(name).exists()).expect("there is always one more number")
    }
}
