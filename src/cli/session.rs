//! What a command works with: the global options, the repository that they lead to, and the functions that it is about.

use super::filter;
use crate::config::Config;
use crate::error::Result;
use crate::event::Reporter;
use crate::platform::process::Interrupt;
use crate::platform::workspace::{CONFIG_FILE, Trial, Workspace};
use crate::project::{FunctionPlan, Options, Project};
use crate::report::{Json, Screen, Terminal, Verbosity};
use crate::store::Store;
use std::path::Path;

/// The global options, for each command.
#[derive(Debug, Clone)]
pub struct Session {
    pub options: Options,
    pub screen: Screen,
    pub verbosity: Verbosity,
    pub interrupt: Interrupt,
}

impl Session {
    /// The reporter of events.
    pub fn reporter(&self) -> Box<dyn Reporter> {
        if self.screen.json {
            Box::new(Json::stdout())
        } else {
            Box::new(Terminal::stderr(self.verbosity, self.screen.github))
        }
    }

    /// Opens the repository, updates generated files, and opens its store.
    pub fn open(&self, reporter: &mut dyn Reporter) -> Result<(Project, Store)> {
        self.open_with(None, reporter)
    }

    /// Like [`Self::open`], for a command that runs ports, drivers or programs of the library.
    pub fn open_to_run(&self, reporter: &mut dyn Reporter) -> Result<(Project, Store)> {
        let opened = self.open(reporter)?;
        opened.0.can_run(reporter)?;
        Ok(opened)
    }

    /// Like [`Self::open`], with a tentative file, which is removed with the project unless the workspace keeps it.
    pub fn open_with(&self, trial: Option<&Trial>, reporter: &mut dyn Reporter) -> Result<(Project, Store)> {
        self.open_in(Workspace::open(self.options.dir.as_deref())?, trial, reporter)
    }

    /// Like [`Self::open_with`], in a workspace that is already locked.
    pub fn open_in(
        &self,
        workspace: Workspace,
        trial: Option<&Trial>,
        reporter: &mut dyn Reporter,
    ) -> Result<(Project, Store)> {
        if let Some(trial) = trial {
            workspace.begin(trial)?;
        }
        let project = Project::load(workspace, &self.options, &self.interrupt)?;
        crate::project::init::sync(&project, &self.interrupt, reporter)?;
        let store = self.store(&project)?;
        Ok((project, store))
    }

    /// Opens the repository for reading, without a lock and without a change of its files, and its store.
    pub fn look(&self) -> Result<(Project, Store)> {
        let project = Project::look(&self.options, &self.interrupt)?;
        let store = self.store(&project)?;
        Ok((project, store))
    }

    /// The configuration of the repository at `root`.
    pub fn config(&self, root: &Path) -> Result<Config> {
        let env = |name: &str| std::env::var(name).ok();
        Config::load(&root.join(CONFIG_FILE), &self.options.overrides, &env)
    }

    /// Opens the store, and writes the symbols into it, to which its other rows refer.
    pub fn store(&self, project: &Project) -> Result<Store> {
        let mut store = Store::open(&project.workspace.state_db())?;
        crate::judge::verify::save_symbols(project, &mut store)?;
        Ok(store)
    }
}

/// Which functions a command is about.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Which {
    /// Functions or patterns, such as kit_crc32, 'parse_*' or file.c; `list` shows the names
    pub symbols: Vec<String>,
    /// Select all functions that this command applies to
    #[arg(long)]
    pub all: bool,
}

impl Which {
    /// The functions with these names, or all; each once.
    pub fn select<'p>(&self, project: &'p Project) -> Result<Vec<&'p FunctionPlan>> {
        if self.all { Ok(project.planned.iter().collect()) } else { filter::named(project, &self.symbols) }
    }

    /// The command with these functions, for the store.
    pub fn words(&self, command: &str) -> String {
        if self.all { format!("{command} --all") } else { format!("{command} {}", self.symbols.join(" ")) }
    }
}
