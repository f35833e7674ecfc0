//! Language models: one blocking trait and its providers, with retries, budgets, recordings and the parser of replies.
//!
//! Prompts are written, and replies judged, elsewhere (`port`); `config` says which model is meant.

mod anthropic;
mod ask;
mod budget;
mod command;
mod error;
mod exchange;
#[cfg(test)]
mod faults;
mod fence;
mod http;
mod openai;
mod record;
mod replay;
mod reply;
mod retry;
mod secret;
mod select;
#[cfg(test)]
mod server;
mod usage;

pub use ask::{Asker, Exchange, ask};
pub use budget::{Budget, Permit};
pub use error::{ModelError, excerpt};
pub use exchange::{Block, Drift, Message, Prompt, Reply, Speaker, StopReason};
pub use reply::{Blocks, Label, ReplyProblem, after_thoughts};
pub use select::{Chosen, key_variables, select};
pub use usage::{Cost, Tokens, Usage};

/// Something that answers prompts. The implementors are the providers and the recorder around them.
pub trait Model: Send + Sync {
    /// Asks and waits for the answer. A refusal or a truncated answer is a [`Reply`] with its [`StopReason`], not an
    /// error. Obeys the asker's interrupt within 100 ms.
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError>;

    /// Provider and model, for people: `anthropic/claude-…`.
    fn name(&self) -> String;
}
