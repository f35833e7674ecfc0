//! The tests of runs, including dropped ones.

use crate::error::Result;
use crate::store::Store;
use crate::store::table::Table;
use crate::test_record::{RecordedTest, RunId};
use rusqlite::Connection;
use serde::Serialize;

const TESTS: Table = Table {
    name: "testgen_tests",
    json: &["predicted_output", "measured_output", "kills", "cheats"],
    json_or_null: &["input"],
    flags: &["kept"],
    renamed: &[("expected_output", "measured_output")],
};

impl Store {
    /// The tests of a run in order of arrival.
    pub fn testgen_tests(&self, run: &RunId) -> Result<Vec<RecordedTest>> {
        self.query(|connection| {
            let mut select =
                connection.prepare_cached("SELECT * FROM testgen_tests WHERE run = ?1 ORDER BY number")?;
            select.query_map([run.as_str()], |row| TESTS.read(row))?.collect()
        })
    }
}

/// Runs inside the caller's transaction.
pub(super) fn insert(connection: &Connection, run: &RunId, tests: &[RecordedTest]) -> rusqlite::Result<()> {
    /// The columns that a test itself lacks.
    #[derive(Serialize)]
    struct Row<'a> {
        run: &'a RunId,
        number: usize,
        valid: bool,
        #[serde(flatten)]
        recorded: &'a RecordedTest,
    }
    for (number, recorded) in (1..).zip(tests) {
        let valid = recorded.dropped.is_none();
        TESTS.insert(connection, &Row { run, number, valid, recorded })?;
    }
    Ok(())
}
