//! How configurations evolved: one row per round, whatever its result.

use super::configs::{find, make_current};
use crate::error::Result;
use crate::store::Store;
use crate::store::columns::{date, from_json, from_json_opt, json, word};
use crate::test_record::{ConfigId, EvolutionRound, ScorePair, TestGenConfigChange};
use jiff::Timestamp;
use rusqlite::{Row, TransactionBehavior, params};
use serde::Serialize;

/// A stored round.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    #[serde(serialize_with = "crate::test_record::date::serialize")]
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
            transaction.execute(
                "INSERT INTO testgen_evolution (from_config, to_config, type, changes, reasoning, expected_improvement,
                     actual_improvement, quality_delta, accepted, reason, created_at, scores, lower_bound)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                params![
                    round.from.id.0,
                    to.map(|to| to.0),
                    round.change.kind.word(),
                    json(&round.change.changes),
                    round.change.reasoning,
                    round.change.expected_improvement,
                    round.mean_gain,
                    round.quality_delta,
                    round.accepted,
                    round.reason,
                    crate::store::now().to_string(),
                    (!round.scores.is_empty()).then(|| json(&round.scores)),
                    round.lower_bound,
                ],
            )?;
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
            connection.prepare("SELECT * FROM testgen_evolution ORDER BY id")?.query_map([], read)?.collect()
        })
    }
}

fn read(row: &Row) -> rusqlite::Result<EvolutionRow> {
    let change = TestGenConfigChange {
        kind: word(row, "type")?,
        changes: from_json(row, "changes")?,
        reasoning: row.get("reasoning")?,
        expected_improvement: row.get("expected_improvement")?,
    };
    Ok(EvolutionRow {
        id: row.get("id")?,
        from: ConfigId(row.get("from_config")?),
        to: row.get::<_, Option<i64>>("to_config")?.map(ConfigId),
        change,
        actual_improvement: row.get("actual_improvement")?,
        lower_bound: row.get("lower_bound")?,
        scores: from_json_opt(row, "scores")?,
        quality_delta: row.get("quality_delta")?,
        accepted: row.get("accepted")?,
        reason: row.get("reason")?,
        created_at: date(row, "created_at")?,
    })
}
