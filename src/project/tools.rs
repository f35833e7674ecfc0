//! The tools of the machine, as the work on a repository needs them.

use super::Project;
use crate::c;
use crate::c::entries::{Entries, entries};
use crate::config::{Config, Confinement};
use crate::error::{Error, ErrorKind, Page, Result};
use crate::event::{Event, Reporter};
use crate::platform::process::{Interrupt, Support, support};
use crate::platform::toolchain::{Search, Toolchain, identity as identity_of_tools};
use std::cell::OnceCell;
use std::path::Path;

impl Project {
    /// Identifies everything outside of the repository that reads or builds C.
    pub fn identity(&self) -> String {
        identity(&self.config)
    }

    /// The tools of the machine. Fails with `Environment` when one is missing.
    pub fn toolchain(&self, interrupt: &Interrupt) -> Result<&Toolchain> {
        found(&self.toolchain, &self.config, interrupt)
    }

    /// Asks, before anything runs in the sandbox, whether this machine has all of it, and warns of what it lacks.
    ///
    /// # Errors
    /// `Environment` if it lacks something, and the configuration asks for all of it.
    pub fn can_run(&self, reporter: &mut dyn Reporter) -> Result<()> {
        if let Some(missing) = lacking(self.config.fuzz.sandbox, support())? {
            let text = format!("ports run with fewer restrictions: this machine has no {missing}");
            let help = format!("cargo implfuzz doctor; {} says what the sandbox restricts", Page::Sandbox);
            reporter.event(Event::Warning { text, help: Some(help) });
        }
        Ok(())
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

/// Environment variables that compilers, libclang and bindgen read.
const VARIABLES: &[&str] = &[
    "CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "SYSROOT", "SDKROOT",
    "BINDGEN_EXTRA_CLANG_ARGS", "TARGET", "CCC_OVERRIDE_OPTIONS", "LLVM_CONFIG_PATH", "CLANG_PATH",
];

/// The identity of everything outside the repository that affects the reading of C: compilers, libclang, this
/// program.
pub(super) fn identity(config: &Config) -> String {
    let program = std::env::current_exe().and_then(|path| path.metadata());
    let program =
        program.map_or_else(|_| String::new(), |meta| format!("{} {:?}", meta.len(), meta.modified()));
    let compiler = config.c.compiler.as_deref().unwrap_or_default();
    // Another build of the same compiler differs in size or date.
    let path = Search::from_env().program(&[compiler]).unwrap_or_else(|| compiler.into());
    let meta = std::fs::metadata(path).map(|meta| format!("{} {:?}", meta.len(), meta.modified()));
    let compiler = format!("{compiler} {}", meta.unwrap_or_default());
    let variables: String =
        VARIABLES.iter().map(|name| format!("{name}={:?}\n", std::env::var_os(name))).collect();
    format!("{}{compiler}\n{variables}{program}", identity_of_tools(&Search::from_env()))
}

fn lacking(asked: Confinement, support: Support) -> Result<Option<String>> {
    match (support.missing(), asked) {
        (Some(missing), Confinement::Required) => {
            let text = format!("this machine has no {missing}, but `fuzz.sandbox` is \"required\"");
            let help = "use a kernel or container that has it, or set fuzz.sandbox = \"best-effort\"";
            Err(Error::new(ErrorKind::Environment, text).help(help))
        }
        (missing, Confinement::Required | Confinement::BestEffort) => Ok(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_that_is_required_and_missing_is_an_error() {
        let (all, some) =
            (Support { landlock: Some(7), seccomp: true }, Support { landlock: None, seccomp: true });
        assert_eq!(lacking(Confinement::Required, all).unwrap(), None);
        assert!(lacking(Confinement::BestEffort, some).unwrap().unwrap().contains("Landlock"));
        let error = lacking(Confinement::Required, some).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Environment);
        assert!(error.to_string().contains("Landlock"), "{error}");
    }
}
