//! A tentative file in the tree. It is taken back when the workspace is dropped, or opened again after a kill, unless
//! it was kept or someone has changed it since.

use super::atomic::{parent, sync_dir, write_atomic};
use super::transaction::check_inside;
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Records what to take back. It is written before the file and removed after it.
const NOTE: &str = ".implfuzz/trial.json";

/// The text of a tentative file.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Below the root.
    pub path: PathBuf,
    pub text: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    path: PathBuf,
    /// Of the tentative text.
    hash: String,
    /// What was there before; absent if nothing was.
    before: Option<String>,
}

pub(super) fn begin(root: &Path, trial: &Trial) -> Result<()> {
    take_back(root)?;
    let path = trial.path.strip_prefix(root).unwrap_or(&trial.path).to_owned();
    check_inside(&path)?;
    let target = root.join(&path);
    let before = if target.exists() { Some(fs_err::read_to_string(&target)?) } else { None };
    let note = serde_json::to_vec(&Note { path, hash: sha256(&trial.text), before })
        .map_err(|error| Error::new(ErrorKind::Io, format!("a path cannot be written down: {error}")))?;
    write_atomic(&root.join(NOTE), &note)?;
    write_atomic(&target, trial.text.as_bytes())
}

/// Leaves the text in the tree.
pub(super) fn keep(root: &Path) -> Result<()> {
    let note = root.join(NOTE);
    if note.exists() {
        fs_err::remove_file(&note)?;
        sync_dir(parent(&note)?)?;
    }
    Ok(())
}

/// Restores the tree if it has a tentative file.
pub(super) fn take_back(root: &Path) -> Result<()> {
    let note = root.join(NOTE);
    if !note.exists() {
        return Ok(());
    }
    let wrong = |why: String| {
        let text = format!("{} cannot be read, so tentative files cannot be removed: {why}", note.display());
        Error::new(ErrorKind::Io, text).help(format!("inspect it, then: rm {}", note.display()))
    };
    let text = fs_err::read(&note)?;
    let Note { path, hash, before } =
        serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    check_inside(&path).map_err(|error| wrong(error.to_string()))?;
    let target = root.join(path);
    match (fs_err::read(&target), before) {
        // If someone else has changed or removed the file, leave it as it is.
        (Ok(now), _) if sha256(&now) != hash => {}
        (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => {}
        (Err(error), _) => return Err(error.into()),
        (Ok(_), Some(before)) => write_atomic(&target, before.as_bytes())?,
        (Ok(_), None) => {
            fs_err::remove_file(&target)?;
            sync_dir(parent(&target)?)?;
        }
    }
    keep(root)
}

/// Checks that the tree has no tentative file. Readers call it because they do not lock the repository and must not
/// take a tentative text for the user's.
///
/// # Errors
/// `Environment` if there is one; the error names it.
pub fn nothing_on_trial(root: &Path) -> Result<()> {
    let Ok(text) = fs_err::read(root.join(NOTE)) else { return Ok(()) };
    let file = serde_json::from_slice(&text)
        .map_or_else(|_| "a file".to_owned(), |n: Note| n.path.display().to_string());
    let text =
        format!("{file} is a tentative file of a `cargo implfuzz` run that is still active or was killed");
    Err(Error::new(ErrorKind::Environment, text)
        .help("wait for it to end; if it was killed: cargo implfuzz status"))
}

#[cfg(test)]
mod tests {
    use super::super::{CONFIG_FILE, Workspace};
    use super::*;

    fn open(dir: &Path) -> Workspace {
        Workspace::open(Some(dir)).unwrap()
    }

    fn trial(text: &str) -> Trial {
        Trial { path: "contracts/x.toml".into(), text: text.to_owned() }
    }

    /// A repository whose contract has the text `before`.
    fn repository(before: Option<&str>) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join(CONFIG_FILE), "").unwrap();
        let path = dir.path().join("contracts/x.toml");
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(before) = before {
            fs_err::write(&path, before).unwrap();
        }
        (dir, path)
    }

    #[test]
    fn it_ends_with_the_workspace() {
        for before in [None, Some("old")] {
            let (dir, path) = repository(before);
            let workspace = open(dir.path());
            workspace.begin(&trial("new")).unwrap();
            assert_eq!(fs_err::read_to_string(&path).unwrap(), "new");
            drop(workspace);
            assert_eq!(fs_err::read_to_string(&path).ok().as_deref(), before);
            assert!(!dir.path().join(NOTE).exists());
        }
    }

    #[test]
    fn what_is_kept_stays() {
        let (dir, path) = repository(Some("old"));
        let workspace = open(dir.path());
        workspace.begin(&trial("new")).unwrap();
        workspace.keep().unwrap();
        drop(workspace);
        drop(open(dir.path()));
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn what_a_person_made_of_it_stays() {
        let (dir, path) = repository(Some("old"));
        let workspace = open(dir.path());
        workspace.begin(&trial("new")).unwrap();
        fs_err::write(&path, "edited").unwrap();
        drop(workspace);
        drop(open(dir.path()));
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "edited");
        assert!(!dir.path().join(NOTE).exists());
        let workspace = open(dir.path());
        workspace.begin(&trial("new")).unwrap();
        fs_err::remove_file(&path).unwrap();
        drop(workspace);
        assert!(!path.exists() && !dir.path().join(NOTE).exists());
    }

    #[test]
    fn a_second_one_does_not_hide_what_stood_there() {
        let (dir, path) = repository(Some("old"));
        let workspace = open(dir.path());
        workspace.begin(&trial("new")).unwrap();
        workspace.begin(&trial("newer")).unwrap();
        drop(workspace);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn after_a_kill_the_next_one_takes_it_back() {
        for before in [None, Some("old")] {
            let (dir, path) = repository(before);
            // A killed process does not drop its workspace.
            std::mem::forget({
                let workspace = open(dir.path());
                workspace.begin(&trial("new")).unwrap();
                workspace.lock.as_ref().unwrap().file().unlock().unwrap();
                workspace
            });
            assert_eq!(fs_err::read_to_string(&path).unwrap(), "new");
            let told = nothing_on_trial(dir.path()).unwrap_err();
            assert!(told.to_string().contains("contracts/x.toml"), "{told}");
            let workspace = open(dir.path());
            nothing_on_trial(dir.path()).unwrap();
            assert_eq!(fs_err::read_to_string(&path).ok().as_deref(), before);
            drop(workspace);
        }
    }

    #[test]
    fn a_note_that_leads_outside_is_refused() {
        let (dir, _) = repository(None);
        drop(open(dir.path()));
        fs_err::write(dir.path().join(NOTE), r#"{"path": "../elsewhere", "hash": "", "before": "x"}"#)
            .unwrap();
        let error = Workspace::open(Some(dir.path())).unwrap_err();
        assert!(error.help_text().unwrap().contains("trial.json"), "{error}");
        assert!(!dir.path().parent().unwrap().join("elsewhere").exists());
    }
}
