//! Changes several files together: a kill at any instant leaves the tree in the old state or the new one.
//!
//! `.implfuzz/txn/` is a write-ahead log. All new contents are staged there and made durable; then one rename puts the
//! manifest in place, which commits the transaction; then every file is renamed into its place. [`recover`] finishes a
//! log that has a manifest and discards one that has none. Both can be interrupted and run again.

use super::Workspace;
use super::atomic::{has_content, parent, sync_dir, through_links, write_atomic};
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

const LOG_DIR: &str = ".implfuzz/txn";
const MANIFEST: &str = "manifest.json";

/// The targets in order, relative to the root; number `i` is staged in the file named `i`.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    version: u32,
    targets: Vec<PathBuf>,
}

/// Writes to be done together; no file of the tree changes before [`Transaction::commit`].
#[derive(Debug)]
#[must_use]
pub struct Transaction<'w> {
    /// Borrowed so that the lock is held while files change.
    workspace: &'w Workspace,
    writes: BTreeMap<PathBuf, Vec<u8>>,
}

impl<'w> Transaction<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, writes: BTreeMap::new() }
    }

    /// Adds a file, absolute or relative to the root; the last content for a path counts. Fails if the file is outside
    /// the workspace.
    pub fn add(&mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Result<()> {
        let path = path.as_ref();
        let relative = path.strip_prefix(self.workspace.root()).unwrap_or(path);
        check_inside(relative)?;
        self.writes.insert(relative.to_owned(), bytes.into());
        Ok(())
    }

    /// The files so far, relative to the root.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.writes.keys().cloned().collect()
    }

    /// Writes everything and returns the absolute paths of the files that changed.
    pub fn commit(self) -> Result<Vec<PathBuf>> {
        if !self.workspace.is_locked() {
            return Err(Error::new(ErrorKind::Internal, "a command that only reads tried to change files"));
        }
        commit(self.workspace.root(), self.writes.into_iter().collect(), &mut || Ok(()))
    }
}

/// Called before every step that a kill could interrupt; tests stop there.
type Step<'a> = &'a mut dyn FnMut() -> Result<()>;

fn commit(root: &Path, mut writes: Vec<(PathBuf, Vec<u8>)>, step: Step) -> Result<Vec<PathBuf>> {
    writes.retain(|(path, bytes)| !has_content(&root.join(path), bytes));
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    // Finish or discard what a failed commit of this process left, so that it does not mix with this one.
    recover_with(root, step)?;
    if let Some((path, _)) = writes.iter().find(|(path, _)| root.join(path).is_dir()) {
        return Err(Error::new(ErrorKind::Io, format!("{} is a directory, not a file", path.display())));
    }
    check_parents(root, &writes)?;
    let log = root.join(LOG_DIR);
    step()?;
    fs_err::create_dir_all(&log)?;
    for (i, (path, bytes)) in writes.iter().enumerate() {
        step()?;
        stage(&log.join(i.to_string()), &root.join(path), bytes, step)?;
    }
    let manifest = Manifest { version: 1, targets: writes.iter().map(|(path, _)| path.clone()).collect() };
    let text = serde_json::to_vec(&manifest)
        .map_err(|error| Error::new(ErrorKind::Io, format!("a path cannot be written down: {error}")))?;
    step()?;
    write_atomic(&log.join(MANIFEST), &text)?;
    finish(root, &manifest.targets, step)?;
    Ok(manifest.targets.iter().map(|path| root.join(path)).collect())
}

/// Fails if a file stands where a directory is needed, before anything is staged.
fn check_parents(root: &Path, writes: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    let parents = writes.iter().flat_map(|(path, _)| path.ancestors().skip(1));
    match parents.filter(|path| !path.as_os_str().is_empty()).find(|path| root.join(path).is_file()) {
        None => Ok(()),
        Some(path) => {
            let path = path.display();
            let text = format!("{path} in {} is a file, but a directory is needed there", root.display());
            Err(Error::new(ErrorKind::Io, text).help(format!("mv {path} {path}.old")))
        }
    }
}

