//! Where compilers look for headers, by their flags.

use crate::symbol::Library;
use std::collections::BTreeSet;

/// Flags that bring in a folder to look for headers; the longer before what they begin with. The kinds in the order in
/// which compilers look there.
pub(super) const FOLDERS: [&str; 4] = ["-iquote", "-I", "-isystem", "-idirafter"];

/// Where the build of a driver looks for headers on account of the library: in the folders of its units' flags, and beside
/// its C files.
pub fn header_folders<'a>(units: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<String> {
    let folders = units.flat_map(|(file, flags)| {
        let beside = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
        folders_of(flags).into_iter().chain([beside.to_owned()])
    });
    let mut seen = BTreeSet::new();
    folders.filter(|folder| seen.insert(folder.clone())).collect()
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

/// The folders in which the units of a library look for headers, each once.
pub fn folders_of_library(library: &Library) -> Vec<String> {
    header_folders(library.units.iter().map(|unit| (unit.file.0.as_str(), &unit.flags[..])))
}
