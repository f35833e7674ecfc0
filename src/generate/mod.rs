//! Tests of a symbol: what a model is asked, what its answer goes through, and what is measured of it. The formulas are in
//! `testgen`.

pub mod cheats;
pub mod environment;
mod existence;
#[cfg(test)]
pub(crate) mod fixture;
pub mod instruments;
pub mod keep;
pub mod machine;
mod measures;
pub mod models;
pub mod prompt;
pub mod reply;
pub mod rounds;
pub mod run;
pub mod schema;
pub mod suite;
mod values;
