//! Generated tests: configurations, runs with their tests, the best configurations, and how configurations
//! evolved. The record types are in `crate::test_record`.

mod best;
mod cases;
mod configs;
mod evolution;
mod runs;
mod sums;

pub use best::{BestConfig, GLOBAL};
pub use configs::ConfigRow;
pub use evolution::EvolutionRow;
