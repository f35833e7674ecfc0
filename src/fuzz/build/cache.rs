//! The user's build cache: one cargo target directory for all repositories. libFuzzer, the harness runtime
//! and the dependencies are the same for all of them, so only a user's first build compiles these. `build`
//! uses the cache; this module determines its place and size, and empties it when it is too large.

use crate::error::Result;
use crate::platform::workspace::{user_cache, write_atomic};
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use walkdir::WalkDir;

/// The folder's name in the user's cache directory.
const FOLDER: &str = "target";

/// Maximum size in bytes. Above it the cache is emptied, because cargo never removes artifacts of a deleted
/// repository or an old compiler. The next build takes as long as a user's first.
const MAX_SIZE: u64 = 4 << 30;

/// The interval between size checks: reading a large tree takes longer than a small build.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Its modification time is the time of the last check.
const STAMP: &str = ".implfuzz-size-checked";

/// The target directory for a repository: below `CARGO_TARGET_DIR` if the user sets it, else the user's build
/// cache, else (no home, or not writable) below `repository`, which is the tool's cache in the repository.
///
/// # Errors
/// If `CARGO_TARGET_DIR` is empty or the current directory cannot be read.
pub fn target_dir(repository: &Path) -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("CARGO_TARGET_DIR") {
        // In a subfolder, so that the user's own builds can run at the same time.
        return Ok(std::path::absolute(dir)?.join("implfuzz"));
    }
    let shared = build_cache().filter(|dir| fs::create_dir_all(dir).is_ok());
    Ok(shared.unwrap_or_else(|| repository.join(FOLDER)))
}

/// Whether nothing has been built yet in the target directory for a repository.
///
/// # Errors
/// As [`target_dir`].
pub fn is_empty(repository: &Path) -> Result<bool> {
    Ok(!target_dir(repository)?.join(crate::fuzz::build::runtime::SHARED).exists())
}

/// The path of the user's build cache. It may not exist yet.
fn build_cache() -> Option<PathBuf> {
    Some(user_cache()?.join(FOLDER))
}

/// The file in a target directory that a build locks.
pub(super) const BUILD_LOCK: &str = ".implfuzz-build-lock";

/// The size of all files below a directory in bytes. A file with several links counts once; files that cannot
/// be read are not counted.
pub fn size(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let mut seen = std::collections::HashSet::new();
    let all = WalkDir::new(dir).into_iter().flatten().filter_map(|entry| entry.metadata().ok());
    let files = all.filter(|meta| !meta.is_dir() && seen.insert(meta.ino()));
    files.map(|meta| meta.blocks() * 512).sum()
}

/// Empties a target directory that is too large; checks at most once a day. The caller holds the build lock.
/// A directory that the user set is never emptied.
pub fn prune(target_dir: &Path) -> Result<()> {
    if build_cache().as_deref() == Some(target_dir) { prune_at(target_dir, MAX_SIZE) } else { Ok(()) }
}

fn prune_at(target_dir: &Path, max: u64) -> Result<()> {
    let stamp = target_dir.join(STAMP);
    let checked = stamp.metadata().and_then(|meta| meta.modified()).ok();
    let age = checked.and_then(|time| SystemTime::now().duration_since(time).ok());
    if age.is_some_and(|age| age < INTERVAL) {
        return Ok(());
    }
    if size(target_dir) > max {
        for entry in fs::read_dir(target_dir)? {
            let entry = entry?;
            // Keep the runtime's sources, which overlays refer to, and plain files: wrappers and locks that a
            // build may be using.
            if entry.file_type()?.is_dir() && entry.file_name() != crate::fuzz::build::runtime::SHARED {
                // Builds of other runs may be at work in places of their own.
                let lock = fs::File::open(entry.path().join(BUILD_LOCK)).ok();
                if lock.as_ref().is_none_or(|lock| lock.file().try_lock().is_ok()) {
                    fs::remove_dir_all(entry.path())?;
                }
            }
        }
    }
    write_atomic(&stamp, format!("{}\n", env!("CARGO_PKG_VERSION")).as_bytes())?;
    // If the text is unchanged, nothing was written, so set the time explicitly.
    fs::File::options().write(true).open(&stamp)?.file().set_modified(SystemTime::now())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_above_its_size_is_emptied_once_a_day_and_keeps_what_a_build_is_using() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, vec![1; 10_000]).unwrap();
        };
        let all = ["host/release/a", "place-1/b", "runtime/c", "implfuzz-rustc-1"];
        all.iter().for_each(|name| write(name));
        assert!((40_000..80_000).contains(&size(dir.path())), "{}", size(dir.path()));
        prune_at(dir.path(), 80_000).unwrap();
        assert!(all.iter().all(|name| dir.path().join(name).is_file()));
        // The size was checked just now.
        prune_at(dir.path(), 10_000).unwrap();
        assert!(all.iter().all(|name| dir.path().join(name).is_file()));
        let stamp = std::fs::File::options().write(true).open(dir.path().join(STAMP)).unwrap();
        stamp.set_modified(SystemTime::now() - 2 * INTERVAL).unwrap();
        prune_at(dir.path(), 10_000).unwrap();
        assert_eq!(all.map(|name| dir.path().join(name).is_file()), [false, false, true, true]);
    }

    #[test]
    fn a_file_with_two_names_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), vec![1; 100_000]).unwrap();
        let once = size(dir.path());
        std::fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
        assert_eq!(size(dir.path()), once);
    }
}
