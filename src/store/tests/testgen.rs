//! Generated tests in the store: common helpers, and tests of the tables. Configurations and runs have their
//! own modules.

mod configs;
mod runs;

use super::*;
use crate::test_record::{
    ConfigId, ConfigRef, EvolutionRound, GeneratedTest, ModelType, Proposed, RecordedTest,
    RunId as TestGenRunId, ScorePair, TestCategory, TestGenAnalysis, TestGenConfig, TestGenConfigChange,
    TestGenContext, TestGenRun, fixture,
};
use serde_json::json;

/// Kinds of functions, as contracts name them.
const PURE: &str = "pure function";
const TEXT: &str = "string function";

/// A database with two symbols and two configurations.
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

fn named(id: ConfigId) -> ConfigRef {
    ConfigRef { id, version: "1.0.0".into() }
}

fn name(number: u32) -> TestGenRunId {
    TestGenRunId::new("2026-01-31T10:00:00Z".parse().unwrap(), number)
}

/// A run with a score and no other measurements.
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
        // The keys stay in the order of the parameters.
        input: json!({"src": "x", "n": 3, "dst": {"hex": "00ff"}}),
        predicted_output: None,
        expected_output: Some(json!({"return": 7})),
        reasoning: "why".into(),
        category: TestCategory::Boundary,
        confidence: None,
    };
    RecordedTest { test, dropped: None, kills: None, cheats: None, kept: true }
}

#[test]
fn cheats_among_the_mutants_of_version_9_get_their_own_column() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let mut store = Store::open(&path).unwrap();
    store.save_symbols(&[symbol("a")]).unwrap();
    let config = store.save_testgen_config(&TestGenConfig::default()).unwrap();
    let mut before = run(1, "a", config, None);
    before.proposed.valid = 2;
    before.analysis.category_distribution =
        [(TestCategory::Existence, 1), (TestCategory::Boundary, 2)].into();
    store.save_testgen_run(&before, &[case("t1"), case("t2"), case("t3")]).unwrap();
    drop(store);
    let old = Connection::open(&path).unwrap();
    old.execute_batch(
        r#"ALTER TABLE testgen_tests DROP COLUMN cheats;
           ALTER TABLE testgen_runs DROP COLUMN callee_kill_rate;
           UPDATE testgen_runs SET is_best = 0, kept = 1;
           UPDATE testgen_tests SET kills = '["line 1: `<` → `>`", "cheat: constant return", "cheat: stale"]' WHERE id = 't1';
           UPDATE testgen_tests SET kills = '[]' WHERE id = 't2';"#,
    )
    .unwrap();
    old.execute_batch(migrate::MIGRATIONS[9]).unwrap();
    drop(old);
    let store = Store::open(&path).unwrap();
    let list = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let found = store.testgen_tests(&name(1)).unwrap();
    let found: Vec<_> = found.into_iter().map(|test| (test.kills, test.cheats)).collect();
    let wanted = [
        (list(&["line 1: `<` → `>`"]), list(&["constant return", "stale"])),
        (list(&[]), list(&[])),
        (None, None),
    ];
    assert_eq!(found, wanted);
    assert_eq!(store.testgen_run(&name(1)).unwrap().unwrap().proposed.valid, 3, "with the one of existence");
    assert!(store.testgen_run(&name(1)).unwrap().unwrap().is_best, "no run tells more");
}

fn count(store: &Store, table: &str) -> i64 {
    store.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
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
        ("config = 1 AND task_type = 'pure function'", "testgen_runs_by_config"),
        ("score > 900", "testgen_runs_by_score"),
        ("created_at > '2026'", "testgen_runs_by_date"),
    ] {
        assert!(uses(condition).contains(index), "{condition}: {}", uses(condition));
    }
}
