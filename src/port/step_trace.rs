//! A step that is being taken: its row in the trace, written before it and completed after it.

use crate::error::{Error, ErrorKind, Result};
use crate::store::{NewStep, StepId, Store};
use std::time::Instant;

/// A step that has begun.
#[derive(Debug)]
pub struct Taking {
    pub id: StepId,
    started: Instant,
}

impl Taking {
    /// Puts a step into the trace before it is taken, so that one that never ends is there too.
    pub fn begin(store: &mut Store, new: &NewStep) -> Result<Self> {
        Ok(Self { id: store.begin_step(new)?, started: Instant::now() })
    }

    /// What came of it: a word, and what there is to say.
    pub fn end(self, store: &mut Store, came: (&str, &str)) -> Result<()> {
        store.end_step(self.id, came, millis(self.started))
    }
}

/// Milliseconds since a moment.
pub fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The outcome and detail of a step that ended with an error.
pub fn ended_by(error: &Error) -> (&'static str, String) {
    match error.kind() {
        ErrorKind::Interrupted => ("interrupted", "the run ended".to_owned()),
        _ => ("failed", error.to_string()),
    }
}
