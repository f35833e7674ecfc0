//! The inputs of an analysis: files with their hashes. A cached analysis is valid while they are unchanged.

use crate::digest::sha256;
use crate::error::Result;
use crate::store::{AnalysisKind, Kept, Store};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

/// Hashes of files; each file is read once.
#[derive(Debug)]
pub(super) struct Files<'a> {
    root: &'a Utf8Path,
    known: HashMap<Utf8PathBuf, String>,
}

impl<'a> Files<'a> {
    /// The paths may be absolute or relative to `root`.
    pub fn new(root: &'a Utf8Path) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// The hash of a file's present content; empty when it cannot be read.
    pub fn hash(&mut self, path: &str) -> String {
        let path = self.root.join(path);
        if let Some(known) = self.known.get(&path) {
            return known.clone();
        }
        let hash = std::fs::read(&path).map(sha256).unwrap_or_default();
        self.known.insert(path, hash.clone());
        hash
    }

    pub fn hashes(&mut self, paths: impl IntoIterator<Item = String>) -> BTreeMap<String, String> {
        paths
            .into_iter()
            .map(|path| {
                let hash = self.hash(&path);
                (self.below(Utf8Path::new(&path)).to_owned(), hash)
            })
            .collect()
    }

    /// All hashes so far; paths below the root are relative to it.
    pub fn seen(&self) -> BTreeMap<String, String> {
        self.known.iter().map(|(path, hash)| (self.below(path).to_owned(), hash.clone())).collect()
    }

    fn below<'p>(&self, path: &'p Utf8Path) -> &'p str {
        path.strip_prefix(self.root).unwrap_or(path).as_str()
    }

    /// The cached value, if none of its inputs changed. A value from another version of the tool that cannot
    /// be read counts as missing.
    pub fn kept<T: DeserializeOwned>(
        &mut self,
        store: &Store,
        kind: AnalysisKind,
        subject: &str,
        fingerprint: &str,
    ) -> Result<Option<T>> {
        let Some(kept) = store.kept(kind, subject, fingerprint)? else { return Ok(None) };
        let same = kept.inputs.iter().all(|(path, hash)| self.hash(path) == *hash);
        Ok(if same { serde_json::from_slice(&kept.value).ok() } else { None })
    }
}

/// A value with its fingerprint and inputs, for the cache.
pub(super) fn keep<T: Serialize>(fingerprint: &str, inputs: BTreeMap<String, String>, value: &T) -> Kept {
    let value = serde_json::to_vec(value).expect("plain data with text keys has a form in JSON");
    Kept { fingerprint: fingerprint.to_owned(), inputs, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_value_falls_with_any_of_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let mut store = Store::open(&dir.path().join("state.db")).unwrap();
        std::fs::write(root.join("a.h"), "1").unwrap();
        let kind = AnalysisKind::Facts;
        let inputs = Files::new(root).hashes(["a.h".to_owned(), "gone.h".to_owned()]);
        assert_eq!(inputs["gone.h"], "");
        store.keep(kind, &[("a.c".to_owned(), keep("f", inputs, &7))]).unwrap();
        let read = |fingerprint: &str| -> Option<i32> {
            Files::new(root).kept(&store, kind, "a.c", fingerprint).unwrap()
        };
        assert_eq!((read("f"), read("g")), (Some(7), None));
        std::fs::write(root.join("gone.h"), "").unwrap();
        assert_eq!(read("f"), None, "a file that appeared is a change");
        std::fs::remove_file(root.join("gone.h")).unwrap();
        assert_eq!(read("f"), Some(7));
        std::fs::write(root.join("a.h"), "2").unwrap();
        assert_eq!(read("f"), None);
    }
}
