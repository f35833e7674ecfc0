//! Asks the build system of a library, CMake or make, for its sources and flags.
//!
//! Neither runs in the project itself. Configuring may write into the sources (zlib's CMakeLists.txt renames
//! a header), and `make -n` still executes `$(shell …)`, `+` recipes and rules for makefiles. They run in a
//! copy (`mirror`).

mod cmake;
mod make;
mod mirror;
mod printed;

use super::kept_flags::Command;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Exit, Interrupt, Output};
use crate::platform::toolchain::{BuildTool, BuildTools, MENDING_COMMAND, Toolchain};
use camino::{Utf8Path, Utf8PathBuf};
use std::path::{Path, PathBuf};

pub use mirror::copy as copy_sources;

pub(super) use cmake::ask as ask_cmake;
pub(super) use make::ask as ask_make;

/// The C compiler and the build tools.
#[derive(Debug, Clone)]
pub struct Programs {
    pub cc: PathBuf,
    pub build_tools: BuildTools,
}

impl Programs {
    pub fn of(toolchain: &Toolchain) -> Self {
        Self { cc: toolchain.cc.path.clone(), build_tools: toolchain.build_tools.clone() }
    }
}

/// The programs and the folder that build systems need.
#[derive(Debug, Clone)]
pub struct BuildSystems<'a> {
    /// CMake is told to use the C compiler in it.
    pub programs: Programs,
    /// A scratch folder. Git ignores it, it can be regenerated at any time, and it need not exist.
    pub scratch: &'a Path,
    pub interrupt: &'a Interrupt,
    /// Changes when one of the tools changes.
    pub identity: &'a str,
}

/// Variables with which a shell passes flags to a build. They are removed, so that the result does not depend
/// on the user's shell.
const OF_THE_SHELL: &[&str] = &[
    "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "ASFLAGS", "ARFLAGS", "LDLIBS", "LIBS",
    "TARGET_ARCH", "CMAKE_GENERATOR", "CMAKE_PREFIX_PATH", "CMAKE_TOOLCHAIN_FILE", "CMAKE_BUILD_TYPE",
];

/// The answer of a build system: what it compiles.
#[derive(Debug)]
pub(super) struct Answer {
    /// The file that the build system read, relative to the root.
    pub file: Utf8PathBuf,
    /// In path order, each source once.
    pub commands: Vec<Command>,
}

impl BuildSystems<'_> {
    /// The path of a build tool.
    ///
    /// # Errors
    /// `Environment` if it is not installed, so that `file` cannot be read.
    fn program(&self, tool: BuildTool, file: &Utf8Path) -> Result<&Path> {
        self.programs.build_tools.get(&tool).map(PathBuf::as_path).ok_or_else(|| {
            let text = format!("{} is not installed, so {file} cannot provide the flags", tool.name());
            Error::new(ErrorKind::Environment, text).help(MENDING_COMMAND)
        })
    }

    /// A subfolder of the scratch folder, without symbolic links in its path.
    fn folder(&self, name: &str) -> Result<Utf8PathBuf> {
        fs_err::create_dir_all(self.scratch)?;
        let scratch = fs_err::canonicalize(self.scratch)?;
        let scratch = Utf8PathBuf::from_path_buf(scratch)
            .map_err(|path| Error::new(ErrorKind::Io, format!("{} is not valid UTF-8", path.display())))?;
        Ok(scratch.join(name))
    }
}

/// The first of these files that exists, relative to the root.
fn first_file(root: &Utf8Path, folders: &[&str], names: &[&str]) -> Option<Utf8PathBuf> {
    let paths = folders.iter().flat_map(|folder| names.iter().map(|name| Utf8Path::new(*folder).join(name)));
    paths.into_iter().find(|path| root.join(path).is_file())
}

/// The first lines of a failed program's output, joined into one line.
fn complaint(output: &Output) -> String {
    if output.exit == Exit::TimedOut {
        return "it takes too long".into();
    }
    let text = output.stderr_text();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // CMake prints many warnings before the error.
    let first = lines.iter().position(|line| line.starts_with("CMake Error")).unwrap_or(0);
    match lines.get(first..(first + 4).min(lines.len())) {
        None | Some([]) => format!("it says nothing ({:?})", output.exit),
        Some(lines) => lines.join(" "),
    }
}
