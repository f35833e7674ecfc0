//! `unsafe` in a port may become less, and not more: the least that a port was judged with is kept in the lock.

use super::{Judge, Outcome};
use crate::error::Result;
use crate::lock::{Entry, Lock};
use crate::ported::PortModule;
use crate::project::Planned;
use crate::verdict::Grade;

/// The least `unsafe` that a symbol was judged with, as its entry has it.
fn least(entry: &Entry) -> usize {
    entry.unsafe_least.unwrap_or(entry.unsafe_count)
}

impl Judge<'_> {
    /// What implfuzz.toml allows a port.
    fn allowed(&self, planned: &Planned) -> usize {
        let own = self.project.config.symbols.get(planned.function.name.as_str());
        own.and_then(|own| own.unsafe_most).unwrap_or(0)
    }

    /// The outcome, which is weak where the port has more `unsafe` than before.
    ///
    /// # Errors
    /// Those of reading the lock, and of a module that is not Rust.
    pub fn ratcheted(&self, planned: &Planned, module: &PortModule, outcome: Outcome) -> Result<Outcome> {
        if !matches!(outcome.grade, Grade::Weak | Grade::Verified | Grade::Exhaustive) {
            return Ok(outcome);
        }
        let lock = Lock::load(self.project.workspace.root())?.unwrap_or_default();
        let Some(before) = lock.symbols.get(planned.function.name.as_str()).map(least) else {
            return Ok(outcome);
        };
        let count = self.audit(planned, module.text())?.unsafe_count;
        if count <= before.max(self.allowed(planned)) {
            return Ok(outcome);
        }
        let mut shortcomings = outcome.shortcomings;
        shortcomings.push(format!(
            "`unsafe` {count} times, {before} before (`unsafe = {count}` under [symbols.{}] allows it)",
            planned.function.name
        ));
        Ok(Outcome { grade: Grade::Weak, shortcomings, ..outcome })
    }

    /// What the next port must not exceed, where that is less than this one has.
    pub(super) fn unsafe_least(
        &self,
        planned: &Planned,
        lock: &Lock,
        (grade, count): (Grade, usize),
    ) -> Option<usize> {
        let before = least(lock.symbols.get(planned.function.name.as_str())?);
        if !matches!(grade, Grade::Weak | Grade::Verified | Grade::Exhaustive) {
            // A port that does not hold sets no example.
            return Some(before);
        }
        (before < count && self.allowed(planned) < count).then_some(before)
    }
}
