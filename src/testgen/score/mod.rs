//! Scores a run with pure functions: the formulas of `docs/testgen.md`, and the comparison of two configurations.

mod analysis;
mod bootstrap;
mod total;

pub use analysis::{Measures, ParameterUse, PlantedCheat, Prediction, Reflected, analyse, shortfalls};
pub use bootstrap::compare;
pub use total::TestGenScore;
