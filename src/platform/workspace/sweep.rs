//! Removes the temporary files that a killed process left beside their targets.

use super::atomic::TEMPORARY;
use crate::error::Result;
use std::path::Path;

/// Removes temporary files directly in `dir` and, with `deep`, in the directories below it, except build output.
/// Returns how many it removed. The caller holds the lock, so no such file is being written.
pub(super) fn sweep(dir: &Path, deep: bool) -> Result<usize> {
    let mut swept = 0;
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(0) };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            if deep && name != "target" {
                swept += sweep(&entry.path(), true)?;
            }
        } else if is_temporary(&name.to_string_lossy()) {
            fs_err::remove_file(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// The prefix and six letters or digits: other files of the tool with this prefix are no leftovers.
pub fn is_temporary(name: &str) -> bool {
    let rest = name.strip_prefix(TEMPORARY).unwrap_or_default();
    rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
