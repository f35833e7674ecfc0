//! Generated tests in the store: what these tests stand on, and the tables themselves. Configurations and runs have a room each.

mod configs;
mod runs;

use super::*;
use crate::testgen::{
    ConfigId, GeneratedTest, ModelType, Proposed, RecordedTest, RunId as TestGenRunId, TestCategory,
    TestGenAnalysis, TestGenConfig, TestGenConfigChange, TestGenContext, TestGenRun, fixture,
};
use serde_json::json;

/// A database with two symbols and as many configurations.
fn with_configs() -> (tempfile::TempDir, Store, ConfigId, ConfigId) {
    let (dir, mut store) = fresh();
    store.save_symbols(&[symbol("a"), symbol("b")]).unwrap();
    let first = store.save_testgen_config(&TestGenConfig::default()).unwrap();
    let other = store.save_testgen_config(&config("1.0.1")).unwrap();
    (dir, store, first, other)
}

fn config(version: &str) -> TestGenConfig {
    TestGenConfig { version: version.into(), ..TestGenConfig::default() }
}

fn name(number: u32) -> TestGenRunId {
    TestGenRunId::new("2026-01-31T10:00:00Z".parse().unwrap(), number)
}

/// A run with nothing measured but its score.
fn run(number: u32, at: &str, config: ConfigId, score: Option<u32>) -> TestGenRun {
    TestGenRun {
        run_id: name(number),
        config,
        created_at: now(),
        ..fixture::run(number, symbol(at).key, score)
    }
}

fn case(id: &str) -> RecordedTest {
    let test = GeneratedTest {
        id: id.into(),
        // Keys stay in the order of the parameters.
        input: json!({"src": "x", "n": 3, "dst": {"hex": "00ff"}}),
        predicted_output: None,
        expected_output: Some(json!({"return": 7})),
        reasoning: "why".into(),
        category: TestCategory::Boundary,
        confidence: None,
    };
    RecordedTest { test, dropped: None, kills: None, kept: true }
}

fn count(store: &Store, table: &str) -> i64 {
    store.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn a_database_of_version_8_gets_the_tables_and_keeps_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let old = Connection::open(&path).unwrap();
    for sql in [
        include_str!("../migrations/0001_start.sql"),
        include_str!("../migrations/0002_analysis.sql"),
        include_str!("../migrations/0003_grades.sql"),
        include_str!("../migrations/0004_accounting.sql"),
        include_str!("../migrations/0005_memory.sql"),
        include_str!("../migrations/0006_c_findings.sql"),
        include_str!("../migrations/0007_explanations.sql"),
        include_str!("../migrations/0008_makers.sql"),
        "PRAGMA user_version = 8;
         INSERT INTO symbols VALUES ('c:@F@a', 'a', 'a.c', 1, 'a', 'function', NULL, '00', 0, 1);
         INSERT INTO runs VALUES (7, 'port a', 'unified', 'p', 'm', '0', 1, '1', '2026-01-01T00:00:00Z', NULL, 'done');",
    ] {
        old.execute_batch(sql).unwrap();
    }
    drop(old);
    let mut store = Store::open(&path).unwrap();
    assert_eq!((store.symbols().unwrap()[0].name.as_str(), store.runs().unwrap()[0].id), ("a", RunId(7)));
    let config = store.save_testgen_config(&TestGenConfig::default()).unwrap();
    let run = TestGenRun { session: Some(7), ..run(1, "a", config, Some(1)) };
    store.save_testgen_run(&run, &[case("t1")]).unwrap();
    assert_eq!(store.testgen_stats().unwrap().overall.runs, 1);
}

#[test]
fn symbol_configuration_score_and_date_have_indices() {
    let (_dir, store) = fresh();
    let uses = |condition: &str| -> String {
        let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM testgen_runs WHERE {condition}");
        store.connection.query_row(&sql, [], |row| row.get("detail")).unwrap()
    };
    for (condition, index) in [
        ("symbol = 'a'", "testgen_runs_by_symbol"),
        ("config = 1 AND task_type = 'pure'", "testgen_runs_by_config"),
        ("score > 900", "testgen_runs_by_score"),
        ("created_at > '2026'", "testgen_runs_by_date"),
    ] {
        assert!(uses(condition).contains(index), "{condition}: {}", uses(condition));
    }
}
