//! Files with which other services run the tool on a target repository: one file per service.

pub mod continuous;
pub mod github;
mod render;
pub mod repository;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::workspace::write_atomic;
use std::path::Path;

/// What an export did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Written,
    /// The file had this text already.
    Unchanged,
}

/// Writes a file; `force` allows it to replace another text. `again` is the command without it.
///
/// # Errors
/// `Usage` if the file has another text, `Io` if it cannot be written.
pub fn write(path: &Path, text: &str, force: bool, again: &str) -> Result<Change> {
    match fs_err::read(path) {
        Ok(there) if there == text.as_bytes() => return Ok(Change::Unchanged),
        Ok(_) if !force => {
            let what = format!("{} exists already and has another text", path.display());
            let help = format!("{again} --force replaces it; {again} --print shows the new text");
            return Err(Error::new(ErrorKind::Usage, what).help(help));
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    write_atomic(path, text.as_bytes())?;
    Ok(Change::Written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_replaced_only_by_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.yml");
        let write = |text, force| write(&path, text, force, "export it");
        assert_eq!(write("one", false).unwrap(), Change::Written);
        assert_eq!(write("one", false).unwrap(), Change::Unchanged);
        let refused = write("two", false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(refused.help_text().unwrap().contains("export it --force"));
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "one");
        assert_eq!(write("two", true).unwrap(), Change::Written);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
    }
}
