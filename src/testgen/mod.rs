//! Generated tests, their configurations, and the formulas that judge both. Plain data and pure functions: who asks a
//! model and who runs C is above, rows are in the store.
//!
//! What was not measured is absent, never a friendly default.

mod analysis;
mod bootstrap;
mod case;
mod category;
mod change;
mod config;
pub(crate) mod date;
mod event;
#[cfg(test)]
pub(crate) mod fixture;
mod evolution;
mod guardrails;
mod input;
pub mod json;
mod prompts;
mod run;
mod score;

pub use analysis::{Measures, ParameterUse, PlantedCheat, Prediction, Proposed, Reflected, TestGenAnalysis};
pub use bootstrap::compare;
pub use case::{GeneratedTest, RecordedTest, free_id, make_ids_unique};
pub use category::{TestCategory, TestGenContext};
pub use change::{ChangeType, TestGenConfigChange};
pub use config::{ConfigId, ModelType, TestGenConfig, by_weight};
pub use event::{TestGenEvent, TestVerdict};
pub use evolution::{ConfigRef, EvolutionRound, ScorePair};
pub use guardrails::GuardrailViolation;
pub use input::TestGenConfigInput;
pub use prompts::MOST_PROMPT_CHARS;
pub use run::{Means, Moment, RunId, SymbolStats, TestGenRun, TestGenStats};
pub use score::TestGenScore;
