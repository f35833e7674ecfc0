//! Limits `unsafe` in a port: it may decrease but not increase. The lock keeps the smallest count that a port was
//! judged with.

use super::{Judge, Outcome};
use crate::error::Result;
use crate::evidence::lock::{Entry, Lock};
use crate::project::FunctionPlan;
use crate::project::ported::PortModule;
use crate::verdict::Grade;

/// The smallest `unsafe` count of a symbol according to the lock; after a merge it may have two, and the smaller
/// one counts.
fn least(lock: &Lock, name: &str) -> Option<usize> {
    let entry = lock.symbols.get(name).and_then(least_of);
    entry.into_iter().chain(lock.unsafe_least.get(name).copied()).min()
}

/// The count of an entry; a port whose grade does not hold sets no limit.
fn least_of(entry: &Entry) -> Option<usize> {
    entry.unsafe_least.or(holds(entry.grade).then_some(entry.unsafe_count))
}

fn holds(grade: Grade) -> bool {
    matches!(grade, Grade::Weak | Grade::Verified | Grade::Exhaustive)
}

/// Removes a symbol's entry from the lock, but keeps its `unsafe` limit; `false` if it had no entry.
pub(super) fn take_out(lock: &mut Lock, name: &str) -> bool {
    let Some(entry) = lock.symbols.remove(name) else { return false };
    if let Some(least) = least_of(&entry) {
        lock.unsafe_least
            .entry(name.to_owned())
            .and_modify(|known| *known = least.min(*known))
            .or_insert(least);
    }
    true
}

impl Judge<'_> {
    /// The `unsafe` count that `implfuzz.toml` allows a port.
    fn allowed(&self, planned: &FunctionPlan) -> usize {
        let own = self.project.config.symbols.get(planned.function.name.as_str());
        own.and_then(|own| own.unsafe_most).unwrap_or(0)
    }

    /// The outcome, which becomes weak if the port has more `unsafe` than before.
    ///
    /// # Errors
    /// If the module is not valid Rust.
    pub fn ratcheted(
        &self,
        planned: &FunctionPlan,
        module: &PortModule,
        outcome: Outcome,
    ) -> Result<Outcome> {
        if !holds(outcome.grade) {
            return Ok(outcome);
        }
        let lock = Lock::load(self.project.workspace.root())?.unwrap_or_default();
        let Some(before) = least(&lock, planned.function.name.as_str()) else { return Ok(outcome) };
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

    /// The limit for the next port, if it is below this port's count.
    pub(super) fn unsafe_least(
        &self,
        planned: &FunctionPlan,
        lock: &Lock,
        (grade, count): (Grade, usize),
    ) -> Option<usize> {
        let before = least(lock, planned.function.name.as_str())?;
        if !holds(grade) {
            return Some(before);
        }
        (before < count && self.allowed(planned) < count).then_some(before)
    }
}
