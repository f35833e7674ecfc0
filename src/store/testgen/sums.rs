//! Totals over all runs.

use crate::error::Result;
use crate::store::Store;
use crate::store::columns::{date, unsigned, word};
use crate::symbol::SymbolKey;
use crate::test_record::{ConfigId, Means, Moment, SymbolStats, TestGenStats};
use rusqlite::{Connection, Row};

/// `avg` ignores NULLs, and is NULL if there is nothing else.
const MEANS: &str = "count(*) AS runs, count(score) AS scored, avg(score) AS score, max(score) AS best_score,
    avg(comprehensiveness) AS comprehensiveness, avg(category_balance) AS category_balance,
    avg(anti_cheat_coverage) AS anti_cheat_coverage, avg(parameter_discovery) AS parameter_discovery,
    avg(reflection_effectiveness) AS reflection_effectiveness, avg(token_efficiency) AS token_efficiency,
    avg(tokens) AS tokens, avg(duration_ms) AS duration_ms";

impl Store {
    /// Counts and means over all runs, per symbol, and over time.
    pub fn testgen_stats(&self) -> Result<TestGenStats> {
        self.query(|connection| {
            // Read everything in one transaction, because another process may be writing.
            let view = connection.unchecked_transaction()?;
            let mut stats = counts(&view)?;
            stats.overall = view.query_row(&format!("SELECT {MEANS} FROM testgen_runs"), [], means)?;
            let sql = format!("SELECT symbol, {MEANS} FROM testgen_runs GROUP BY symbol ORDER BY symbol");
            stats.symbols = view.prepare(&sql)?.query_map([], of_symbol)?.collect::<rusqlite::Result<_>>()?;
            let sql = "SELECT * FROM testgen_runs ORDER BY id";
            stats.over_time = view.prepare(sql)?.query_map([], moment)?.collect::<rusqlite::Result<_>>()?;
            Ok(stats)
        })
    }
}

fn counts(connection: &Connection) -> rusqlite::Result<TestGenStats> {
    let sql = "SELECT (SELECT count(*) FROM testgen_configs) AS configs,
                   (SELECT count(*) FROM testgen_evolution) AS evolutions,
                   (SELECT count(*) FROM testgen_evolution WHERE accepted) AS accepted_changes,
                   count(*) AS tests, count(*) FILTER (WHERE valid) AS valid_tests,
                   count(*) FILTER (WHERE kept) AS kept_tests
               FROM testgen_tests";
    connection.query_row(sql, [], |row| {
        Ok(TestGenStats {
            configs: unsigned(row, "configs")?,
            evolutions: unsigned(row, "evolutions")?,
            accepted_changes: unsigned(row, "accepted_changes")?,
            tests: unsigned(row, "tests")?,
            valid_tests: unsigned(row, "valid_tests")?,
            kept_tests: unsigned(row, "kept_tests")?,
            ..TestGenStats::default()
        })
    })
}

fn means(row: &Row) -> rusqlite::Result<Means> {
    Ok(Means {
        runs: unsigned(row, "runs")?,
        scored: unsigned(row, "scored")?,
        score: row.get("score")?,
        best_score: row.get("best_score")?,
        comprehensiveness: row.get("comprehensiveness")?,
        category_balance: row.get("category_balance")?,
        anti_cheat_coverage: row.get("anti_cheat_coverage")?,
        parameter_discovery: row.get("parameter_discovery")?,
        reflection_effectiveness: row.get("reflection_effectiveness")?,
        token_efficiency: row.get("token_efficiency")?,
        tokens: row.get("tokens")?,
        duration_ms: row.get("duration_ms")?,
    })
}

fn of_symbol(row: &Row) -> rusqlite::Result<SymbolStats> {
    Ok(SymbolStats { symbol: SymbolKey(row.get("symbol")?), means: means(row)? })
}

fn moment(row: &Row) -> rusqlite::Result<Moment> {
    Ok(Moment {
        run_id: word(row, "run_id")?,
        created_at: date(row, "created_at")?,
        symbol: SymbolKey(row.get("symbol")?),
        config: ConfigId(row.get("config")?),
        score: row.get("score")?,
        comprehensiveness: row.get("comprehensiveness")?,
    })
}
