//! How far the inputs of a driver have come: a file says which texts they were made of, and its name what was done. So a
//! command takes up what a killed one left, or does it again, and what was found before stays.

use crate::error::Result;
use crate::in_place::corpus_folders;
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// There is one of these files at a time, which gets its next name when a step is over: a campaign has begun, it has ended,
/// and the inputs on which the driver breaks with C alone are away.
const BEGUN: &str = "made-of-begun";
const FUZZED: &str = "made-of-fuzzed";
const DONE: &str = "made-of";

/// The inputs in a folder, which are to be made of texts with this hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks<'a> {
    pub dir: &'a Path,
    pub made_of: &'a str,
}

impl Marks<'_> {
    /// Whether nothing is left to do.
    pub fn is_done(self) -> bool {
        self.is(DONE)
    }

    /// Whether inputs may still be among them on which the driver breaks with C alone.
    pub fn is_fuzzed(self) -> bool {
        self.is(FUZZED)
    }

    /// A campaign begins. What was found with other texts is forgotten, but for the corpus to begin with.
    pub fn begin(self) -> Result<()> {
        fs::create_dir_all(self.dir)?;
        for name in [FUZZED, DONE] {
            self.rename(name, BEGUN)?;
        }
        if !self.is(BEGUN) {
            corpus_folders::forget(self.dir);
            write_atomic(&self.path(BEGUN), self.made_of.as_bytes())?;
        }
        Ok(())
    }

    /// The campaign has ended.
    pub fn fuzzed(self) -> Result<()> {
        self.rename(BEGUN, FUZZED)
    }

    /// Inputs on which the driver breaks are away.
    pub fn done(self) -> Result<()> {
        self.rename(FUZZED, DONE)
    }

    fn rename(self, from: &str, to: &str) -> Result<()> {
        let from = self.path(from);
        if from.exists() {
            fs::rename(from, self.path(to))?;
        }
        Ok(())
    }

    fn is(self, name: &str) -> bool {
        fs::read_to_string(self.path(name)).is_ok_and(|text| text == self.made_of)
    }

    fn path(self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is made between two of these calls may be lost, but no more.
    #[test]
    fn a_kill_at_any_place_keeps_what_was_found_with_these_texts() {
        let dir = tempfile::tempdir().unwrap();
        let marks = |made_of| Marks { dir: dir.path(), made_of };
        let (a, b) = (marks("a"), marks("b"));
        let folders = ["more", "focused", "focused-earlier", "breaking"].map(|name| dir.path().join(name));
        let find = || folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
        let are_there = || folders.iter().all(|folder| folder.exists());
        let state = |of: Marks| (of.is_fuzzed(), of.is_done());
        a.begin().unwrap();
        find();
        // Killed in a campaign, the first one or a later one.
        for _ in 0..2 {
            assert_eq!(state(a), (false, false));
            a.begin().unwrap();
            assert!(are_there());
            a.fuzzed().unwrap();
            // Killed before the inputs were looked at.
            assert_eq!(state(a), (true, false));
            a.begin().unwrap();
            a.fuzzed().unwrap();
            a.done().unwrap();
            assert!(are_there() && state(a) == (false, true));
            a.begin().unwrap();
            assert!(are_there());
        }
        // Other texts, and the first ones again.
        a.fuzzed().unwrap();
        assert_eq!(state(b), (false, false));
        b.begin().unwrap();
        assert!(folders.iter().all(|folder| !folder.exists()));
        find();
        b.begin().unwrap();
        assert!(are_there());
        a.begin().unwrap();
        assert!(folders.iter().all(|folder| !folder.exists()));
    }
}
