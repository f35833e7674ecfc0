//! A run for tests.

use super::{ConfigId, Proposed, RunId, TestGenAnalysis, TestGenContext, TestGenRun};
use crate::symbol::SymbolKey;
use jiff::Timestamp;

/// Of the configuration 1 on a function, in all categories, with nothing measured but its score.
pub fn run(number: u32, symbol: SymbolKey, score: Option<u32>) -> TestGenRun {
    TestGenRun {
        run_id: RunId::new(Timestamp::UNIX_EPOCH, number),
        session: None,
        config: ConfigId(1),
        symbol,
        task_type: Some("pure".into()),
        context: TestGenContext::Benchmark,
        proposed: Proposed::default(),
        kept: 0,
        rounds: 1,
        reflections: 0,
        analysis: TestGenAnalysis::default(),
        self_assessment: None,
        tokens: 0,
        duration_ms: 0,
        meta_model: None,
        proposed_change: None,
        change_accepted: None,
        score,
        is_best: false,
        created_at: Timestamp::UNIX_EPOCH,
    }
}
