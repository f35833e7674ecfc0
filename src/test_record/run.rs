//! Runs of the generator: their names, what is kept of them, and sums over them.

use super::analysis::{Proposed, TestGenAnalysis};
use super::category::TestGenContext;
use super::change::TestGenConfigChange;
use super::config::ConfigId;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::SymbolKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of a run: `tg-YYYYMMDD-HHMMSS-xxxxxx`, in UTC, with six hexadecimal digits by chance.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// The name of a run that began then; of `random` 24 bits are used.
    pub fn new(began: Timestamp, random: u32) -> Self {
        Self(format!("tg-{}-{:06x}", began.strftime("%Y%m%d-%H%M%S"), random & 0xff_ffff))
    }

    /// The bare text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let is_right = |(c, wanted): (u8, u8)| match wanted {
            b'0' => c.is_ascii_digit(),
            b'x' => matches!(c, b'0'..=b'9' | b'a'..=b'f'),
            other => c == other,
        };
        let shape = "tg-00000000-000000-xxxxxx";
        if text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(is_right) {
            return Ok(Self(text.to_owned()));
        }
        let message = format!(
            "`{text}` is not the name of a TestGen run; such names look like tg-20260131-235959-0a1b2c"
        );
        Err(Error::new(ErrorKind::Usage, message).help("cargo implfuzz testgen runs"))
    }
}

impl TryFrom<String> for RunId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

/// A run: one configuration on one symbol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestGenRun {
    pub run_id: RunId,
    /// Number of the tool's run that it was part of, under which its calls of models are kept.
    pub session: Option<i64>,
    pub config: ConfigId,
    pub symbol: SymbolKey,
    /// The kind of the function, in one word; absent where it has none.
    pub task_type: Option<String>,
    pub context: TestGenContext,
    pub proposed: Proposed,
    /// Tests that were written out.
    pub kept: u64,
    /// Times that the model was asked for tests.
    pub rounds: u32,
    /// Times that it was asked to reflect.
    pub reflections: u32,
    pub analysis: TestGenAnalysis,
    /// What the model thought at its last reflection that its tests are worth, 0 to 10. No formula uses it.
    pub self_assessment: Option<f64>,
    /// Of all calls, input and output.
    pub tokens: u64,
    /// Wall time to the end of the last round; what is measured once, behind that, is not in it.
    pub duration_ms: u64,
    /// Who proposed a change of the configuration after this run, what, and whether it was accepted; each absent where
    /// that did not happen.
    pub meta_model: Option<String>,
    pub proposed_change: Option<TestGenConfigChange>,
    pub change_accepted: Option<bool>,
    /// 0 to 1000.
    pub score: Option<u32>,
    /// Of all runs on this symbol that keep a test its tests tell the most: by comprehensiveness, not by score. The store says so.
    pub is_best: bool,
    pub created_at: Timestamp,
}

impl TestGenRun {
    /// A run in all categories that began then, with nothing proposed and nothing measured.
    pub fn unmeasured(run_id: RunId, config: ConfigId, symbol: SymbolKey, began: Timestamp) -> Self {
        Self {
            run_id,
            session: None,
            config,
            symbol,
            task_type: None,
            context: TestGenContext::Benchmark,
            proposed: Proposed::default(),
            kept: 0,
            rounds: 0,
            reflections: 0,
            analysis: TestGenAnalysis::default(),
            self_assessment: None,
            tokens: 0,
            duration_ms: 0,
            meta_model: None,
            proposed_change: None,
            change_accepted: None,
            score: None,
            is_best: false,
            created_at: began,
        }
    }

    /// What became of the tests that the model proposed.
    pub fn of_model(&self) -> Proposed {
        self.proposed.without(self.analysis.made())
    }
}

/// Means over runs, of those in which it was measured; absent where it was in none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Means {
    pub runs: u64,
    /// Runs with a score.
    pub scored: u64,
    pub score: Option<f64>,
    pub best_score: Option<u32>,
    pub comprehensiveness: Option<f64>,
    pub category_balance: Option<f64>,
    pub anti_cheat_coverage: Option<f64>,
    pub parameter_discovery: Option<f64>,
    pub reflection_effectiveness: Option<f64>,
    pub token_efficiency: Option<f64>,
    pub tokens: Option<f64>,
    pub duration_ms: Option<f64>,
}

/// The runs on one symbol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SymbolStats {
    pub symbol: SymbolKey,
    #[serde(flatten)]
    pub means: Means,
}

/// A run as a point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    pub run_id: RunId,
    pub created_at: Timestamp,
    pub symbol: SymbolKey,
    pub config: ConfigId,
    pub score: Option<u32>,
    pub comprehensiveness: Option<f64>,
}

/// What all runs came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestGenStats {
    pub configs: u64,
    /// Rounds of `testgen evolve`, and how many of their changes were accepted.
    pub evolutions: u64,
    pub accepted_changes: u64,
    /// Tests of all runs: all, the valid ones, those that were written out.
    pub tests: u64,
    pub valid_tests: u64,
    pub kept_tests: u64,
    pub overall: Means,
    /// By symbol, in the order of their keys.
    pub symbols: Vec<SymbolStats>,
    /// All runs, oldest first.
    pub over_time: Vec<Moment>,
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_run_is_named_after_its_second_in_utc() {
        for (began, random, name) in [
            ("2026-01-31T23:59:59.999Z", 0x0a_1b2c, "tg-20260131-235959-0a1b2c"),
            ("2026-02-01T01:00:00+02:00", 0, "tg-20260131-230000-000000"),
            ("2026-02-01T00:00:00Z", u32::MAX, "tg-20260201-000000-ffffff"),
        ] {
            let id = RunId::new(began.parse().unwrap(), random);
            assert_eq!(id.to_string(), name);
            assert_eq!(name.parse::<RunId>().unwrap(), id);
            assert_eq!(serde_json::to_value(&id).unwrap(), name);
        }
    }

    #[test]
    fn other_texts_are_no_names() {
        for wrong in [
            "", "7", "tg-20260131-235959-0a1b2", "tg-20260131-235959-0a1b2c0", "tg-20260131-235959-0A1B2C",
            "tg-2026013x-235959-0a1b2c", "tg-20260131_235959-0a1b2c", "tg-20260131-235959-é1b2c",
        ] {
            assert!(wrong.parse::<RunId>().is_err(), "{wrong}");
            assert!(serde_json::from_value::<RunId>(wrong.into()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_run_in_json_has_its_date_as_text() {
        let run = TestGenRun {
            context: TestGenContext::Commander,
            proposed_change: Some(TestGenConfigChange::keep("fine")),
            ..fixture::run(1, SymbolKey("c:@F@f".into()), None)
        };
        let value = serde_json::to_value(&run).unwrap();
        assert_eq!(
            (&value["created_at"], &value["score"]),
            (&"1970-01-01T00:00:00Z".into(), &serde_json::Value::Null)
        );
        assert_eq!(serde_json::from_value::<TestGenRun>(value).unwrap(), run);
    }
}
