//! The best configuration for each kind of function, by the mean score of its runs in one context.

use crate::error::Result;
use crate::store::columns::{date, unsigned, word};
use crate::store::{ConfigRow, Store};
use crate::test_record::{ConfigId, RunId, TestGenContext};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde::Serialize;

/// The kind that includes all functions.
pub const GLOBAL: &str = "_global_";

/// The best configuration for a kind of function.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    #[serde(serialize_with = "crate::test_record::date::serialize")]
    pub updated_at: Timestamp,
}

/// The results of a configuration's runs.
struct Standing {
    config: i64,
    run: String,
    score: f64,
    pass_count: i64,
    total_runs: i64,
}

impl Store {
    /// The best configuration for a kind of function.
    pub fn testgen_best(&self, task_type: &str, context: &TestGenContext) -> Result<Option<BestConfig>> {
        self.query(|connection| {
            let sql = "SELECT * FROM testgen_best_configs WHERE task_type = ?1 AND context = ?2";
            connection.prepare_cached(sql)?.query_row([task_type, &context.to_string()], read).optional()
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
            connection.prepare(sql)?.query_map([GLOBAL], read)?.collect()
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
            let Some(winner) = leader(&transaction, (of.0, &of.1), holder)? else { return Ok(false) };
            write(&transaction, (of.0, &of.1), &winner)?;
            transaction.commit()?;
            Ok(holder != Some(winner.config))
        })
    }
}

/// The configuration with the highest mean score; of equal ones the earlier best, else the oldest. `None` if
/// no run has a score.
fn leader(
    connection: &Connection,
    (task_type, context): (&str, &str),
    holder: Option<i64>,
) -> rusqlite::Result<Option<Standing>> {
    let sql = "WITH told AS (SELECT * FROM testgen_runs WHERE (?1 = ?2 OR task_type = ?1) AND context = ?4)
               SELECT config, avg(score) AS mean, count(*) AS total_runs,
                   count(*) FILTER (WHERE comprehensiveness >= min_comprehensiveness) AS pass_count,
                   (SELECT run_id FROM told AS own WHERE own.config = told.config AND own.score IS NOT NULL
                    ORDER BY own.score DESC, own.id LIMIT 1) AS run
               FROM told JOIN testgen_configs ON testgen_configs.id = told.config
               GROUP BY config HAVING count(score) > 0
               ORDER BY mean DESC, config IS ?3 DESC, config LIMIT 1";
    let read = |row: &Row| {
        Ok(Standing {
            config: row.get("config")?,
            run: row.get("run")?,
            score: row.get("mean")?,
            pass_count: row.get("pass_count")?,
            total_runs: row.get("total_runs")?,
        })
    };
    connection.prepare_cached(sql)?.query_row(params![task_type, GLOBAL, holder, context], read).optional()
}

fn write(
    connection: &Connection,
    (task_type, context): (&str, &str),
    best: &Standing,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT OR REPLACE INTO testgen_best_configs
             (task_type, config, run, score, pass_count, total_runs, is_override, updated_at, context)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8)",
        params![
            task_type,
            best.config,
            best.run,
            best.score,
            best.pass_count,
            best.total_runs,
            crate::store::now().to_string(),
            context,
        ],
    )?;
    // The global row determines `is_override` of every other row.
    let sql = "UPDATE testgen_best_configs SET is_override = coalesce(config <>
                   (SELECT config FROM testgen_best_configs WHERE task_type = ?1 AND context = ?2), 0)
               WHERE context = ?2";
    connection.execute(sql, [GLOBAL, context]).map(drop)
}

fn read(row: &Row) -> rusqlite::Result<BestConfig> {
    Ok(BestConfig {
        task_type: row.get("task_type")?,
        context: word(row, "context")?,
        config: ConfigId(row.get("config")?),
        run: word(row, "run")?,
        score: row.get("score")?,
        pass_count: unsigned(row, "pass_count")?,
        total_runs: unsigned(row, "total_runs")?,
        is_override: row.get("is_override")?,
        updated_at: date(row, "updated_at")?,
    })
}
