//! The last port of a function as the store has it: the steps that were taken, and what each spent on a model.

use crate::error::Result;
use crate::store::{Run, StepRow, Store, Totals};
use crate::symbol::SymbolKey;

/// The trace of one port.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub run: Run,
    /// With what the calls of a step spent: none where no model was asked.
    pub steps: Vec<(StepRow, Option<Totals>)>,
}

impl History {
    /// The trace of the last run that took a step for a function; none where no run did.
    ///
    /// # Errors
    /// Those of reading the store.
    pub fn last(store: &Store, symbol: &SymbolKey) -> Result<Option<Self>> {
        let mut steps = store.steps(None, Some(symbol))?;
        let Some(id) = steps.iter().map(|step| step.run).max() else { return Ok(None) };
        steps.retain(|step| step.run == id);
        let calls = store.calls(Some(id), Some(symbol))?;
        let spent = |step: &StepRow| {
            let calls: Vec<_> = calls.iter().filter(|paid| paid.call.step == Some(step.id)).collect();
            (!calls.is_empty()).then(|| Totals::of(calls.into_iter().map(|paid| &paid.call)))
        };
        let steps = steps.into_iter().map(|step| (step.clone(), spent(&step))).collect();
        let run = store.runs()?.into_iter().find(|run| run.id == id);
        Ok(run.map(|run| Self { run, steps }))
    }
}
