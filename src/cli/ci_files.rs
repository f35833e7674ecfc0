//! `--junit` and `--sarif`: results of ports as files for CI servers.

use crate::error::Result;
use crate::platform::workspace::{git_root, write_atomic};
use crate::report::ci::{PortResult, junit, sarif};
use std::path::{Path, PathBuf};

/// The files for CI servers.
#[derive(Debug, clap::Args)]
pub struct CiFiles {
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write the problems as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

impl CiFiles {
    /// Writes the files that were asked for. An error must not hide the results: show them before it.
    pub fn write(&self, command: &str, results: &[PortResult]) -> Result<()> {
        if let Some(path) = &self.junit {
            write_atomic(path, junit(command, results).as_bytes())?;
        }
        if let Some(path) = &self.sarif {
            write_atomic(path, sarif(results).as_bytes())?;
        }
        Ok(())
    }
}

/// The target repository, relative to the root of the git repository, to which CI servers relate paths.
pub fn within_git(root: &Path) -> &Path {
    root.strip_prefix(git_root(root)).unwrap_or(Path::new(""))
}
