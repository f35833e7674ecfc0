//! How configurations evolved: one row per round, whatever its result.

use super::configs::{find, make_current};
use crate::error::Result;
use crate::store::Store;
use crate::store::table::Table;
use crate::test_record::{ConfigId, EvolutionRound, ScorePair, TestGenConfigChange};
use jiff::Timestamp;
use rusqlite::{Row, TransactionBehavior};
use serde::{Deserialize, Serialize};
use serde_json::json;

const ROUNDS: Table = Table {
    name: "testgen_evolution",
    json: &["changes", "scores"],
    flags: &["accepted"],
    renamed: &[("from", "from_config"), ("to", "to_config")],
    ..Table::PLAIN
};

/// A stored round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvolutionRow {
    pub id: i64,
    pub from: ConfigId,
    pub to: Option<ConfigId>,
    pub change: TestGenConfigChange,
    /// Mean gain of the score, in points; `None` if it was not measured.
    pub actual_improvement: Option<f64>,
    /// The lower end of the 95 % interval of that mean. It decides whether the candidate is accepted.
    pub lower_bound: Option<f64>,
    /// The compared pairs; `None` if no candidate was run, and in rounds of databases before version 11.
    pub scores: Option<Vec<ScorePair>>,
    pub quality_delta: Option<f64>,
    pub accepted: bool,
    pub reason: String,
    pub created_at: Timestamp,
}

impl Store {
    /// Stores a round and returns it as stored. An accepted candidate becomes the current configuration in
    /// the same transaction. But if the current configuration is no longer the incumbent, because a person
    /// chose another one meanwhile, that choice stays, and the round is stored as not accepted.
    pub fn add_testgen_evolution(&mut self, mut round: EvolutionRound) -> Result<EvolutionRound> {
        let to = round.to.as_ref().map(|to| to.id);
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let current = find(&transaction, "is_current = ?1", true)?.filter(|_| round.accepted);
            if let (Some(row), Some(to)) = (current, to)
                && row.id != round.from.id
                && row.id != to
            {
                round.accepted = false;
                round.reason = format!(
                    "configuration {} ({}) became the current one meanwhile, and stays; else: {}",
                    row.id.0, row.config.version, round.reason
                );
            }
            let scores = (!round.scores.is_empty()).then_some(&round.scores);
            let row = json!({
                "from": round.from.id, "to": to, "change": round.change, "actual_improvement": round.mean_gain,
                "lower_bound": round.lower_bound, "scores": scores, "quality_delta": round.quality_delta,
                "accepted": round.accepted, "reason": round.reason, "created_at": crate::store::now(),
            });
            ROUNDS.insert(&transaction, &row)?;
            if let Some(to) = to.filter(|_| round.accepted) {
                make_current(&transaction, to)?;
            }
            transaction.commit()?;
            Ok(round)
        })
    }

    /// All rounds, oldest first.
    pub fn testgen_evolution(&self) -> Result<Vec<EvolutionRow>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT * FROM testgen_evolution ORDER BY id")?;
            let read = |row: &Row| ROUNDS.fields(row)?.with::<TestGenConfigChange>("change")?.read();
            select.query_map([], read)?.collect()
        })
    }
}
