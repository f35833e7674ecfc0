//! Limits `unsafe` in a port: it may decrease but not increase. The lock keeps the smallest count that a port was
//! judged with.

use super::in_place::Joined;
use super::outcome::{Harness, beside};
use super::{Judge, Outcome};
use crate::error::Result;
use crate::evidence::lock::{Entry, Lock};
use crate::project::FunctionPlan;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Proofs, Verdict};

/// The smallest `unsafe` count of a symbol according to the lock; after a merge it may have two, and the smaller
/// one counts.
fn least(lock: &Lock, name: &str) -> Option<usize> {
    let entry = lock.symbols.get(name).and_then(least_of);
    entry.into_iter().chain(lock.unsafe_least.get(name).copied()).min()
}

/// The count of an entry; a port whose grade does not hold sets no limit.
fn least_of(entry: &Entry) -> Option<usize> {
    entry.unsafe_least.or(entry.grade.holds().then_some(entry.unsafe_count))
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

    /// The outcome of a run of the port in the tree, with its proofs, and with what drivers' executions say. It
    /// becomes weak if the port has more `unsafe` than before, or leaves out what C erases. `callees_in_c` are the functions that the port calls and that still run as C.
    ///
    /// # Errors
    /// If the module is not valid Rust.
    pub fn outcome(
        &self,
        planned: &FunctionPlan,
        verdict: &Verdict,
        (proofs, place): (Proofs, Option<&Joined>),
        callees_in_c: &[SymbolName],
    ) -> Result<Outcome> {
        let asked = &self.project.config.grade;
        let outcome = Outcome::of(verdict, proofs, planned, callees_in_c, asked);
        let outcome = match place {
            Some(place) => {
                let harness = Harness::after(verdict, planned, place);
                outcome.with_place(place, (beside(planned, callees_in_c), &harness), asked)
            }
            None => outcome,
        };
        if !outcome.grade.holds() {
            return Ok(outcome);
        }
        let outcome = match self.left_out(planned)? {
            Some(why) => outcome.weak(why),
            None => outcome,
        };
        let lock = Lock::load(self.project.workspace.root())?.unwrap_or_default();
        let Some(before) = least(&lock, planned.function.name.as_str()) else { return Ok(outcome) };
        let module = self.project.module(&planned.function.module)?;
        let count = self.audit(planned, module.text())?.unsafe_code.count;
        if count <= before.max(self.allowed(planned)) {
            return Ok(outcome);
        }
        Ok(outcome.weak(format!(
            "`unsafe` {count} times, {before} before (`unsafe = {count}` under [symbols.{}] allows it)",
            planned.function.name
        )))
    }

    /// The limit for the next port, if it is below this port's count.
    pub(super) fn unsafe_least(
        &self,
        planned: &FunctionPlan,
        lock: &Lock,
        grade: Grade,
        count: usize,
    ) -> Option<usize> {
        let before = least(lock, planned.function.name.as_str())?;
        if !grade.holds() {
            return Some(before);
        }
        (before < count && self.allowed(planned) < count).then_some(before)
    }
}
