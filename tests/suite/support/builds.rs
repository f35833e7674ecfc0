//! Removes the build products of test crates from the shared build directory. Each crate has a unique name, after
//! its directory, so only its own test ever uses them; two hundred of them would take 12 GiB.

use super::clib::target_dir;
use std::fs;
use std::path::{Path, PathBuf};

/// Removes what cargo made of the crate in this temporary directory. What several crates share stays, and so does what rustc keeps for the
/// next build of programs that have one name in every crate: nothing says whose that is.
pub fn forget(root: &Path) {
    let Some(name) = root.file_name().and_then(|name| name.to_str()) else { return };
    let name = name.trim_start_matches('.').to_lowercase();
    for profile in profiles(&target_dir()) {
        let mut own: Vec<String> = ["-", "_", "."].map(|end| format!("{name}{end}")).into();
        own.push(format!("lib{name}"));
        // Cargo's notes say whose the programs are that have one name in every crate, by a hash.
        let notes = entries(&profile.join(".fingerprint")).filter(|note| starts(note, &own));
        let hashes: Vec<String> =
            notes.filter_map(|note| Some(format!("-{}", note.to_str()?.rsplit_once('-')?.1))).collect();
        for folder in ["", "incremental", "build", "deps", ".fingerprint"] {
            let is_own = |path: &PathBuf| starts(path, &own) || has(path, &hashes);
            for path in entries(&profile.join(folder)).filter(is_own) {
                // Of two that remove it, one comes too late.
                drop(if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
            }
        }
    }
}

fn has(path: &Path, hashes: &[String]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    hashes.iter().any(|hash| name.contains(hash.as_str()))
}

fn starts(path: &Path, with: &[String]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    with.iter().any(|start| name.starts_with(start.as_str()))
}

/// The directories in which cargo keeps notes, which are those of profiles.
fn profiles(below: &Path) -> Vec<PathBuf> {
    if below.join(".fingerprint").is_dir() {
        return vec![below.to_owned()];
    }
    let folders = entries(below).filter(|path| path.is_dir());
    folders.flat_map(|folder| profiles(&folder)).collect()
}

/// Nothing, where there is no such directory.
fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}
