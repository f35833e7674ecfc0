//! Removes outdated files from a directory that the tool writes.

use crate::error::Result;
use crate::platform::workspace::is_temporary;
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Removes files that are not `wanted`. Cargo's lock files stay, and so do files that another process is
/// writing into a shared directory.
pub(super) fn remove_others(root: &Path, dir: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                remove_others(root, &path, wanted)?;
            }
        } else {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let stays =
                entry.file_name() == "Cargo.lock" || is_temporary(&entry.file_name().to_string_lossy());
            if !wanted.contains(relative) && !stays {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}
