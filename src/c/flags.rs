//! The flags of a library: the user's settings, where the flags were found, and clang's arguments. `source_discovery`
//! finds them.

use super::kept_flags::{PATH_FLAGS, joined};
use crate::config::{self, FlagsFrom};
use crate::symbol::{LeftOut, Unit};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the flags were found. Files are relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlagSource {
    /// Sources named in the settings.
    Settings,
    /// This `compile_commands.json`.
    CompileCommands(Utf8PathBuf),
    /// CMake's compile commands for this `CMakeLists.txt`.
    Cmake(Utf8PathBuf),
    /// The output of `make -n` for this makefile.
    Make(Utf8PathBuf),
    /// Guessed from the `#include` lines.
    IncludeGuess,
}

impl FlagSource {
    /// The build-system file that the flags were read from.
    pub fn file(&self) -> Option<&Utf8Path> {
        match self {
            Self::CompileCommands(file) | Self::Cmake(file) | Self::Make(file) => Some(file),
            Self::Settings | Self::IncludeGuess => None,
        }
    }

    /// Why a source is left out that a build of this kind does not compile.
    pub fn not_compiled(&self) -> String {
        format!("not in {self}")
    }

    /// The configuration key that selects this way.
    pub fn key(&self) -> Option<FlagsFrom> {
        match self {
            Self::Settings => None,
            Self::CompileCommands(_) => Some(FlagsFrom::CompileCommands),
            Self::Cmake(_) => Some(FlagsFrom::Cmake),
            Self::Make(_) => Some(FlagsFrom::Make),
            Self::IncludeGuess => Some(FlagsFrom::Includes),
        }
    }
}

impl fmt::Display for FlagSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings => write!(f, "implfuzz.toml"),
            Self::CompileCommands(file) => write!(f, "{file}"),
            Self::Cmake(file) => write!(f, "`cmake` ({file})"),
            Self::Make(file) => write!(f, "`make -n` ({file})"),
            Self::IncludeGuess => write!(f, "the #include lines"),
        }
    }
}

/// A way to find flags that failed although the project seemed to support it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub text: String,
    pub help: Option<String>,
}

/// The sources of a library and how they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    pub units: Vec<Unit>,
    pub left_out: Vec<LeftOut>,
    pub source: FlagSource,
    pub warnings: Vec<Warning>,
    /// Whether files with a `main` belong to the library: if the settings list them, or if there are no other
    /// files.
    pub takes_programs: bool,
}

/// The flags that every unit gets after its own.
pub(super) fn common_flags(settings: &config::C, guessed: &[Utf8PathBuf]) -> Vec<String> {
    let folders = settings.include_dirs.iter().map(String::as_str).chain(guessed.iter().map(|g| g.as_str()));
    let mut flags: Vec<String> =
        folders.map(|d| format!("-I{}", if d.is_empty() { "." } else { d })).collect();
    flags.extend(settings.defines.iter().map(|d| format!("-D{d}")));
    flags.extend(joined(&settings.flags));
    flags
}

/// Classes of code that was valid in older C standards and that today's compilers reject. The port's
/// `build.rs` has the same list.
pub const OLD_C: &[&str] = &[
    "implicit-function-declaration",
    "int-conversion",
    "implicit-int",
    "incompatible-function-pointer-types",
    "incompatible-pointer-types",
    "return-type",
];

/// Flags that accept such code without a warning, for any compiler: `-Wno-` with an unknown class is not an
/// error.
pub fn old_c_flags() -> impl Iterator<Item = String> {
    OLD_C.iter().map(|class| format!("-Wno-{class}"))
}

/// The arguments for clang: the unit's flags with absolute paths, and flags that turn the errors of [`OLD_C`]
/// into warnings. Each class needs its own flag; clang accepts no list.
pub fn clang_arguments(root: &Utf8Path, unit: &Unit) -> Vec<String> {
    let mut arguments = vec!["-xc".to_owned()];
    arguments.extend(unit.flags.iter().map(|flag| {
        let path_flag = PATH_FLAGS.iter().find(|p| flag.starts_with(**p) && flag.len() > p.len());
        match path_flag {
            Some(p) => {
                let path = root.join(&flag[p.len()..]);
                // The header of an `-include` may be on the include path instead of under the root.
                if path.exists() { format!("{p}{path}") } else { flag.clone() }
            }
            None => flag.clone(),
        }
    }));
    arguments.extend(OLD_C.iter().map(|class| format!("-Wno-error={class}")));
    arguments.push("-fparse-all-comments".into());
    arguments
}
