//! Removes the temporary files that a killed process left beside their targets.

use super::atomic::TEMPORARY;
use crate::error::Result;
use std::path::Path;
use walkdir::{DirEntry, WalkDir};

/// Removes temporary files directly in `dir` and, with `deep`, in the directories below it, except build output.
/// The caller holds the lock, so no such file is being written.
pub(super) fn sweep(dir: &Path, deep: bool) -> Result<()> {
    let is_output = |entry: &DirEntry| entry.file_type().is_dir() && entry.file_name() == "target";
    let walk = WalkDir::new(dir).min_depth(1).max_depth(if deep { usize::MAX } else { 1 });
    // A directory that cannot be read has no file that could be removed.
    for entry in walk.into_iter().filter_entry(|entry| !is_output(entry)).flatten() {
        if !entry.file_type().is_dir() && is_temporary(&entry.file_name().to_string_lossy()) {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The prefix and six letters or digits: other files of the tool with this prefix are no leftovers.
pub fn is_temporary(name: &str) -> bool {
    let rest = name.strip_prefix(TEMPORARY).unwrap_or_default();
    rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
