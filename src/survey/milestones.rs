//! How the grades of a port came to be: `implfuzz.lock` as the commits have it.

use crate::error::Result;
use crate::evidence::lock::LOCK_FILE;
use crate::platform::git;
use crate::platform::process::Interrupt;
use crate::verdict::Grade;
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The grades at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Milestone {
    pub when: Timestamp,
    /// Each grade with the number of ports that have it.
    pub grades: BTreeMap<Grade, usize>,
}

/// The most commits that are read; of more, as many with equal distances.
const MOST: usize = 60;

/// Those of the repository around `root`, the first one first. Without git, or outside of a git repository, there are none.
///
/// # Errors
/// Ctrl-C.
pub(super) fn of(root: &Path, interrupt: &Interrupt) -> Result<Vec<Milestone>> {
    let log = ["log", "--first-parent", "--reverse", "--format=%H %ct", "--", LOCK_FILE];
    let Some(log) = git::asked(root, &log, interrupt)? else { return Ok(Vec::new()) };
    let commits: Vec<(&str, Timestamp)> = log.lines().filter_map(commit).collect();
    let mut found = Vec::new();
    for (hash, when) in spread(&commits) {
        let text = git::asked(root, &["cat-file", "blob", &format!("{hash}:./{LOCK_FILE}")], interrupt)?;
        // A commit that removes the file, or has another version of it, is passed over.
        let grades = text.and_then(|text| grades(&text));
        found.extend(grades.map(|grades| Milestone { when: *when, grades }));
    }
    Ok(found)
}

fn commit(line: &str) -> Option<(&str, Timestamp)> {
    let (hash, seconds) = line.split_once(' ')?;
    Some((hash, Timestamp::from_second(seconds.parse().ok()?).ok()?))
}

/// At most `MOST` of these, the first and the last among them.
fn spread<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let chosen = all.len().min(MOST);
    (0..chosen).map(move |at| &all[if chosen < 2 { at } else { at * (all.len() - 1) / (chosen - 1) }])
}

fn grades(text: &str) -> Option<BTreeMap<Grade, usize>> {
    #[derive(Deserialize)]
    struct Lock {
        #[serde(default)]
        symbols: BTreeMap<String, Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        grade: Grade,
    }
    let lock: Lock = toml::from_str(text).ok()?;
    let mut grades = BTreeMap::new();
    lock.symbols.into_values().for_each(|entry| *grades.entry(entry.grade).or_default() += 1);
    Some(grades)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_spread_with_the_first_and_the_last() {
        let all: Vec<usize> = (0..200).collect();
        let some: Vec<&usize> = spread(&all).collect();
        assert_eq!((some.len(), some[0], some[MOST - 1]), (MOST, &0, &199));
        assert_eq!(spread(&all[..3]).collect::<Vec<_>>(), [&0, &1, &2]);
        assert_eq!(spread(&all[..1]).count() + spread(&all[..0]).count(), 1);
    }

    #[test]
    fn grades_are_counted_in_any_version_of_the_file() {
        let text = "version = 1\n[symbols.f]\ngrade = \"verified\"\nlater = 1\n[symbols.g]\ngrade = \"weak\"\n[symbols.h]\ngrade = \"verified\"\n";
        assert_eq!(grades(text).unwrap(), BTreeMap::from([(Grade::Verified, 2), (Grade::Weak, 1)]));
        assert_eq!(grades("version = 9\n").unwrap(), BTreeMap::new());
        assert_eq!(grades("[symbols.f]\ngrade = \"splendid\"\n"), None);
    }
}
