//! What the drivers reached when they last ran, for commands that run nothing.

use super::{Driven, Work};
use crate::error::Result;
use crate::in_place::driver::drivers;
use crate::in_place::table::why_not;
use crate::platform::process::Interrupt;
use crate::platform::workspace::write_atomic;
use crate::project::Project;
use crate::symbol::{Function, SymbolName};
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::Path;

/// What is known of the drivers of a repository.
#[derive(Debug)]
pub struct KnownReach<'p> {
    project: &'p Project,
    /// What they reached, without those that changed since they ran, or have not run.
    reached: BTreeSet<SymbolName>,
    /// Whether all of them ran, and neither they nor the library changed since.
    have_all_run: bool,
}

/// What is known of the drivers and one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reachability {
    Reached,
    Unreached,
    /// No driver that ran reaches it, and some have not run since the last change.
    NotRun,
    /// Its calls cannot be judged, with the reason.
    NotJudged(&'static str),
}

impl Reachability {
    /// As a remark on a function that has no harness.
    pub fn remark(self) -> String {
        match self {
            Self::Reached => "drivers reach it: `port` and `verify` judge it in place".into(),
            Self::Unreached => "no driver reaches it".into(),
            Self::NotRun => "`cargo implfuzz drivers` shows whether a driver reaches it".into(),
            Self::NotJudged(why) => format!("no call of it can be judged in place: {why}"),
        }
    }
}

/// What is known of the repository's drivers; `None` where there are none.
///
/// # Errors
/// `Config` where a file in the settings is no driver, and those of reading files.
pub fn known_reach(project: &Project) -> Result<Option<KnownReach<'_>>> {
    let interrupt = Interrupt::none();
    let work = Work::of(project, &interrupt)?;
    let found = drivers(work.root, &project.config.drivers.files, &project.library)?;
    if found.is_empty() {
        return Ok(None);
    }
    let (mut reached, mut have_all_run) = (BTreeSet::new(), true);
    for driver in &found {
        let made_of = work.made_of(driver);
        let text = fs::read_to_string(record(&work.dir("corpora").join(&driver.name)));
        match text.ok().as_ref().and_then(|text| text.strip_prefix(&made_of)) {
            Some(names) => reached.extend(names.lines().map(SymbolName::new)),
            None => have_all_run = false,
        }
    }
    Ok(Some(KnownReach { project, reached, have_all_run }))
}

impl KnownReach<'_> {
    /// What is known of a function.
    pub fn of(&self, function: &Function) -> Reachability {
        match why_not(&self.project.library, function) {
            Some(why) => Reachability::NotJudged(why),
            None if self.reached.contains(&function.name) => Reachability::Reached,
            None if self.have_all_run => Reachability::Unreached,
            None => Reachability::NotRun,
        }
    }
}

/// Keeps what a driver reaches. `dir` has its corpus, which was made of texts with this hash.
pub(super) fn keep(project: &Project, driven: &Driven, dir: &Path, made_of: &str) -> Result<()> {
    let functions = &project.library.functions;
    let names = driven.reached().into_iter().map(|number| functions[number].name.to_string());
    let lines: Vec<String> = std::iter::once(made_of.to_owned()).chain(names).collect();
    write_atomic(&record(dir), lines.join("\n").as_bytes())
}

/// Keeps that a driver cannot be used, so that it reaches nothing.
pub(super) fn keep_nothing(dir: &Path, made_of: &str) -> Result<()> {
    fs::create_dir_all(dir)?;
    write_atomic(&record(dir), made_of.as_bytes())
}

fn record(corpus: &Path) -> std::path::PathBuf {
    corpus.join("reached")
}
