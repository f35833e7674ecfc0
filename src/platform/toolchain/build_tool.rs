//! The build systems that can be asked for the sources and flags of a C library. Another one is another row here, and a
//! module in `c::build_system` that asks it.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use strum::{EnumIter, IntoStaticStr};

/// A build system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, EnumIter, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BuildTool {
    Cmake,
    Make,
}

/// The build systems that are installed, with their programs.
pub type BuildTools = BTreeMap<BuildTool, PathBuf>;

impl BuildTool {
    /// Its usual name, which is also that of its package.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The names that its program may have.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Cmake => &["cmake"],
            Self::Make => &["make", "gmake"],
        }
    }

    /// What it is needed for.
    pub fn why(self) -> &'static str {
        match self {
            Self::Cmake => "finds sources and flags; only for libraries that are built with CMake",
            Self::Make => "finds sources and flags; only for libraries that are built with make or CMake",
        }
    }
}
