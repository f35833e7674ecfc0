//! Generated tests, their configurations and their runs, as plain data: what the store keeps and what events tell. Formulas, models
//! and C are the business of `testgen`.
//!
//! A measure that was not taken is absent; it has no default.

mod analysis;
mod case;
mod category;
mod change;
mod config;
mod default_prompts;
mod event;
mod evolution;
#[cfg(test)]
pub(crate) mod fixture;
mod input;
mod run;

pub(crate) use analysis::made_by_tool;
pub use analysis::{Proposed, TestGenAnalysis};
pub use case::{GeneratedTest, RecordedTest, free_id, make_ids_unique};
pub use category::{TestCategory, TestGenContext};
pub use change::{ChangeType, TestGenConfigChange};
pub(crate) use config::version;
pub use config::{ConfigId, ModelType, TestGenConfig, by_weight};
pub use default_prompts::MOST_PROMPT_CHARS;
pub use event::{TestGenEvent, TestVerdict};
pub use evolution::{ConfigRef, EvolutionRound, GuardrailViolation, ScorePair};
pub use input::TestGenConfigInput;
pub use run::{Means, Moment, RunId, SymbolStats, TestGenRun, TestGenStats};
