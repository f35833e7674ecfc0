//! The trace of the supervisor: one row per step, with its reason and its outcome.

use super::table::Table;
use super::{RunId, Store, now};
use crate::error::Result;
use crate::symbol::SymbolKey;
use jiff::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};

/// Id of a step, unique over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepId(pub i64);

/// The two phases of a port; `stats` reports costs by phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Phase {
    /// Until a candidate was built and linked, and a run has called it and the C original.
    Compilation,
    /// From then on, whatever the results of later candidates.
    Optimization,
}

impl Phase {
    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A step that begins.
#[derive(Debug, Clone)]
pub struct NewStep<'a> {
    pub run: RunId,
    pub symbol: &'a SymbolKey,
    /// `compilation` or `optimization`.
    pub phase: &'a str,
    /// One word: `build`, `fuzz`, …
    pub step: &'a str,
    pub why: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StepRow {
    pub id: StepId,
    pub run: RunId,
    pub symbol: SymbolKey,
    /// From 1, within a symbol and a run.
    pub number: u32,
    pub phase: String,
    pub step: String,
    pub why: String,
    /// One word. It and `millis` are `None` if the process ended during the step.
    pub outcome: Option<String>,
    pub detail: String,
    pub millis: Option<u64>,
    pub created: Timestamp,
}

impl Store {
    /// Stores a step that is about to begin.
    pub fn begin_step(&mut self, new: &NewStep) -> Result<StepId> {
        let sql = "INSERT INTO steps (run, symbol, number, phase, step, why, detail, created)
                   SELECT ?1, ?2, coalesce(max(number), 0) + 1, ?3, ?4, ?5, '', ?6
                   FROM steps WHERE run = ?1 AND symbol = ?2
                   RETURNING id";
        self.run(|connection| {
            let values = params![new.run.0, new.symbol.0, new.phase, new.step, new.why, now().to_string()];
            connection.query_row(sql, values, |row| row.get(0)).map(StepId)
        })
    }

    /// Stores the outcome of a step: a word, and details.
    pub fn end_step(&mut self, id: StepId, (outcome, detail): (&str, &str), millis: u64) -> Result<()> {
        self.run(|connection| {
            let sql = "UPDATE steps SET outcome = ?2, detail = ?3, millis = ?4 WHERE id = ?1";
            connection
                .execute(sql, params![id.0, outcome, detail, i64::try_from(millis).unwrap_or(i64::MAX)])
                .map(drop)
        })
    }

    /// The steps of a run, or of all runs (`None`), for a symbol, or for all (`None`), in the order in which
    /// they began.
    pub fn steps(&self, run: Option<RunId>, symbol: Option<&SymbolKey>) -> Result<Vec<StepRow>> {
        let sql =
            "SELECT * FROM steps WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR symbol = ?2) ORDER BY id";
        self.query(|connection| {
            let values = params![run.map(|run| run.0), symbol.map(|key| &key.0)];
            connection.prepare_cached(sql)?.query_map(values, |row| Table::PLAIN.read(row))?.collect()
        })
    }
}
