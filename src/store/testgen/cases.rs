//! The tests of runs, including dropped ones.

use crate::error::Result;
use crate::store::Store;
use crate::store::columns::{from_json, from_json_opt, int, json, word};
use crate::test_record::{GeneratedTest, RecordedTest, RunId};
use rusqlite::{Connection, Row, params};

impl Store {
    /// The tests of a run in order of arrival.
    pub fn testgen_tests(&self, run: &RunId) -> Result<Vec<RecordedTest>> {
        self.query(|connection| {
            let mut select =
                connection.prepare_cached("SELECT * FROM testgen_tests WHERE run = ?1 ORDER BY number")?;
            select.query_map([run.as_str()], read)?.collect()
        })
    }
}

/// Runs inside the caller's transaction.
pub(super) fn insert(connection: &Connection, run: &RunId, tests: &[RecordedTest]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO testgen_tests (run, number, id, category, input, predicted_output, measured_output, reasoning,
                   confidence, valid, dropped, kills, cheats, kept)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let mut insert = connection.prepare_cached(sql)?;
    for (number, recorded) in (1..).zip(tests) {
        let test = &recorded.test;
        insert.execute(params![
            run.as_str(),
            int(number),
            test.id,
            test.category.word(),
            json(&test.input),
            test.predicted_output.as_ref().map(json),
            test.expected_output.as_ref().map(json),
            test.reasoning,
            test.confidence,
            recorded.dropped.is_none(),
            recorded.dropped,
            recorded.kills.as_ref().map(json),
            recorded.cheats.as_ref().map(json),
            recorded.kept,
        ])?;
    }
    Ok(())
}

fn read(row: &Row) -> rusqlite::Result<RecordedTest> {
    let test = GeneratedTest {
        id: row.get("id")?,
        input: from_json(row, "input")?,
        predicted_output: from_json_opt(row, "predicted_output")?,
        expected_output: from_json_opt(row, "measured_output")?,
        reasoning: row.get("reasoning")?,
        category: word(row, "category")?,
        confidence: row.get("confidence")?,
    };
    Ok(RecordedTest {
        test,
        dropped: row.get("dropped")?,
        kills: from_json_opt(row, "kills")?,
        cheats: from_json_opt(row, "cheats")?,
        kept: row.get("kept")?,
    })
}
