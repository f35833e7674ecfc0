//! Inputs and results as text: JSON, and the simpler text of the fuzz process.

pub mod json;
pub mod wire;
