//! Removes outdated files from a directory that the tool writes.

use crate::error::Result;
use crate::platform::workspace::is_temporary;
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Removes files that are not `wanted`, by their paths in `dir`. Cargo's lock files stay, and so do files that another
/// process is writing into a shared directory.
pub fn remove_others(dir: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    let is_output = |entry: &DirEntry| entry.file_type().is_dir() && entry.file_name() == "target";
    for entry in WalkDir::new(dir).min_depth(1).into_iter().filter_entry(|entry| !is_output(entry)) {
        let entry = entry.map_err(std::io::Error::from)?;
        let stays = entry.file_name() == "Cargo.lock" || is_temporary(&entry.file_name().to_string_lossy());
        let is_wanted = entry.path().strip_prefix(dir).is_ok_and(|path| wanted.contains(path));
        if !entry.file_type().is_dir() && !stays && !is_wanted {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
    }
    Ok(())
}
