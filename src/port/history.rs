//! The last port of a function according to the store: its steps, and the cost of the model calls of each.

use crate::config::Maker;
use crate::error::Result;
use crate::store::{PaidCall, Run, StepRow, Store, Totals};
use crate::symbol::SymbolKey;

/// The trace of one port.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub run: Run,
    pub steps: Vec<Taken>,
}

/// A step that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub row: StepRow,
    /// The model that was asked, or c2rust.
    pub by: Option<String>,
    /// The cost of its calls; `None` where no model was asked.
    pub spent: Option<Totals>,
}

impl History {
    /// The trace of the last run that took a step for a function; `None` where no run did.
    ///
    /// # Errors
    /// Those of reading the store.
    pub fn last(store: &Store, symbol: &SymbolKey) -> Result<Option<Self>> {
        let mut steps = store.steps(None, Some(symbol))?;
        let Some(id) = steps.iter().map(|step| step.run).max() else { return Ok(None) };
        steps.retain(|step| step.run == id);
        let calls = store.calls(Some(id), Some(symbol))?;
        let steps = steps.into_iter().map(|row| Taken::of(row, &calls)).collect();
        let run = store.runs()?.into_iter().find(|run| run.id == id);
        Ok(run.map(|run| Self { run, steps }))
    }
}

impl Taken {
    fn of(row: StepRow, calls: &[PaidCall]) -> Self {
        let own = calls.iter().map(|paid| &paid.call).filter(|call| call.step == Some(row.id));
        let own: Vec<_> = own.collect();
        let translated = (row.step == "translate").then(|| Maker::C2rust.word().to_owned());
        Self {
            by: own.last().map(|call| call.maker().to_owned()).or(translated),
            spent: (!own.is_empty()).then(|| Totals::of(own)),
            row,
        }
    }
}
