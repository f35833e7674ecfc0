//! The tools of the machine, as the work on a repository needs them.

use super::Project;
use crate::c;
use crate::c::entries::{Entries, entries};
use crate::config::Config;
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::platform::toolchain::{Search, Toolchain};
use std::cell::OnceCell;
use std::path::Path;

impl Project {
    /// The tools of the machine. Fails with `Environment` when one is missing.
    pub fn toolchain(&self, interrupt: &Interrupt) -> Result<&Toolchain> {
        found(&self.toolchain, &self.config, interrupt)
    }

    /// Gives `work` the tools that read C, with scratch files in the cache.
    ///
    /// # Errors
    /// `Environment` when a tool is missing, and those of `work`.
    pub fn with_tools<R>(
        &self,
        interrupt: &Interrupt,
        work: impl FnOnce(c::Tools) -> Result<R>,
    ) -> Result<R> {
        let toolchain = self.toolchain(interrupt)?;
        let programs = || Ok(c::Programs::of(toolchain));
        work(c::Tools { identity: "", programs: &programs, scratch: &self.workspace.cache(), interrupt })
    }

    /// The entries of the C functions.
    ///
    /// # Errors
    /// `Environment` without the compiler, and Ctrl-C.
    pub fn entries(&self, interrupt: &Interrupt) -> Result<Entries> {
        self.with_tools(interrupt, |tools| entries(self.root()?, &self.library, tools))
    }
}

/// The tools of the machine, searched once.
pub(super) fn found<'c>(
    cell: &'c OnceCell<Toolchain>,
    config: &Config,
    interrupt: &Interrupt,
) -> Result<&'c Toolchain> {
    if let Some(toolchain) = cell.get() {
        return Ok(toolchain);
    }
    let mut toolchain = Toolchain::find(&Search::from_env(), interrupt)?;
    if let Some(compiler) = &config.c.compiler {
        toolchain.cc.path = Path::new(compiler).to_owned();
    }
    Ok(cell.get_or_init(|| toolchain))
}
