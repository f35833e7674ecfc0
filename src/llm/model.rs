//! The interface of a model: one blocking trait and its arguments.

use super::error::ModelError;
use super::exchange::{Prompt, Reply};
use crate::platform::process::Interrupt;

/// The caller of a model: how its wait is interrupted, and where failed tries are reported.
pub struct Asker<'a> {
    pub interrupt: &'a Interrupt,
    /// Reports a failed try, in words for people, during the wait.
    pub tell: &'a dyn Fn(String),
}

impl<'a> Asker<'a> {
    /// A caller that ignores failed tries.
    pub fn silent(interrupt: &'a Interrupt) -> Self {
        Self { interrupt, tell: &|_| {} }
    }
}

/// Something that answers prompts. The implementors are the providers and the recorder around them.
pub trait Model: Send + Sync {
    /// Asks and waits for the answer. A refusal or a truncated answer is a [`Reply`] with its [`super::StopReason`], not an
    /// error. Obeys the asker's interrupt within 100 ms.
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError>;

    /// Provider and model, for people: `anthropic/claude-…`.
    fn name(&self) -> String;
}