fn stage(staged: &Path, target: &Path, bytes: &[u8], step: Step) -> Result<()> {
    let mut file = fs_err::File::create(staged)?;
    let half = bytes.len() / 2;
    file.write_all(&bytes[..half])?;
    step()?;
    file.write_all(&bytes[half..])?;
    if let Ok(meta) = std::fs::metadata(target) {
        fs_err::set_permissions(staged, meta.permissions())?;
    }
    Ok(file.sync_all()?)
}

/// Puts the remaining staged files into place, then drops the log. Returns how many there were.
fn finish(root: &Path, targets: &[PathBuf], step: Step) -> Result<usize> {
    let log = root.join(LOG_DIR);
    let mut moved = 0;
    let mut dirs = BTreeSet::new();
    for (i, path) in targets.iter().enumerate() {
        let staged = log.join(i.to_string());
        if !staged.exists() {
            continue;
        }
        step()?;
        let target = through_links(&root.join(path));
        move_in(&staged, &target)?;
        dirs.insert(parent(&target)?.to_owned());
        moved += 1;
    }
    // While the manifest is there, a move that is not on disk yet can be repeated.
    dirs.iter().try_for_each(|dir| sync_dir(dir))?;
    // A log without a manifest counts as uncommitted, so the manifest goes last.
    step()?;
    fs_err::remove_file(log.join(MANIFEST))?;
    discard(&log, step)?;
    Ok(moved)
}

fn move_in(staged: &Path, target: &Path) -> Result<()> {
    let dir = parent(target)?;
    fs_err::create_dir_all(dir)?;
    match std::fs::rename(staged, target) {
        Ok(()) => Ok(()),
        // A directory of the tree may be a mount of another file system.
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            write_atomic(target, &fs_err::read(staged)?)?;
            Ok(fs_err::remove_file(staged)?)
        }
        Err(error) => {
            Err(Error::new(ErrorKind::Io, format!("failed to write file `{}`: {error}", target.display())))
        }
    }
}

fn discard(log: &Path, step: Step) -> Result<()> {
    step()?;
    Ok(fs_err::remove_dir_all(log)?)
}

/// Finishes or discards what a killed process left. Returns how many files of a committed transaction still had to be
/// put into place. The caller holds the lock.
pub(super) fn recover(root: &Path) -> Result<usize> {
    recover_with(root, &mut || Ok(()))
}

fn recover_with(root: &Path, step: Step) -> Result<usize> {
    let log = root.join(LOG_DIR);
    if !log.exists() {
        return Ok(0);
    }
    let path = log.join(MANIFEST);
    if !path.exists() {
        // It was not committed, so no file of the tree had changed.
        discard(&log, step)?;
        return Ok(0);
    }
    let broken = |why: String| {
        Error::new(ErrorKind::Io, format!("{} is not a manifest of this tool: {why}", path.display()))
            .help(format!("rm -r {}", log.display()))
    };
    let manifest: Manifest =
        serde_json::from_slice(&fs_err::read(&path)?).map_err(|error| broken(error.to_string()))?;
    if manifest.version != 1 {
        return Err(broken(format!("its version is {}", manifest.version)));
    }
    for target in &manifest.targets {
        // The repository may be untrusted.
        check_inside(target).map_err(|error| broken(error.to_string()))?;
    }
    finish(root, &manifest.targets, step)
}

