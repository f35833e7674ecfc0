//! Compiles libFuzzer once for both kinds of builds: it takes longer than a small library with all its harnesses.

use super::build::place;
use crate::error::Result;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// The archive that a build in `own` can link, made in the target directory `other`. None where there is no such build yet,
/// or where `own` has compiled one before: another would have all that stands on it compiled again.
///
/// # Errors
/// Those of copying it.
pub fn of_other_builds(other: &Path, own: &Path, host: &str) -> Result<Option<PathBuf>> {
    let kept = own.join("libfuzzer.a");
    if kept.is_file() {
        return Ok(Some(kept));
    }
    if own.join(host).exists() {
        return Ok(None);
    }
    let Some(made) = made(&other.join(host).join("release/build")) else { return Ok(None) };
    fs::create_dir_all(own)?;
    place(&made, &kept)?;
    Ok(Some(kept))
}

/// What the build script of libfuzzer-sys has left.
fn made(builds: &Path) -> Option<PathBuf> {
    let crates = fs::read_dir(builds).ok()?.flatten();
    let crates = crates.filter(|entry| entry.file_name().to_string_lossy().starts_with("libfuzzer-sys-"));
    // Cargo writes down what a build script said when it is done.
    let done = crates.map(|entry| entry.path()).filter(|dir| dir.join("output").is_file());
    done.map(|dir| dir.join("out/libfuzzer.a")).filter(|path| path.is_file()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_build_made_is_kept_and_what_was_made_here_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (other, own) = (dir.path().to_owned(), dir.path().join("coverage"));
        assert_eq!(of_other_builds(&other, &own, "host").unwrap(), None);
        let out = other.join("host/release/build/libfuzzer-sys-1234/out");
        std::fs::create_dir_all(&out).unwrap();
        assert_eq!(of_other_builds(&other, &own, "host").unwrap(), None);
        std::fs::write(out.join("libfuzzer.a"), "archive").unwrap();
        assert_eq!(of_other_builds(&other, &own, "host").unwrap(), None);
        std::fs::write(out.join("../output"), "").unwrap();
        let kept = of_other_builds(&other, &own, "host").unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "archive");
        std::fs::remove_dir_all(&out).unwrap();
        assert_eq!(of_other_builds(&other, &own, "host").unwrap(), Some(kept));

        let own = dir.path().join("second");
        std::fs::create_dir_all(own.join("host")).unwrap();
        std::fs::create_dir_all(&out).unwrap();
        std::fs::write(out.join("libfuzzer.a"), "archive").unwrap();
        assert_eq!(of_other_builds(&other, &own, "host").unwrap(), None);
    }
}
