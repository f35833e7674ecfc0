//! Language models: one blocking trait and its providers, with retries, budgets, recordings and the parser of replies;
//! prompt templates, quoting of foreign text, and tolerant JSON.
//!
//! `port` and `testgen` write the prompts and judge the replies. `config` selects the model.

mod anthropic;
mod ask;
mod budget;
mod command;
mod error;
mod exchange;
#[cfg(test)]
mod server_fault_tests;
mod markdown_fences;
mod http;
pub mod json;
pub mod model_session;
mod model;
mod openai;
pub mod quoted;
mod record;
mod replay;
mod reply_blocks;
mod retry;
mod secret;
mod select;
#[cfg(test)]
mod server;
pub mod templates;
mod usage;

pub use ask::{ask, ask_all};
pub use budget::{Budget, Exchange, Permit};
pub use error::{ModelError, excerpt};
pub use exchange::{Block, Drift, Message, Prompt, Reply, Speaker, StopReason};
pub use model::{Asker, Model};
pub use reply_blocks::{Blocks, Label, ReplyProblem, after_thoughts};
pub use select::{Chosen, key_variables, select};
pub use usage::{Cost, Tokens, Usage};
