//! Generates tests of a symbol: prompts, replies, and the measures of each test.

mod planted_cheats;
mod environment;
mod existence;
mod exportable;
pub mod generate;
mod host_info;
mod instruments;
mod measures;
pub mod models;
mod predicted;
pub mod prompt;
pub(crate) mod reply;
pub mod results;
mod rounds;
mod schema;
mod suite;
mod values;
