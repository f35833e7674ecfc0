//! Selects the held-back inputs of the hidden gate, which no prompt can show. The gate tests ports that may be fitted to the
//! counterexamples in their prompts.

use crate::digest::sha256;
use crate::error::Result;
use fs_err as fs;
use std::path::Path;

/// Selects the inputs that are held back: about half of them, by a hash with this key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    pub key: String,
}

impl HeldBack {
    /// Whether this input is held back.
    pub fn holds(&self, input: &[u8]) -> bool {
        let hash = sha256([self.key.as_bytes(), b"\0", input].concat());
        hash.as_bytes().first().is_some_and(|digit| digit % 2 == 1)
    }

    /// Makes `shown` a directory with those inputs of `all` that are not held back. They are hard links,
    /// which cost less than copies.
    pub(super) fn link_others(&self, all: &Path, shown: &Path) -> Result<()> {
        if shown.exists() {
            fs::remove_dir_all(shown)?;
        }
        fs::create_dir_all(shown)?;
        for entry in fs::read_dir(all)? {
            let entry = entry?;
            let bytes = fs::read(entry.path())?;
            if self.holds(&bytes) {
                continue;
            }
            let place = shown.join(entry.file_name());
            // Not every file system supports hard links.
            if fs::hard_link(entry.path(), &place).is_err() {
                fs::write(&place, bytes)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_half_is_held_back_and_another_key_holds_others() {
        let held = |key: &str| {
            let held = HeldBack { key: key.into() };
            (0..1000u32).filter(|n| held.holds(&n.to_le_bytes())).collect::<Vec<_>>()
        };
        let (one, other) = (held("one"), held("other"));
        assert!((400..600).contains(&one.len()), "{}", one.len());
        assert_ne!(one, other);
        assert_eq!(one, held("one"));
    }

    #[test]
    fn what_is_held_back_is_not_shown_and_the_rest_is() {
        let dir = tempfile::tempdir().unwrap();
        let held = HeldBack { key: "k".into() };
        for n in 0..40u8 {
            fs::write(dir.path().join(n.to_string()), [n]).unwrap();
        }
        let shown = tempfile::tempdir().unwrap();
        fs::write(shown.path().join("old"), "").unwrap();
        held.link_others(dir.path(), shown.path()).unwrap();
        for n in 0..40u8 {
            assert_eq!(shown.path().join(n.to_string()).exists(), !held.holds(&[n]));
            assert!(dir.path().join(n.to_string()).exists());
        }
        assert!(!shown.path().join("old").exists());
    }
}
