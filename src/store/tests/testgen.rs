//! Generated tests: configurations, runs, the best ones, and rounds of evolution.

use super::*;
use crate::testgen::{
    ConfigId, GeneratedTest, ModelType, Proposed, RecordedTest, RunId as TestGenRunId, TestCategory,
    TestGenAnalysis, TestGenConfig, TestGenConfigChange, TestGenContext, TestGenRun,
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
        session: None,
        config,
        symbol: symbol(at).key,
        task_type: Some("pure".into()),
        context: TestGenContext::Benchmark,
        proposed: Proposed::default(),
        kept: 0,
        rounds: 1,
        reflections: 0,
        analysis: TestGenAnalysis::default(),
        self_assessment: None,
        tokens: 0,
        duration_ms: 0,
        meta_model: None,
        proposed_change: None,
        change_accepted: None,
        score,
        is_best: false,
        created_at: now(),
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
fn a_configuration_is_kept_once_and_comes_back_whole() {
    let (_dir, mut store, first, other) = with_configs();
    assert_ne!(first, other);
    assert_eq!(store.save_testgen_config(&TestGenConfig::default()).unwrap(), first);
    let odd = TestGenConfig {
        version: "7.8.9".into(),
        temperature: Some(0.3),
        max_tokens: 1_000,
        min_tests_per_category: 3,
        max_tests_per_category: 6,
        max_rounds_per_category: 4,
        environment_weight: 0.1,
        anti_cheat_weight: 0.2,
        precision_weight: 0.3,
        category_order: TestCategory::ALL.into_iter().rev().collect(),
        category_prompts: [(TestCategory::Boundary, "edges".to_owned())].into(),
        anti_cheat_prompt: "a".into(),
        reflection_prompt: "b".into(),
        primary_model: ModelType::Claude,
        reflection_model: ModelType::Local,
        min_comprehensiveness: 1.5,
        target_comprehensiveness: 2.5,
        min_total_tests: 1,
        target_total_tests: 2,
        max_total_rounds: 3,
        max_total_tokens: 4,
        max_total_seconds: 5,
        global_refinement: false,
        global_refinement_rounds: 6,
    };
    let id = store.save_testgen_config(&odd).unwrap();
    let row = store.testgen_config(id).unwrap().unwrap();
    assert_eq!((&row.config, row.is_current), (&odd, false));
    assert_eq!(row.config_hash, odd.config_hash(), "what is read has the hash of what was written");
    assert_eq!(row.config.config_hash(), row.config_hash);
    assert_eq!(store.testgen_config_by_hash(&row.config_hash).unwrap(), Some(row.clone()));
    assert_eq!(store.testgen_config_by_hash("ff").unwrap(), None);
    assert_eq!(store.testgen_config(ConfigId(99)).unwrap(), None);
    let ids: Vec<_> = store.testgen_configs().unwrap().iter().map(|row| row.id).collect();
    assert_eq!(ids, [first, other, id]);
    let value = serde_json::to_value(&row).unwrap();
    assert_eq!(
        (&value["id"], &value["is_current"], &value["max_tokens"]),
        (&json!(id.0), &json!(false), &json!(1_000))
    );
}

#[test]
fn a_configuration_that_cannot_be_used_is_not_kept() {
    let (_dir, mut store) = fresh();
    let error = store.save_testgen_config(&config("new")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(count(&store, "testgen_configs"), 0);
}

#[test]
fn at_most_one_configuration_is_current() {
    let (_dir, mut store, first, other) = with_configs();
    let current = |store: &Store| store.current_testgen_config().unwrap().map(|row| row.id);
    assert_eq!(current(&store), None);
    for id in [first, other, other, first] {
        store.set_current_testgen_config(id).unwrap();
        assert_eq!(current(&store), Some(id));
        let marked = store.testgen_configs().unwrap().iter().filter(|row| row.is_current).count();
        assert_eq!(marked, 1);
    }
    let error = store.set_current_testgen_config(ConfigId(99)).unwrap_err();
    assert_eq!((error.kind(), current(&store)), (ErrorKind::Usage, Some(first)));
    assert!(error.to_string().contains("configuration 99"), "{error}");
    let two = "UPDATE testgen_configs SET is_current = 1";
    assert!(store.connection.execute(two, []).is_err(), "the database itself refuses a second one");
}

#[test]
fn a_run_comes_back_whole_with_its_tests() {
    let (_dir, mut store, first, _) = with_configs();
    let session = store.start_run(&NewRun::default()).unwrap();
    let analysis = TestGenAnalysis {
        category_distribution: [(TestCategory::AntiCheat, 2), (TestCategory::Boundary, 0)].into(),
        category_balance: 0.1,
        anti_cheat_coverage: Some(0.2),
        parameter_discovery: Some(0.3),
        reflection_effectiveness: Some(0.4),
        token_efficiency: Some(0.5),
        comprehensiveness: Some(6.5),
        kill_rate: Some(0.6),
        branch_coverage: Some(0.7),
        valid_share: Some(0.75),
        duplicate_share: Some(0.8),
        prediction_agreement: Some(0.9),
        brier_score: Some(0.95),
    };
    let whole = TestGenRun {
        session: Some(session.0),
        task_type: Some("text".into()),
        context: TestGenContext::Custom(vec![TestCategory::AntiCheat, TestCategory::Boundary]),
        proposed: Proposed { valid: 2, dropped: 3, duplicates: 4 },
        kept: 5,
        rounds: 6,
        reflections: 7,
        analysis,
        self_assessment: Some(9.5),
        tokens: 8,
        duration_ms: 9,
        meta_model: Some("m".into()),
        proposed_change: Some(TestGenConfigChange::keep("fine")),
        change_accepted: Some(true),
        is_best: true,
        ..run(1, "a", first, Some(700))
    };
    let dropped = RecordedTest { dropped: Some("C breaks on it".into()), kept: false, ..case("t3") };
    let killer = RecordedTest { kills: Some(vec!["m1".into(), "m2".into()]), ..case("t1") };
    let mut sure = case("t2");
    sure.test.confidence = Some(0.25);
    sure.test.predicted_output = Some(json!({"return": -0.5, "a": null}));
    let tests = [killer, sure, dropped];
    store.save_testgen_run(&whole, &tests).unwrap();
    assert_eq!(store.testgen_run(&name(1)).unwrap(), Some(whole));
    let found = store.testgen_tests(&name(1)).unwrap();
    assert_eq!(found, tests);
    assert_eq!(found[0].test.input.to_string(), r#"{"src":"x","n":3,"dst":{"hex":"00ff"}}"#);
    let bare = TestGenRun { task_type: None, ..run(2, "a", first, None) };
    store.save_testgen_run(&bare, &[]).unwrap();
    assert_eq!(store.testgen_run(&name(2)).unwrap(), Some(bare), "what was not measured stays so");
    assert_eq!(store.testgen_run(&name(3)).unwrap(), None);
    assert_eq!(store.testgen_tests(&name(2)).unwrap(), []);
}

#[test]
fn a_run_and_its_tests_are_kept_together_or_not_at_all() {
    let (_dir, mut store, first, _) = with_configs();
    let saved = |store: &Store| (count(store, "testgen_runs"), count(store, "testgen_tests"));
    let twice = [case("t1"), case("t1")];
    assert_eq!(
        store.save_testgen_run(&run(1, "a", first, None), &twice).unwrap_err().kind(),
        ErrorKind::Store
    );
    assert_eq!(saved(&store), (0, 0));
    let kept_though_dropped = RecordedTest { dropped: Some("x".into()), ..case("t2") };
    store.save_testgen_run(&run(1, "a", first, None), &[case("t1"), kept_though_dropped]).unwrap_err();
    assert_eq!(saved(&store), (0, 0));
    store.save_testgen_run(&run(1, "a", first, None), &[case("t1"), case("t2")]).unwrap();
    assert_eq!(saved(&store), (1, 2));
    store.save_testgen_run(&run(1, "a", first, None), &[case("t9")]).unwrap_err();
    assert_eq!(saved(&store), (1, 2), "a name is given once");
}

#[test]
fn what_a_run_refers_to_is_there() {
    let (_dir, mut store, first, _) = with_configs();
    let good = run(1, "a", first, None);
    for wrong in [
        TestGenRun { config: ConfigId(99), ..good.clone() },
        TestGenRun { symbol: SymbolKey("none".into()), ..good.clone() },
        TestGenRun { session: Some(99), ..good.clone() },
    ] {
        assert_eq!(store.save_testgen_run(&wrong, &[]).unwrap_err().kind(), ErrorKind::Store);
    }
    let out_of_range = |analysis| TestGenRun { analysis, ..good.clone() };
    for wrong in [
        TestGenRun { score: Some(1_001), ..good.clone() },
        out_of_range(TestGenAnalysis { comprehensiveness: Some(10.1), ..TestGenAnalysis::default() }),
        out_of_range(TestGenAnalysis { category_balance: 1.1, ..TestGenAnalysis::default() }),
        out_of_range(TestGenAnalysis { kill_rate: Some(-0.1), ..TestGenAnalysis::default() }),
    ] {
        assert_eq!(store.save_testgen_run(&wrong, &[]).unwrap_err().kind(), ErrorKind::Store);
    }
    store.save_testgen_run(&good, &[case("t1")]).unwrap();
    for sql in ["DELETE FROM testgen_configs WHERE id = 1", "DELETE FROM testgen_runs", "DELETE FROM symbols"]
    {
        assert!(store.connection.execute(sql, []).is_err(), "{sql}");
    }
}

#[test]
fn runs_are_told_newest_first_and_a_history_oldest_first() {
    let (_dir, mut store, first, other) = with_configs();
    for (number, at, config) in [(3, "a", first), (1, "b", first), (2, "a", other)] {
        store.save_testgen_run(&run(number, at, config, None), &[]).unwrap();
    }
    let names = |runs: Vec<TestGenRun>| runs.into_iter().map(|run| run.run_id).collect::<Vec<_>>();
    let (a, b) = (symbol("a").key, symbol("b").key);
    let recent = |limit, symbol| names(store.recent_testgen_runs(limit, symbol).unwrap());
    assert_eq!(recent(10, None), [name(2), name(1), name(3)]);
    assert_eq!(recent(2, None), [name(2), name(1)]);
    assert_eq!(recent(10, Some(&a)), [name(2), name(3)]);
    assert_eq!(recent(1, Some(&a)), [name(2)]);
    assert_eq!(recent(0, None), []);
    assert_eq!(names(store.testgen_history(&a).unwrap()), [name(3), name(2)]);
    assert_eq!(names(store.testgen_history(&b).unwrap()), [name(1)]);
}

#[test]
fn the_best_run_of_a_symbol_is_the_first_with_the_highest_score() {
    let (_dir, mut store, first, _) = with_configs();
    for (number, at, score, best) in [
        (1, "a", None, vec![]),
        (2, "a", Some(500), vec![2]),
        (3, "b", Some(900), vec![2, 3]),
        (4, "a", Some(500), vec![2, 3]),
        (5, "a", Some(501), vec![3, 5]),
        (6, "a", None, vec![3, 5]),
    ] {
        store.save_testgen_run(&TestGenRun { is_best: true, ..run(number, at, first, score) }, &[]).unwrap();
        let mut found: Vec<_> = store.recent_testgen_runs(10, None).unwrap();
        found.retain(|run| run.is_best);
        found.reverse();
        let found: Vec<_> = found.into_iter().map(|run| run.run_id).collect();
        assert_eq!(found, best.into_iter().map(name).collect::<Vec<_>>(), "{number}");
    }
}

#[test]
fn a_proposed_change_is_added_to_its_run() {
    let (_dir, mut store, first, _) = with_configs();
    store.save_testgen_run(&run(1, "a", first, None), &[]).unwrap();
    let change =
        TestGenConfigChange { expected_improvement: Some(12.0), ..TestGenConfigChange::keep("fine") };
    for accepted in [None, Some(false), Some(true)] {
        store.note_testgen_change(&name(1), "claude", &change, accepted).unwrap();
        let found = store.testgen_run(&name(1)).unwrap().unwrap();
        assert_eq!((found.meta_model.as_deref(), found.change_accepted), (Some("claude"), accepted));
        assert_eq!(found.proposed_change, Some(change.clone()));
    }
    let error = store.note_testgen_change(&name(2), "claude", &change, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn the_best_configuration_gives_way_only_to_a_strictly_better_mean() {
    let (_dir, mut store, first, other) = with_configs();
    let best = |store: &Store| {
        let best = store.testgen_best("pure").unwrap()?;
        Some((best.config, best.run, best.score, best.pass_count, best.total_runs))
    };
    let mut number = 0;
    let mut save = |store: &mut Store, config, score, comprehensiveness| {
        number += 1;
        let analysis = TestGenAnalysis { comprehensiveness, ..TestGenAnalysis::default() };
        store.save_testgen_run(&TestGenRun { analysis, ..run(number, "a", config, score) }, &[]).unwrap();
    };
    assert!(!store.update_testgen_best("pure", first).unwrap(), "no run, nothing to be best by");
    save(&mut store, first, None, None);
    assert!(!store.update_testgen_best("pure", first).unwrap(), "a run without a score is none");
    assert_eq!(best(&store), None);
    save(&mut store, first, Some(400), Some(6.9));
    save(&mut store, first, Some(600), Some(7.0));
    assert!(store.update_testgen_best("pure", first).unwrap());
    assert_eq!(best(&store), Some((first, name(3), 500.0, 1, 3)));
    save(&mut store, other, Some(500), Some(9.0));
    assert!(!store.update_testgen_best("pure", other).unwrap(), "the same mean does not replace it");
    assert_eq!(best(&store).unwrap().0, first);
    save(&mut store, other, Some(501), None);
    assert!(store.update_testgen_best("pure", other).unwrap());
    assert_eq!(best(&store), Some((other, name(5), 500.5, 1, 2)));
    save(&mut store, other, Some(100), None);
    assert!(!store.update_testgen_best("pure", other).unwrap());
    let (config, run, score, ..) = best(&store).unwrap();
    assert_eq!((config, run), (other, name(5)));
    assert!((score - 1_101.0 / 3.0).abs() < 1e-9, "its own mean is told as it is now: {score}");
    assert!(store.update_testgen_best("pure", first).unwrap(), "so another one is better by now");
}

#[test]
fn each_kind_of_function_has_a_best_configuration_of_its_own() {
    let (_dir, mut store, first, other) = with_configs();
    for (number, kind, config, score) in [
        (1, Some("pure"), first, 900),
        (2, Some("text"), first, 100),
        (3, Some("text"), other, 300),
        (4, None, other, 300),
    ] {
        let run = TestGenRun { task_type: kind.map(Into::into), ..run(number, "a", config, Some(score)) };
        store.save_testgen_run(&run, &[]).unwrap();
    }
    let best = |store: &Store, kind| {
        let best = store.testgen_best(kind).unwrap()?;
        Some((best.config, best.score, best.is_override))
    };
    for (kind, config) in [("pure", first), ("text", first), ("text", other)] {
        assert!(store.update_testgen_best(kind, config).unwrap(), "{kind}");
    }
    assert_eq!(best(&store, "text"), Some((other, 300.0, false)), "over nothing there is no override");
    for config in [first, other] {
        store.update_testgen_best(GLOBAL, config).unwrap();
    }
    assert_eq!(best(&store, GLOBAL), Some((first, 500.0, false)));
    assert_eq!(best(&store, "text"), Some((other, 300.0, true)));
    assert_eq!(best(&store, "pure"), Some((first, 900.0, false)));
    assert!(!store.update_testgen_best("callbacks", first).unwrap());
    assert_eq!(best(&store, "callbacks"), None);
}

#[test]
fn rounds_of_evolution_are_kept_and_what_was_accepted_is_current() {
    let (_dir, mut store, first, other) = with_configs();
    store.set_current_testgen_config(first).unwrap();
    let change: TestGenConfigChange = serde_json::from_value(json!({
        "type": "update_prompts", "changes": {"category_prompts": {"boundary": "edges"}}, "reasoning": "r",
        "expected_improvement": 10.0,
    }))
    .unwrap();
    let keep = TestGenConfigChange::keep("it does not parse");
    let rejected = NewEvolution {
        from: first,
        to: Some(other),
        change: &change,
        actual_improvement: Some(-3.5),
        quality_delta: Some(0.5),
        accepted: false,
        reason: "not above zero",
    };
    let current = |store: &Store| store.current_testgen_config().unwrap().unwrap().id;
    store.add_testgen_evolution(&rejected).unwrap();
    assert_eq!(current(&store), first);
    let kept = NewEvolution {
        to: None,
        change: &keep,
        actual_improvement: None,
        quality_delta: None,
        ..rejected.clone()
    };
    store.add_testgen_evolution(&kept).unwrap();
    store.add_testgen_evolution(&NewEvolution { accepted: true, ..rejected.clone() }).unwrap();
    assert_eq!(current(&store), other);
    let rows = store.testgen_evolution().unwrap();
    assert_eq!(rows.iter().map(|row| row.accepted).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((&rows[0].change, rows[0].from, rows[0].to), (&change, first, Some(other)));
    assert_eq!((rows[0].actual_improvement, rows[0].quality_delta), (Some(-3.5), Some(0.5)));
    assert_eq!((&rows[1].change, rows[1].to, rows[1].actual_improvement), (&keep, None, None));
    assert_eq!(rows[1].reason, "not above zero");
    for wrong in [
        NewEvolution { from: ConfigId(99), ..rejected.clone() },
        NewEvolution { to: Some(ConfigId(99)), accepted: true, ..rejected.clone() },
        NewEvolution { to: None, accepted: true, ..rejected },
    ] {
        assert_eq!(store.add_testgen_evolution(&wrong).unwrap_err().kind(), ErrorKind::Store);
    }
    assert_eq!((store.testgen_evolution().unwrap().len(), current(&store)), (3, other));
}

#[test]
fn stats_are_counts_and_means_of_what_was_measured() {
    let (_dir, mut store, first, other) = with_configs();
    let empty = store.testgen_stats().unwrap();
    assert_eq!((empty.configs, empty.overall.runs, empty.overall.score), (2, 0, None));
    assert_eq!((empty.symbols.len(), empty.over_time.len()), (0, 0));
    let analysis = |comprehensiveness| TestGenAnalysis {
        comprehensiveness,
        category_balance: 0.5,
        ..TestGenAnalysis::default()
    };
    let first_run =
        TestGenRun { tokens: 100, analysis: analysis(Some(8.0)), ..run(1, "a", first, Some(400)) };
    let dropped = RecordedTest { dropped: Some("x".into()), kept: false, ..case("t2") };
    let spare = RecordedTest { kept: false, ..case("t3") };
    store.save_testgen_run(&first_run, &[case("t1"), dropped, spare]).unwrap();
    store.save_testgen_run(&TestGenRun { tokens: 200, ..run(2, "b", other, Some(601)) }, &[]).unwrap();
    store.save_testgen_run(&TestGenRun { tokens: 300, ..run(3, "b", other, None) }, &[]).unwrap();
    let stats = store.testgen_stats().unwrap();
    assert_eq!((stats.tests, stats.valid_tests, stats.kept_tests), (3, 2, 1));
    let overall = &stats.overall;
    assert_eq!(
        (overall.runs, overall.scored, overall.score, overall.best_score),
        (3, 2, Some(500.5), Some(601))
    );
    assert_eq!((overall.comprehensiveness, overall.tokens), (Some(8.0), Some(200.0)));
    assert_eq!((overall.anti_cheat_coverage, overall.token_efficiency), (None, None));
    let told: Vec<_> = stats.symbols.iter().map(|s| (&s.symbol, s.means.runs, s.means.score)).collect();
    assert_eq!(told, [(&symbol("a").key, 1, Some(400.0)), (&symbol("b").key, 2, Some(601.0))]);
    assert_eq!(stats.symbols[1].means.comprehensiveness, None);
    let curve: Vec<_> = stats.over_time.iter().map(|m| (m.run_id.clone(), m.config, m.score)).collect();
    assert_eq!(curve, [(name(1), first, Some(400)), (name(2), other, Some(601)), (name(3), other, None)]);
    let keep = TestGenConfigChange::keep("");
    let round = NewEvolution {
        from: first,
        to: Some(other),
        change: &keep,
        actual_improvement: None,
        quality_delta: None,
        accepted: true,
        reason: "",
    };
    store.add_testgen_evolution(&round).unwrap();
    store.add_testgen_evolution(&NewEvolution { accepted: false, ..round }).unwrap();
    let stats = store.testgen_stats().unwrap();
    assert_eq!((stats.evolutions, stats.accepted_changes), (2, 1));
}

#[test]
fn what_was_not_committed_is_not_there_after_a_kill() {
    let (dir, mut store, first, other) = with_configs();
    store.set_current_testgen_config(first).unwrap();
    // As far as `set_current_testgen_config` and `save_testgen_run` come when the process is killed before they commit.
    let killed = Connection::open(dir.path().join("state.db")).unwrap();
    killed.execute_batch("BEGIN IMMEDIATE; UPDATE testgen_configs SET is_current = 0;").unwrap();
    assert_eq!(store.current_testgen_config().unwrap().unwrap().id, first, "nobody sees half of it");
    drop(killed);
    let mut store = Store::open(&dir.path().join("state.db")).unwrap();
    assert_eq!(store.current_testgen_config().unwrap().unwrap().id, first);
    store.set_current_testgen_config(other).unwrap();
}

#[test]
fn several_processes_keep_the_same_configuration_once() {
    let (dir, store) = fresh();
    drop(store);
    let path = dir.path().join("state.db");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut store = Store::open(&path).unwrap();
                for patch in 0..5 {
                    let id = store.save_testgen_config(&config(&format!("1.0.{patch}"))).unwrap();
                    store.set_current_testgen_config(id).unwrap();
                }
            });
        }
    });
    let rows = Store::open(&path).unwrap().testgen_configs().unwrap();
    assert_eq!((rows.len(), rows.iter().filter(|row| row.is_current).count()), (5, 1));
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
