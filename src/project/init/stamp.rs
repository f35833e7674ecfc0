//! Whether the tree is up to date: the store has the hashes of everything that [`super::sync`] read and wrote.
//! `sync` decides what to write.

use crate::digest::sha256;
use crate::error::Result;
use crate::project::Project;
use crate::store::{AnalysisKind, Kept, Store};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Messages that `sync` repeats even when nothing has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    pub globals_left_out: Vec<(String, String)>,
    pub outdated: Vec<String>,
}

/// The messages of the last update, if nothing has changed since.
pub(super) fn holds(project: &Project) -> Result<Option<Told>> {
    let store = Store::open(&project.workspace.state_db())?;
    let Some(kept) = store.kept(AnalysisKind::Sync, "", &fingerprint(project))? else { return Ok(None) };
    let known: BTreeSet<&str> = kept.inputs.keys().map(String::as_str).collect();
    let is_new = |path: &PathBuf| !known.contains(&*relative(project, path));
    if watched(project).iter().any(is_new) {
        return Ok(None);
    }
    let root = project.workspace.root();
    let same = kept.inputs.iter().all(|(path, hash)| hash_of(&root.join(path)) == *hash);
    Ok(if same { serde_json::from_slice(&kept.value).ok() } else { None })
}

/// Records that the tree is up to date. `written` are the updated files.
pub(super) fn set(project: &Project, written: &[PathBuf], told: &Told) -> Result<()> {
    let all = written.iter().cloned().chain(watched(project));
    let inputs: BTreeMap<String, String> =
        all.map(|path| (relative(project, &path), hash_of(&project.workspace.root().join(&path)))).collect();
    let value = serde_json::to_vec(told).expect("lists of text have a form in JSON");
    let kept = Kept { fingerprint: fingerprint(project), inputs, value };
    Store::open(&project.workspace.state_db())?.keep(AnalysisKind::Sync, &[(String::new(), kept)])
}

/// The hash of the analysis and of the configuration.
fn fingerprint(project: &Project) -> String {
    let config = format!("{:?}", project.config);
    sha256(format!("{}\n{config}", project.fingerprint))
}

/// Files that matter as soon as they exist: modules, contracts, harnesses, fuzz targets of both kinds.
fn watched(project: &Project) -> Vec<PathBuf> {
    let rust = project.rust_dir();
    let dirs = ["src", "contracts", "fuzz/src/harness", "fuzz/fuzz_targets", "fuzz/targets"];
    let entries = dirs.iter().flat_map(|dir| std::fs::read_dir(rust.join(dir)).into_iter().flatten());
    entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}

fn relative(project: &Project, path: &Path) -> String {
    path.strip_prefix(project.workspace.root()).unwrap_or(path).to_string_lossy().into_owned()
}

/// The hash of a file, or an empty text if it does not exist.
fn hash_of(path: &Path) -> String {
    fs::read(path).map(sha256).unwrap_or_default()
}
