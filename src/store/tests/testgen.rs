//! Generated tests in the store: what these tests stand on, and the tables themselves. Configurations and runs have a room each.

mod configs;
mod runs;

use super::*;
use crate::testgen::{
    ConfigId, ConfigRef, EvolutionRound, GeneratedTest, ModelType, Proposed, RecordedTest,
    RunId as TestGenRunId, TestCategory, TestGenAnalysis, TestGenConfig, TestGenConfigChange, TestGenContext,
    TestGenRun, fixture,
};
use serde_json::json;

/// Kinds of functions, as contracts call them.
const PURE: &str = "pure function";
const TEXT: &str = "string function";

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

fn named(id: ConfigId) -> ConfigRef {
    ConfigRef { id, version: "1.0.0".into() }
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
