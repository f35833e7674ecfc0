//! Language models: one blocking trait and its providers, with retries, budgets, recordings and the parser of replies.
//!
//! What prompts say, and what replies are worth, is decided elsewhere (`port`, `generate`, `evolve`): here is what those have in common,
//! templates, the quoting of foreign text, and JSON as models write it. `config` says which model is meant.

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
pub mod json;
mod openai;
pub mod quoted;
mod record;
mod replay;
mod reply;
mod retry;
mod secret;
mod select;
#[cfg(test)]
mod server;
pub mod templates;
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
