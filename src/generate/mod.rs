//! Tests of a symbol: what a model is asked, what its answer goes through, and what is measured of it. The formulas are in
//! `testgen`.

pub mod environment;
#[cfg(test)]
mod fixture;
mod lenient;
pub mod machine;
pub mod prompt;
pub mod reply;
pub mod schema;
