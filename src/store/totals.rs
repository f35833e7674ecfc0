//! Sums over attempts and model calls, per run and per symbol.

use super::columns::unsigned;
use super::{RunId, Store};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::{Connection, Row, params};

/// What was spent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    pub attempts: u64,
    /// Requests to a model.
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cache_write_tokens: u64,
    /// Some counts are guessed.
    pub estimated: bool,
    /// In the currency of the prices over the calls whose price is known; absent when none is.
    pub cost: Option<f64>,
    /// Calls whose price is not known.
    pub unpriced: u64,
    /// Time spent waiting for models, milliseconds.
    pub latency_ms: u64,
}

/// Sums; `?1` a run or NULL for all, `?2` a symbol or NULL for all.
const SUMS: &str = "
    SELECT (SELECT count(*) FROM attempts
            WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR symbol = ?2))   AS attempts,
           count(*)                                                           AS calls,
           coalesce(sum(input_tokens), 0)                                     AS input_tokens,
           coalesce(sum(output_tokens), 0)                                    AS output_tokens,
           coalesce(sum(cached_tokens), 0)                                    AS cached_tokens,
           coalesce(sum(cache_write_tokens), 0)                               AS cache_write_tokens,
           coalesce(max(estimated), 0)                                        AS estimated,
           sum(cost)                                                          AS cost,
           count(*) - count(cost)                                             AS unpriced,
           coalesce(sum(latency_ms), 0)                                       AS latency_ms
    FROM model_calls WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR symbol = ?2)";

impl Store {
    /// What a run spent, or all runs (absent).
    pub fn totals(&self, run: Option<RunId>) -> Result<Totals> {
        self.query(|connection| sums(connection, run, None))
    }

    /// What was spent on a symbol in a run, or in all runs (absent).
    pub fn totals_of(&self, run: Option<RunId>, symbol: &SymbolKey) -> Result<Totals> {
        self.query(|connection| sums(connection, run, Some(symbol)))
    }
}

fn sums(connection: &Connection, run: Option<RunId>, symbol: Option<&SymbolKey>) -> rusqlite::Result<Totals> {
    let values = params![run.map(|run| run.0), symbol.map(|key| &key.0)];
    connection.prepare_cached(SUMS)?.query_row(values, read)
}

fn read(row: &Row) -> rusqlite::Result<Totals> {
    Ok(Totals {
        attempts: unsigned(row, "attempts")?,
        calls: unsigned(row, "calls")?,
        input_tokens: unsigned(row, "input_tokens")?,
        output_tokens: unsigned(row, "output_tokens")?,
        cached_tokens: unsigned(row, "cached_tokens")?,
        cache_write_tokens: unsigned(row, "cache_write_tokens")?,
        estimated: row.get("estimated")?,
        cost: row.get("cost")?,
        unpriced: unsigned(row, "unpriced")?,
        latency_ms: unsigned(row, "latency_ms")?,
    })
}
