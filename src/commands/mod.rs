//! One file per subcommand: its arguments, and the one function that runs it. No logic: options in, results out.

pub mod contract;
pub mod demo;
pub mod doctor;
pub mod fuzz;
pub mod init;
pub mod list;
pub mod port;
pub mod rows;
pub mod status;
pub mod verify;

use crate::error::Result;
use crate::event::Reporter;
use crate::process::Interrupt;
use crate::project::{Options, Planned, Project};
use crate::report::{Json, Screen, Terminal, Verbosity};
use crate::store::Store;

/// What every command gets.
#[derive(Debug, Clone)]
pub struct Session {
    pub options: Options,
    pub screen: Screen,
    pub verbosity: Verbosity,
    pub interrupt: Interrupt,
}

impl Session {
    /// Where events go.
    pub fn reporter(&self) -> Box<dyn Reporter> {
        if self.screen.json { Box::new(Json::stdout()) } else { Box::new(Terminal::stderr(self.verbosity)) }
    }

    /// Opens the repository, brings what is generated up to date, and opens its store.
    pub fn open(&self, reporter: &mut dyn Reporter) -> Result<(Project, Store)> {
        let project = Project::open(&self.options, &self.interrupt)?;
        crate::init::sync(&project, &self.interrupt, reporter)?;
        let store = self.store(&project)?;
        Ok((project, store))
    }

    /// Opens the store, and writes the symbols into it: everything else refers to them.
    pub fn store(&self, project: &Project) -> Result<Store> {
        let mut store = Store::open(&project.workspace.state_db())?;
        crate::verify::save_symbols(project, &mut store)?;
        Ok(store)
    }
}

/// The functions with these names, or all.
pub fn select<'p>(project: &'p Project, names: &[String], all: bool) -> Result<Vec<&'p Planned>> {
    if all {
        Ok(project.planned.iter().collect())
    } else {
        names.iter().map(|name| project.find(name)).collect()
    }
}
