//! Runs of the generator. A finished run is saved together with its tests.

use super::cases;
use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::store::table::{Table, json};
use crate::symbol::SymbolKey;
use crate::test_record::{Proposed, RecordedTest, RunId, TestGenAnalysis, TestGenConfigChange, TestGenRun};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

const RUNS: Table = Table {
    name: "testgen_runs",
    json: &["category_distribution", "proposed_change"],
    flags: &["change_accepted", "is_best"],
    ..Table::PLAIN
};

impl Store {
    /// Stores a run and its tests, all or nothing. Recomputes which run of the symbol is the best; the run's
    /// own `is_best` is ignored.
    pub fn save_testgen_run(&mut self, run: &TestGenRun, tests: &[RecordedTest]) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            RUNS.insert(&transaction, run)?;
            cases::insert(&transaction, &run.run_id, tests)?;
            mark_best(&transaction, &run.symbol)?;
            transaction.commit()
        })
    }

    /// The run with this id.
    pub fn testgen_run(&self, id: &RunId) -> Result<Option<TestGenRun>> {
        self.query(|connection| {
            let mut select = connection.prepare_cached("SELECT * FROM testgen_runs WHERE run_id = ?1")?;
            select.query_row([id.as_str()], read).optional()
        })
    }

    /// The last runs, newest first, at most `limit`, on one symbol or on all (`None`).
    pub fn recent_testgen_runs(&self, limit: usize, symbol: Option<&SymbolKey>) -> Result<Vec<TestGenRun>> {
        self.query(|connection| {
            let sql = "SELECT * FROM testgen_runs WHERE ?1 IS NULL OR symbol = ?1 ORDER BY id DESC LIMIT ?2";
            let mut select = connection.prepare_cached(sql)?;
            let arguments = params![symbol.map(|key| &key.0), i64::try_from(limit).unwrap_or(i64::MAX)];
            select.query_map(arguments, read)?.collect()
        })
    }

    /// The best run on a symbol, by `is_best`; the last one if no run kept any test.
    pub fn best_testgen_run(&self, symbol: &SymbolKey) -> Result<Option<TestGenRun>> {
        self.query(|connection| {
            let sql = "SELECT * FROM testgen_runs WHERE symbol = ?1 ORDER BY is_best DESC, id DESC LIMIT 1";
            connection.prepare_cached(sql)?.query_row([&symbol.0], read).optional()
        })
    }

    /// Adds to a run the change that was proposed after it, the proposing model, and, once known, whether it
    /// was accepted.
    ///
    /// Errors (`Usage`): there is no such run.
    pub fn note_testgen_change(
        &mut self,
        run: &RunId,
        meta_model: &str,
        change: &TestGenConfigChange,
        accepted: Option<bool>,
    ) -> Result<()> {
        let changed = self.run(|connection| {
            let sql = "UPDATE testgen_runs SET meta_model = ?2, proposed_change = ?3, change_accepted = ?4
                       WHERE run_id = ?1";
            connection.execute(sql, params![run.as_str(), meta_model, json(change), accepted])
        })?;
        if changed == 1 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Usage, format!("there is no TestGen run {run}"))
            .help("cargo implfuzz testgen runs"))
    }
}

/// Marks the best run of a symbol: the run whose tests show the most, by mutants and branches, then by
/// cheats, then by number of tests; of equal ones the last. Scores do not show that: a single category is
/// always balanced, and tokens say nothing about differences from C.
fn mark_best(connection: &Connection, symbol: &SymbolKey) -> rusqlite::Result<()> {
    let sql = "UPDATE testgen_runs SET is_best = id IS (
                   SELECT id FROM testgen_runs WHERE symbol = ?1 AND kept > 0
                   ORDER BY comprehensiveness DESC NULLS LAST, anti_cheat_coverage DESC NULLS LAST, kept DESC, id DESC LIMIT 1)
               WHERE symbol = ?1";
    connection.execute(sql, [&symbol.0]).map(drop)
}

fn read(row: &Row) -> rusqlite::Result<TestGenRun> {
    RUNS.fields(row)?.with::<Proposed>("proposed")?.with::<TestGenAnalysis>("analysis")?.read()
}
