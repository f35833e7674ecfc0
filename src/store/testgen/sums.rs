//! Totals over all runs.

use crate::error::Result;
use crate::store::Store;
use crate::store::table::Table;
use crate::test_record::TestGenStats;
use rusqlite::Row;
use serde::de::DeserializeOwned;

const COUNTS: &str = "SELECT (SELECT count(*) FROM testgen_configs) AS configs,
        (SELECT count(*) FROM testgen_evolution) AS evolutions,
        (SELECT count(*) FROM testgen_evolution WHERE accepted) AS accepted_changes,
        count(*) AS tests, count(*) FILTER (WHERE valid) AS valid_tests, count(*) FILTER (WHERE kept) AS kept_tests
    FROM testgen_tests";

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
            let mut stats: TestGenStats = view.query_row(COUNTS, [], plain)?;
            stats.overall = view.query_row(&format!("SELECT {MEANS} FROM testgen_runs"), [], plain)?;
            let sql = format!("SELECT symbol, {MEANS} FROM testgen_runs GROUP BY symbol ORDER BY symbol");
            stats.symbols = view.prepare(&sql)?.query_map([], plain)?.collect::<rusqlite::Result<_>>()?;
            let sql = "SELECT run_id, created_at, symbol, config, score, comprehensiveness FROM testgen_runs ORDER BY id";
            stats.over_time = view.prepare(sql)?.query_map([], plain)?.collect::<rusqlite::Result<_>>()?;
            Ok(stats)
        })
    }
}

fn plain<T: DeserializeOwned>(row: &Row) -> rusqlite::Result<T> {
    Table::PLAIN.read(row)
}
