//! Differential harnesses: generated from contracts, out of the model's reach.

pub mod plan;
pub mod emit;
pub mod values;
pub mod require;
pub mod files;
