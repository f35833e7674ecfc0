//! Where compilers look for headers, by their flags, and what drivers are compiled with.

use crate::symbol::Library;
use std::collections::BTreeSet;

/// Flags that bring in a folder to look for headers; the longer before what they begin with. The kinds in the order in
/// which compilers look there.
pub(super) const FOLDERS: [&str; 4] = ["-iquote", "-I", "-isystem", "-idirafter"];

/// What the build of a driver has on account of the library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibraryFlags {
    /// Where it looks for headers: in the folders of the units' flags, and beside the C files.
    pub folders: Vec<String>,
    /// The macros that the units' flags define.
    pub defines: BTreeSet<String>,
}

impl LibraryFlags {
    /// Of units: their files and flags.
    pub fn of<'a>(units: impl Iterator<Item = (&'a str, &'a [String])> + Clone) -> Self {
        let folders = units.clone().flat_map(|(file, flags)| {
            let beside = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
            folders_of(flags).into_iter().chain([beside.to_owned()])
        });
        let mut seen = BTreeSet::new();
        let folders = folders.filter(|folder| seen.insert(folder.clone())).collect();
        let defines = units.flat_map(|(_, flags)| flags).filter(|flag| flag.starts_with("-D"));
        Self { folders, defines: defines.cloned().collect() }
    }

    /// Of the units of a library.
    pub fn of_library(library: &Library) -> Self {
        Self::of(library.units.iter().map(|unit| (unit.file.0.as_str(), &unit.flags[..])))
    }
}

/// The values of these flags, which stand in the same word or in the next one.
pub(super) fn values<'f>(flags: &'f [String], names: &'f [&str]) -> impl Iterator<Item = &'f str> {
    let value = move |(at, flag): (usize, &'f String)| {
        let value = names.iter().find_map(|name| flag.strip_prefix(name))?;
        if value.is_empty() { flags.get(at + 1).map(String::as_str) } else { Some(value) }
    };
    flags.iter().enumerate().filter_map(value)
}

/// The folders that these flags bring in.
pub(super) fn folders_of(flags: &[String]) -> Vec<String> {
    values(flags, &FOLDERS).map(str::to_owned).collect()
}
