//! A run for tests.

use super::{ConfigId, RunId, TestGenRun};
use crate::symbol::SymbolKey;
use jiff::Timestamp;

/// Of the configuration 1 on a pure function, in all categories, with nothing measured but its score.
pub fn run(number: u32, symbol: SymbolKey, score: Option<u32>) -> TestGenRun {
    let began = Timestamp::UNIX_EPOCH;
    TestGenRun {
        task_type: Some("pure function".into()),
        rounds: 1,
        score,
        ..TestGenRun::unmeasured(RunId::new(began, number), ConfigId(1), symbol, began)
    }
}
