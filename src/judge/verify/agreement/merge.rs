//! Merges of locks and of other texts, by line and by `git merge-file`; a coin decides what a person would.

use crate::platform::process::{Interrupt, Job};
use std::collections::BTreeSet;

/// Chooses one side or the other.
pub(super) struct Coin(pub(super) u64);

impl Coin {
    pub(super) fn flip(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 63 == 1
    }
}

/// A merge of two locks that stays TOML: entries on one side only are kept or dropped, differing entries come from
/// one side.
pub(super) fn merged(ours: &toml::Table, theirs: &toml::Table, coin: &mut Coin) -> toml::Table {
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let pick = |key: &String| match (ours.get(key), theirs.get(key)) {
        // C lines, and everything that is not a table of symbols, are single lines.
        (Some(toml::Value::Table(a)), Some(toml::Value::Table(b))) => {
            Some(toml::Value::Table(merged(a, b, coin)))
        }
        (Some(a), Some(b)) => Some(if coin.flip() { a.clone() } else { b.clone() }),
        (one, other) => one.or(other).filter(|value| value.is_table() || coin.flip()).cloned(),
    };
    let mut pick = pick;
    keys.into_iter().filter_map(|key| Some((key.clone(), pick(key)?))).collect()
}

/// The texts as `git merge-file` merges them, and whether there was no conflict.
pub(super) fn merge_file(texts: [&String; 3], coin: &mut Coin) -> (String, bool) {
    let dir = tempfile::tempdir().unwrap();
    let names = ["ours", "base", "theirs"];
    names.iter().zip(texts).for_each(|(name, text)| std::fs::write(dir.path().join(name), text).unwrap());
    let merge = |how: &[&str]| {
        let job = Job::new("git").args(["merge-file", "-p"]).args(how).args(names).dir(dir.path());
        let output = job.run(&Interrupt::none()).unwrap();
        (output.stdout_text(), output.exit.success())
    };
    let (text, is_clean) = merge(&[]);
    let how = match (is_clean, coin.flip(), coin.flip()) {
        (true, ..) | (false, true, true) => return (text, is_clean),
        (false, true, false) => "--union",
        (false, false, true) => "--ours",
        (false, false, false) => "--theirs",
    };
    (merge(&[how]).0, false)
}
