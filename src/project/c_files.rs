//! The C files of the repository as the analysis read them, with their hashes.

use crate::digest::{of_parts, sha256};
use camino::Utf8Path;
use std::collections::BTreeMap;

/// Hashes of the files that the units of a library consist of, by path relative to the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CFiles(pub BTreeMap<String, String>);

impl CFiles {
    /// What a build must watch: all of them but those that the tool makes anew itself.
    pub fn watched(&self) -> Vec<String> {
        self.0.keys().filter(|path| !path.starts_with(".implfuzz/")).cloned().collect()
    }

    /// A hash of what stands in the files now.
    pub fn hash_now(&self, root: &Utf8Path) -> String {
        let now = self.0.keys().map(|path| read(root, path));
        of_parts(self.0.keys().cloned().zip(now).flat_map(|(path, hash)| [path, hash]))
    }

    /// The files in which something else stands now.
    pub fn changed(&self, root: &Utf8Path) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(path, hash)| read(root, path) != **hash).map(|(path, _)| path.as_str())
    }
}

/// The hash of a file; empty where it cannot be read.
fn read(root: &Utf8Path, path: &str) -> String {
    std::fs::read(root.join(path)).map(sha256).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_noticed_and_its_undoing_too() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let put = |text: &str| std::fs::write(root.join("table.inc"), text).unwrap();
        put("1");
        let files = CFiles([("table.inc".to_owned(), sha256("1"))].into());
        let before = files.hash_now(root);
        assert_eq!(files.changed(root).count(), 0);
        put("2");
        assert_eq!(files.changed(root).collect::<Vec<_>>(), ["table.inc"]);
        assert_ne!(files.hash_now(root), before);
        put("1");
        assert_eq!((files.hash_now(root), files.changed(root).count()), (before, 0));
    }
}
