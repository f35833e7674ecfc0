//! Runs of the generator. A finished run is saved together with its tests.

use super::cases;
use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::store::columns::{date, from_json, from_json_opt, int, json, unsigned, unsigned32, word};
use crate::symbol::SymbolKey;
use crate::test_record::{
    ConfigId, Proposed, RecordedTest, RunId, TestGenAnalysis, TestGenConfigChange, TestGenRun,
};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, named_params, params};

impl Store {
    /// Stores a run and its tests, all or nothing. Recomputes which run of the symbol is the best; the run's
    /// own `is_best` is ignored.
    pub fn save_testgen_run(&mut self, run: &TestGenRun, tests: &[RecordedTest]) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            insert(&transaction, run)?;
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
            let arguments = params![symbol.map(|key| &key.0), int(limit as u64)];
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

fn insert(connection: &Connection, run: &TestGenRun) -> rusqlite::Result<()> {
    let sql = "INSERT INTO testgen_runs (run_id, session, config, symbol, task_type, context, valid, dropped, duplicates,
                   kept, rounds, reflections, category_distribution, category_balance, anti_cheat_coverage,
                   parameter_discovery, reflection_effectiveness, token_efficiency, comprehensiveness, kill_rate,
                   callee_kill_rate, branch_coverage, valid_share, duplicate_share, prediction_agreement, brier_score, self_assessment,
                   tokens, duration_ms, meta_model, proposed_change, change_accepted, score, is_best, created_at)
               VALUES (:run_id, :session, :config, :symbol, :task_type, :context, :valid, :dropped, :duplicates, :kept,
                   :rounds, :reflections, :distribution, :balance, :anti_cheat, :discovery, :reflection, :efficiency,
                   :comprehensiveness, :kill_rate, :callee_kill_rate, :branch_coverage, :valid_share, :duplicate_share, :agreement, :brier,
                   :self_assessment, :tokens, :duration_ms, :meta_model, :change, :accepted, :score, 0, :created_at)";
    let analysis = &run.analysis;
    connection
        .execute(
            sql,
            named_params! {
                ":run_id": run.run_id.as_str(),
                ":session": run.session,
                ":config": run.config.0,
                ":symbol": run.symbol.0,
                ":task_type": run.task_type,
                ":context": run.context.to_string(),
                ":valid": int(run.proposed.valid),
                ":dropped": int(run.proposed.dropped),
                ":duplicates": int(run.proposed.duplicates),
                ":kept": int(run.kept),
                ":rounds": run.rounds,
                ":reflections": run.reflections,
                ":distribution": json(&analysis.category_distribution),
                ":balance": analysis.category_balance,
                ":anti_cheat": analysis.anti_cheat_coverage,
                ":discovery": analysis.parameter_discovery,
                ":reflection": analysis.reflection_effectiveness,
                ":efficiency": analysis.token_efficiency,
                ":comprehensiveness": analysis.comprehensiveness,
                ":kill_rate": analysis.kill_rate,
                ":callee_kill_rate": analysis.callee_kill_rate,
                ":branch_coverage": analysis.branch_coverage,
                ":valid_share": analysis.valid_share,
                ":duplicate_share": analysis.duplicate_share,
                ":agreement": analysis.prediction_agreement,
                ":brier": analysis.brier_score,
                ":self_assessment": run.self_assessment,
                ":tokens": int(run.tokens),
                ":duration_ms": int(run.duration_ms),
                ":meta_model": run.meta_model,
                ":change": run.proposed_change.as_ref().map(json),
                ":accepted": run.change_accepted,
                ":score": run.score,
                ":created_at": run.created_at.to_string(),
            },
        )
        .map(drop)
}

fn read(row: &Row) -> rusqlite::Result<TestGenRun> {
    Ok(TestGenRun {
        run_id: word(row, "run_id")?,
        session: row.get("session")?,
        config: ConfigId(row.get("config")?),
        symbol: SymbolKey(row.get("symbol")?),
        task_type: row.get("task_type")?,
        context: word(row, "context")?,
        proposed: Proposed {
            valid: unsigned(row, "valid")?,
            dropped: unsigned(row, "dropped")?,
            duplicates: unsigned(row, "duplicates")?,
        },
        kept: unsigned(row, "kept")?,
        rounds: unsigned32(row, "rounds")?,
        reflections: unsigned32(row, "reflections")?,
        analysis: analysis(row)?,
        self_assessment: row.get("self_assessment")?,
        tokens: unsigned(row, "tokens")?,
        duration_ms: unsigned(row, "duration_ms")?,
        meta_model: row.get("meta_model")?,
        proposed_change: from_json_opt(row, "proposed_change")?,
        change_accepted: row.get("change_accepted")?,
        score: row.get("score")?,
        is_best: row.get("is_best")?,
        created_at: date(row, "created_at")?,
    })
}

fn analysis(row: &Row) -> rusqlite::Result<TestGenAnalysis> {
    Ok(TestGenAnalysis {
        category_distribution: from_json(row, "category_distribution")?,
        category_balance: row.get("category_balance")?,
        anti_cheat_coverage: row.get("anti_cheat_coverage")?,
        parameter_discovery: row.get("parameter_discovery")?,
        reflection_effectiveness: row.get("reflection_effectiveness")?,
        token_efficiency: row.get("token_efficiency")?,
        comprehensiveness: row.get("comprehensiveness")?,
        kill_rate: row.get("kill_rate")?,
        callee_kill_rate: row.get("callee_kill_rate")?,
        branch_coverage: row.get("branch_coverage")?,
        valid_share: row.get("valid_share")?,
        duplicate_share: row.get("duplicate_share")?,
        prediction_agreement: row.get("prediction_agreement")?,
        brier_score: row.get("brier_score")?,
    })
}
