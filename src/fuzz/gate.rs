//! The hidden gate: inputs that no run inside the loop uses, so that no prompt can show them. What was written to fit the
//! counterexamples that it was shown meets them at the end.

use super::run::{Budget, Campaign};
use crate::digest::sha256;
use crate::error::Result;
use crate::process::Interrupt;
use crate::verdict::{RunStats, Verdict};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Which inputs are held back: about half of them, by a hash with this key.
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

    /// Deletes what is held back from a directory of inputs.
    pub(super) fn take_from(&self, dir: &Path) -> Result<()> {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if self.holds(&fs::read(&path)?) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

impl Campaign {
    /// A run with all boundary inputs, those that earlier gates found in `hidden`, and another way through the space.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn gate(
        &self,
        budget: Budget,
        hidden: PathBuf,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Verdict> {
        let mut own = Campaign { held_back: None, seed: self.seed.wrapping_add(7), ..self.clone() };
        own.regressions.push(hidden);
        own.judge_with(None, budget, interrupt, see)
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
    fn what_is_held_back_is_gone_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let held = HeldBack { key: "k".into() };
        for n in 0..40u8 {
            fs::write(dir.path().join(n.to_string()), [n]).unwrap();
        }
        held.take_from(dir.path()).unwrap();
        for n in 0..40u8 {
            assert_eq!(dir.path().join(n.to_string()).exists(), !held.holds(&[n]));
        }
    }
}
