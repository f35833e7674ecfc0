//! Writes a file atomically: readers, and a kill, see either the old content or the new.

use crate::error::{Error, ErrorKind, Result};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The prefix of temporary files before they are renamed to their targets.
pub(super) const TEMPORARY: &str = ".implfuzz-";

/// Writes `bytes` to `path` and makes missing directories. Follows symbolic links and keeps permissions. A file that
/// already has this content is not touched, so that its modification time stays and nothing is rebuilt.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    if has_content(path, bytes) {
        return Ok(());
    }
    let target = through_links(path);
    let dir = parent(&target)?;
    fs_err::create_dir_all(dir)?;
    // The mode that a plain create asks for; the umask applies.
    let mode = fs_err::metadata(&target).map_or(Permissions::from_mode(0o666), |meta| meta.permissions());
    let failed = |error: std::io::Error| {
        Error::io(format!("failed to write file `{}`: {error}", path.display()), &error)
    };
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(dir)
        .map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    if target.exists() {
        file.as_file().set_permissions(mode).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    sync_dir(dir)
}

pub(super) fn has_content(path: &Path, bytes: &[u8]) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64)
        && std::fs::read(path).is_ok_and(|old| old == bytes)
}

/// The file to replace: a rename over a symbolic link would destroy the link.
pub(super) fn through_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

pub(super) fn parent(path: &Path) -> Result<&Path> {
    match path.parent() {
        Some(dir) if dir.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(dir) => Ok(dir),
        None => Err(Error::new(ErrorKind::Io, format!("{} is not the name of a file", path.display()))),
    }
}

/// Makes renames in `dir` survive a power cut.
pub(super) fn sync_dir(dir: &Path) -> Result<()> {
    Ok(fs_err::File::open(dir)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_content_keeps_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.rs");
        write_atomic(&path, b"one").unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        std::fs::File::open(&path).unwrap().set_modified(old).unwrap();
        write_atomic(&path, b"one").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), old);
        write_atomic(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path().join("a")).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn links_and_permissions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomic(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn the_message_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("taken")).unwrap();
        let error = write_atomic(&dir.path().join("taken"), b"").unwrap_err();
        assert!(error.to_string().contains("taken"), "{error}");
    }
}
