//! Tests of a symbol. A model proposes inputs, C answers, and measures show what the tests miss.
//!
//! `score` has the formulas, `run` generates tests, `export` writes them as Rust, `evolve` looks for better
//! configurations. Plain data is in `test_record`, rows are in `store`.

pub mod score;
pub mod export;
#[cfg(test)]
pub(crate) mod fixture;
pub mod run;
pub mod evolve;
