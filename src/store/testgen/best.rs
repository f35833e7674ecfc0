//! The best configuration for each kind of function, by the mean score of its runs in one context.

use crate::error::Result;
use crate::store::table::Table;
use crate::store::{ConfigRow, Store};
use crate::test_record::{ConfigId, RunId, TestGenContext};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

const BESTS: Table = Table { name: "testgen_best_configs", flags: &["is_override"], ..Table::PLAIN };

/// The kind that includes all functions.
pub const GLOBAL: &str = "_global_";

/// The best configuration for a kind of function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestConfig {
    /// The kind in one word, or [`GLOBAL`].
    pub task_type: String,
    /// The context of the runs. Runs in other contexts do not count, because they request other tests.
    pub context: TestGenContext,
    pub config: ConfigId,
    /// The run of the configuration with the highest score; of equal ones the first.
    pub run: RunId,
    /// Mean over its runs that have a score.
    pub score: f64,
    /// Runs that reached the configuration's minimum comprehensiveness.
    pub pass_count: u64,
    pub total_runs: u64,
    /// Whether there is a best configuration for [`GLOBAL`] and it is another one.
    pub is_override: bool,
    pub updated_at: Timestamp,
}

impl Store {
    /// The best configuration for a kind of function.
    pub fn testgen_best(&self, task_type: &str, context: &TestGenContext) -> Result<Option<BestConfig>> {
        self.query(|connection| {
            let sql = "SELECT * FROM testgen_best_configs WHERE task_type = ?1 AND context = ?2";
            connection
                .prepare_cached(sql)?
                .query_row([task_type, &context.to_string()], |row| BESTS.read(row))
                .optional()
        })
    }

    /// The configuration for a run on a function of this kind, if the user names none: the best one of the
    /// kind, else of all kinds, in this context. If the current configuration has no score there yet, it is
    /// used, so that it gets one.
    pub fn testgen_config_for(
        &mut self,
        task_type: Option<&str>,
        context: &TestGenContext,
    ) -> Result<ConfigRow> {
        let current = self.testgen_config_in_use()?;
        for kind in task_type.into_iter().chain([GLOBAL]) {
            let is_measured: bool = self.query(|connection| {
                let sql = "SELECT count(*) > 0 FROM testgen_runs WHERE config = ?1 AND context = ?2
                               AND score IS NOT NULL AND (?3 = ?4 OR task_type = ?3)";
                let of = params![current.id.0, context.to_string(), kind, GLOBAL];
                connection.prepare_cached(sql)?.query_row(of, |row| row.get(0))
            })?;
            let best = self.testgen_best(kind, context)?.filter(|_| is_measured);
            if let Some(row) = best.map(|best| self.testgen_config(best.config)).transpose()?.flatten() {
                return Ok(row);
            }
        }
        Ok(current)
    }

    /// The best configurations of all contexts and kinds, in alphabetical order; [`GLOBAL`] comes first.
    pub fn testgen_bests(&self) -> Result<Vec<BestConfig>> {
        self.query(|connection| {
            let sql = "SELECT * FROM testgen_best_configs ORDER BY context, task_type <> ?1, task_type";
            connection.prepare(sql)?.query_map([GLOBAL], |row| BESTS.read(row))?.collect()
        })
    }

    /// Finds the configuration with the highest mean score over its runs in a context on functions of a kind
    /// ([`GLOBAL`]: of all kinds). The earlier best one stays if its mean is as high; its numbers are
    /// updated. Returns whether another configuration became the best.
    pub fn update_testgen_best(&mut self, task_type: &str, context: &TestGenContext) -> Result<bool> {
        let of = (task_type, context.to_string());
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "SELECT config FROM testgen_best_configs WHERE task_type = ?1 AND context = ?2";
            let holder: Option<i64> =
                transaction.query_row(sql, params![of.0, of.1], |row| row.get(0)).optional()?;
            let Some(best) = leader(&transaction, (of.0, &of.1), holder)? else { return Ok(false) };
            BESTS.replace(&transaction, &best)?;
            // The global row determines `is_override` of every other row.
            let sql = "UPDATE testgen_best_configs SET is_override = coalesce(config <>
                           (SELECT config FROM testgen_best_configs WHERE task_type = ?1 AND context = ?2), 0)
                       WHERE context = ?2";
            transaction.execute(sql, [GLOBAL, &of.1])?;
            transaction.commit()?;
            Ok(holder != Some(best.config.0))
        })
    }
}

/// The configuration with the highest mean score; of equal ones the earlier best, else the oldest. `None` if
/// no run has a score.
fn leader(
    connection: &Connection,
    (task_type, context): (&str, &str),
    holder: Option<i64>,
) -> rusqlite::Result<Option<BestConfig>> {
    let sql = "WITH told AS (SELECT * FROM testgen_runs WHERE (?1 = ?2 OR task_type = ?1) AND context = ?4)
               SELECT config, avg(told.score) AS score, count(*) AS total_runs,
                   count(*) FILTER (WHERE comprehensiveness >= min_comprehensiveness) AS pass_count,
                   (SELECT run_id FROM told AS own WHERE own.config = told.config AND own.score IS NOT NULL
                    ORDER BY own.score DESC, own.id LIMIT 1) AS run,
                   ?1 AS task_type, ?4 AS context, 0 AS is_override, ?5 AS updated_at
               FROM told JOIN testgen_configs ON testgen_configs.id = told.config
               GROUP BY config HAVING count(told.score) > 0
               ORDER BY avg(told.score) DESC, config IS ?3 DESC, config LIMIT 1";
    let values = params![task_type, GLOBAL, holder, context, crate::store::now().to_string()];
    connection.prepare_cached(sql)?.query_row(values, |row| BESTS.read(row)).optional()
}
