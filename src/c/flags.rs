//! The flags of a library: the user's settings, the source of the flags, and clang's arguments. `discover` finds them.

use super::command_line::PATH_FLAGS;
use crate::config::FlagsFrom;
use crate::symbol::{LeftOut, Unit};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the user says about the C side; an empty list means: find out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CSettings {
    /// The one way to find sources and flags; absent: the first that works.
    pub from: Option<FlagsFrom>,
    /// Source files, relative to the root.
    pub sources: Vec<String>,
    /// Folders for `-I`, relative to the root.
    pub include_dirs: Vec<String>,
    /// `NAME` or `NAME=VALUE`, without `-D`.
    pub defines: Vec<String>,
    /// Further compiler flags, as they are.
    pub flags: Vec<String>,
    /// Files, folders or patterns with `*` that are left out.
    pub exclude: Vec<String>,
}

/// Where the flags come from. Files are relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlagSource {
    /// Sources named in the settings.
    Settings,
    /// This `compile_commands.json`.
    CompileCommands(Utf8PathBuf),
    /// CMake's export of this `CMakeLists.txt`.
    Cmake(Utf8PathBuf),
    /// What `make -n` prints for this makefile.
    Make(Utf8PathBuf),
    /// Guessed from the `#include` lines.
    IncludeGuess,
}

impl FlagSource {
    /// The file of a build system that says it.
    pub fn file(&self) -> Option<&Utf8Path> {
        match self {
            Self::CompileCommands(file) | Self::Cmake(file) | Self::Make(file) => Some(file),
            Self::Settings | Self::IncludeGuess => None,
        }
    }

    /// The key of the configuration that chooses this way again.
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

/// A way to find flags that did not work, though there was reason to try it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub text: String,
    pub help: Option<String>,
}

/// The sources of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    pub units: Vec<Unit>,
    pub left_out: Vec<LeftOut>,
    pub source: FlagSource,
    pub warnings: Vec<Warning>,
    /// Files with a `main` are part of the library, too: those that the settings name, and where there is nothing else.
    pub takes_programs: bool,
}

/// What every unit gets behind its own flags.
pub(super) fn common_flags(settings: &CSettings, guessed: &[Utf8PathBuf]) -> Vec<String> {
    let folders = settings.include_dirs.iter().map(String::as_str).chain(guessed.iter().map(|g| g.as_str()));
    let mut flags: Vec<String> =
        folders.map(|d| format!("-I{}", if d.is_empty() { "." } else { d })).collect();
    flags.extend(settings.defines.iter().map(|d| format!("-D{d}")));
    flags.extend(settings.flags.iter().cloned());
    flags
}

/// What C of older standards needs and compilers of today take for errors. The port's `build.rs` has the same list.
pub const OLD_C: &[&str] = &[
    "implicit-function-declaration",
    "int-conversion",
    "implicit-int",
    "incompatible-function-pointer-types",
    "incompatible-pointer-types",
    "return-type",
];

/// Flags that let it through without a word, for any compiler: `-Wno-` of a class that it does not know is no error.
pub fn old_c_flags() -> impl Iterator<Item = String> {
    OLD_C.iter().map(|class| format!("-Wno-{class}"))
}

/// The arguments for clang: the unit's flags with their paths made absolute, and what makes warnings of the errors of
/// [`OLD_C`], one flag each: a list is not understood.
pub fn clang_arguments(root: &Utf8Path, unit: &Unit) -> Vec<String> {
    let mut arguments = vec!["-xc".to_owned()];
    arguments.extend(unit.flags.iter().map(|flag| {
        let path_flag = PATH_FLAGS.iter().find(|p| flag.starts_with(**p) && flag.len() > p.len());
        match path_flag {
            Some(p) => {
                let path = root.join(&flag[p.len()..]);
                // An `-include` of a header on the include path is not a file under the root.
                if path.exists() { format!("{p}{path}") } else { flag.clone() }
            }
            None => flag.clone(),
        }
    }));
    arguments.extend(OLD_C.iter().map(|class| format!("-Wno-error={class}")));
    arguments.push("-fparse-all-comments".into());
    arguments
}
