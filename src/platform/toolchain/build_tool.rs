//! The build systems from which this tool gets the sources and flags of a C library. To add one, add a row here and a
//! module in `c::build_system`.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use strum::{EnumIter, IntoStaticStr};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, EnumIter, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BuildTool {
    Cmake,
    Make,
}

/// The installed build systems and their programs.
pub type BuildTools = BTreeMap<BuildTool, PathBuf>;

impl BuildTool {
    /// Its usual name, which is also its package's name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Cmake => &["cmake"],
            Self::Make => &["make", "gmake"],
        }
    }

    pub fn why(self) -> &'static str {
        match self {
            Self::Cmake => "finds sources and flags; only for libraries that are built with CMake",
            Self::Make => "finds sources and flags; only for libraries that are built with make or CMake",
        }
    }
}
