//! What happens in a run, for those who watch it.

use super::category::TestCategory;
use serde::Serialize;

/// Something that happened while tests of one symbol were generated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TestGenEvent {
    /// A run begins.
    Start { run_id: String, config: i64, categories: Vec<TestCategory> },
    /// A model is asked for tests; of refinement where no round of a category is meant.
    Progress { category: TestCategory, round: u32, total_rounds: u32, refinement: bool },
    /// What became of a test.
    Test { id: String, category: TestCategory, verdict: TestVerdict },
    /// What a model thinks that the tests lack.
    Reflection { text: String },
    /// A run ended.
    Complete { run_id: String, score: Option<u32>, tests: usize, kept: usize },
    /// A run ended before its time.
    Error { why: String },
}

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum TestVerdict {
    /// C does the same twice on its input, and so many mutants do not do it.
    Valid {
        kills: usize,
    },
    Duplicate,
    Dropped {
        why: String,
    },
}
