//! Tests of a symbol: what a model is asked, what its answer goes through, and what is measured of it. The formulas are in
//! `testgen`.

mod cheats;
mod environment;
mod existence;
#[cfg(test)]
pub(crate) mod fixture;
mod instruments;
pub mod keep;
mod machine;
mod measures;
pub mod models;
mod predicted;
pub mod prompt;
pub(crate) mod reply;
mod rounds;
pub mod run;
mod schema;
mod suite;
mod values;
mod writable;