pub(super) fn check_inside(path: &Path) -> Result<()> {
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if plain && path.file_name().is_some() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Io, format!("{} is not a file inside the target repository", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Tree = BTreeMap<String, Vec<u8>>;

    /// Lets this many steps pass, then fails like a kill: nothing after it happens.
    fn stop_after(steps: usize) -> impl FnMut() -> Result<()> {
        let mut left = steps;
        move || {
            left = left.checked_sub(1).ok_or_else(Error::interrupted)?;
            Ok(())
        }
    }

    fn plant(tree: &Tree) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".implfuzz")).unwrap();
        for (name, bytes) in tree {
            write_atomic(&dir.path().join(name), bytes).unwrap();
        }
        dir
    }

    fn read(root: &Path, names: &Tree) -> Tree {
        let content = |name: &String| Some((name.clone(), std::fs::read(root.join(name)).ok()?));
        names.keys().filter_map(content).collect()
    }

    /// Stops the commit after every step, and each recovery after every step.
    fn every_stop_is_all_or_nothing(old: &Tree, new: &Tree) {
        let after: Tree = old.clone().into_iter().chain(new.clone()).collect();
        for stop in 0.. {
            for second_stop in 0.. {
                let dir = plant(old);
                let root = dir.path();
                let writes = new.iter().map(|(name, bytes)| (name.into(), bytes.clone())).collect();
                let done = commit(root, writes, &mut stop_after(stop)).is_ok();
                for (name, bytes) in read(root, &after) {
                    let whole = old.get(&name) == Some(&bytes) || new.get(&name) == Some(&bytes);
                    assert!(whole, "{name} is torn after step {stop}");
                }
                let committed = root.join(LOG_DIR).join(MANIFEST).exists();
                let first = recover_with(root, &mut stop_after(second_stop));
                recover(root).unwrap();
                let tree = read(root, &after);
                assert!(tree == *old || tree == after, "stops {stop}, {second_stop}: {tree:?}");
                if done || committed {
                    assert_eq!(tree, after, "a commitment was lost at stops {stop}, {second_stop}");
                }
                assert!(!root.join(LOG_DIR).exists());
                if first.is_ok() {
                    if done {
                        return;
                    }
                    break;
                }
            }
        }
    }

    #[test]
    fn a_stop_after_any_step_leaves_the_old_tree_or_the_new_one() {
        let tree = |files: &[(&str, &str)]| -> Tree {
            files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let old = tree(&[("a", "old a"), ("rust/src/b.rs", "old b"), ("same", "same")]);
        let new = tree(&[("a", "new a"), ("rust/src/b.rs", "new b"), ("same", "same"), ("new/dir/c", "c")]);
        every_stop_is_all_or_nothing(&old, &new);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn any_trees_survive_any_stop(
            old in proptest::collection::btree_map("[a-d]|x/[a-c]", proptest::collection::vec(any::<u8>(), 0..8), 0..4),
            new in proptest::collection::btree_map("[a-d]|x/[a-c]", proptest::collection::vec(any::<u8>(), 0..8), 1..4),
        ) {
            every_stop_is_all_or_nothing(&old, &new);
        }
    }

    #[test]
    fn the_workspace_finishes_a_committed_log_when_it_opens() {
        let dir = plant(&Tree::new());
        for steps in 0.. {
            let writes = vec![("a".into(), b"1".to_vec()), ("b".into(), b"2".to_vec())];
            assert!(commit(dir.path(), writes, &mut stop_after(steps)).is_err());
            if dir.path().join(LOG_DIR).join(MANIFEST).exists() {
                break;
            }
        }
        let workspace = Workspace::create(dir.path()).unwrap();
        assert_eq!(workspace.recovered(), 2);
        assert_eq!(std::fs::read(dir.path().join("b")).unwrap(), b"2");
    }

    #[test]
    fn commit_says_what_changed_and_the_last_content_counts() {
        let dir = plant(&[("same".to_owned(), b"same".to_vec())].into());
        let workspace = Workspace::create(dir.path()).unwrap();
        let mut transaction = workspace.transaction();
        transaction.add("same", "same").unwrap();
        transaction.add(workspace.root().join("new"), "first").unwrap();
        transaction.add("new", "second").unwrap();
        assert_eq!(transaction.commit().unwrap(), [workspace.root().join("new")]);
        assert_eq!(std::fs::read(dir.path().join("new")).unwrap(), b"second");
    }

    #[test]
    fn nothing_outside_of_the_workspace_is_written() {
        let dir = plant(&Tree::new());
        let workspace = Workspace::create(dir.path()).unwrap();
        for path in ["../x", "/etc/x", "a/../../x", ""] {
            assert!(workspace.transaction().add(path, "").is_err(), "{path}");
        }
        drop(workspace);
        let log = dir.path().join(LOG_DIR);
        write_atomic(&log.join("0"), b"evil").unwrap();
        write_atomic(&log.join(MANIFEST), br#"{"version":1,"targets":["../planted"]}"#).unwrap();
        let error = Workspace::create(dir.path()).unwrap_err();
        assert!(error.help_text().unwrap().starts_with("rm -r"), "{error}");
        assert!(!dir.path().parent().unwrap().join("planted").exists());
    }
}
