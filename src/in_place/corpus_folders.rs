//! The folders of a driver's inputs, and how one takes the place of another.

use crate::error::Result;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Inputs that were made for single functions: since the last campaign, and before it.
pub(super) const FOCUSED: &str = "focused";
pub(super) const FOCUSED_EARLIER: &str = "focused-earlier";

/// Further inputs that were just made.
pub(super) const NEW_MORE: &str = "more-new";
/// The corpus that is to take the place of the kept one, and the one whose place it takes.
pub(super) const SMALLER: &str = "smaller";
pub(super) const EARLIER: &str = "earlier";

/// Forgets what depends on what C does, or on what the driver makes of an input. C may break on other inputs now.
pub fn forget(dir: &Path) {
    for folder in ["breaking", "more", FOCUSED, FOCUSED_EARLIER] {
        drop(fs::remove_dir_all(dir.join(folder)));
    }
}

/// Gives a folder, if it is there, the place of another one.
pub(super) fn renamed(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        drop(fs::remove_dir_all(to));
        fs::rename(from, to)?;
    }
    Ok(())
}

/// Ends the exchange of the corpus in `dir`, which may have been killed anywhere in between.
pub(super) fn mend(dir: &Path) -> Result<()> {
    let [kept, earlier, small] = ["corpus", EARLIER, SMALLER].map(|name| dir.join(name));
    if !earlier.exists() {
        return Ok(());
    }
    if !kept.exists() {
        // The new one was whole before the old one gave way.
        fs::rename(if small.exists() { &small } else { &earlier }, &kept)?;
    }
    if earlier.exists() {
        fs::remove_dir_all(&earlier)?;
    }
    Ok(())
}

pub(super) fn is_empty(dir: &Path) -> Result<bool> {
    Ok(fs::read_dir(dir)?.next().is_none())
}

/// The files of a folder, smallest first.
pub(super) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        files.push((entry.metadata()?.len(), entry.path()));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}
