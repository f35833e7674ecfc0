//! Runs with their tests, and sums over them.

use super::*;

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
        callee_kill_rate: Some(0.3),
        branch_coverage: Some(0.7),
        valid_share: Some(0.75),
        duplicate_share: Some(0.8),
        prediction_agreement: Some(0.9),
        brier_score: Some(0.95),
    };
    let whole = TestGenRun {
        session: Some(session.0),
        task_type: Some(TEXT.into()),
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
    let killer = RecordedTest {
        kills: Some(vec!["m1".into(), "m2".into()]),
        cheats: Some(vec!["constant return".into()]),
        ..case("t1")
    };
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
fn what_c_left_comes_back_bit_for_bit() {
    let (_dir, mut store, first, _) = with_configs();
    // Each was once read back as its neighbour.
    let floats = [6.934698245112694e276, 8.383658838626809e-78, -7.803913958627244e173, 5e-324, 0.1];
    let mut measured = case("t1");
    measured.test.expected_output = Some(json!({ "return": floats }));
    store.save_testgen_run(&run(1, "a", first, None), &[measured]).unwrap();
    let found = store.testgen_tests(&name(1)).unwrap();
    let left = &found[0].test.expected_output.as_ref().unwrap()["return"];
    let bits = |value: f64| format!("{:016x}", value.to_bits());
    let read: Vec<String> =
        left.as_array().unwrap().iter().map(|value| bits(value.as_f64().unwrap())).collect();
    assert_eq!(read, floats.map(bits));
}

#[test]
fn a_kill_between_a_run_and_its_tests_leaves_neither() {
    let (dir, mut store, first, _) = with_configs();
    // Writing the first test never ends, so the process can be killed between the run and its tests.
    let endless = "CREATE TRIGGER endless BEFORE INSERT ON testgen_tests BEGIN
                       SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n);
                   END";
    store.connection.execute_batch(endless).unwrap();
    let stop = store.connection.get_interrupt_handle();
    let killed = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let saved = scope.spawn(|| store.save_testgen_run(&run(1, "a", first, None), &[case("t1")]));
        is_being_written(&dir.path().join("state.db"));
        // A copy of the files is what a process that is killed now would leave behind.
        for file in std::fs::read_dir(dir.path()).unwrap().flatten() {
            std::fs::copy(file.path(), killed.path().join(file.file_name())).unwrap();
        }
        stop.interrupt();
        saved.join().unwrap().unwrap_err();
    });
    let left = Store::open(&killed.path().join("state.db")).unwrap();
    assert_eq!((count(&left, "testgen_runs"), count(&left, "testgen_tests")), (0, 0));
    assert_eq!(count(&left, "testgen_configs"), 2);
}

/// Waits until another connection is writing, after the statements before the trigger.
fn is_being_written(path: &Path) {
    let other = Connection::open(path).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    while other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok() {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(100));
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
fn runs_are_told_newest_first() {
    let (_dir, mut store, first, other) = with_configs();
    for (number, at, config) in [(3, "a", first), (1, "b", first), (2, "a", other)] {
        store.save_testgen_run(&run(number, at, config, None), &[]).unwrap();
    }
    let names = |runs: Vec<TestGenRun>| runs.into_iter().map(|run| run.run_id).collect::<Vec<_>>();
    let a = symbol("a").key;
    let recent = |limit, symbol| names(store.recent_testgen_runs(limit, symbol).unwrap());
    assert_eq!(recent(10, None), [name(2), name(1), name(3)]);
    assert_eq!(recent(2, None), [name(2), name(1)]);
    assert_eq!(recent(10, Some(&a)), [name(2), name(3)]);
    assert_eq!(recent(1, Some(&a)), [name(2)]);
    assert_eq!(recent(0, None), []);
}

#[test]
fn the_best_run_of_a_symbol_is_the_one_whose_tests_tell_the_most() {
    let (_dir, mut store, first, _) = with_configs();
    let measured = |number, at, (reached, cheats, kept): (Option<f64>, Option<f64>, u64)| {
        let analysis = TestGenAnalysis {
            comprehensiveness: reached,
            anti_cheat_coverage: cheats,
            ..TestGenAnalysis::default()
        };
        // Scores must not matter here: the more is reached, the lower the score.
        let score = reached.map(|reached| 1_000 - (100.0 * reached) as u32);
        TestGenRun { analysis, kept, is_best: true, ..run(number, at, first, score) }
    };
    let key = symbol("a").key;
    assert_eq!(store.best_testgen_run(&key).unwrap(), None);
    for (number, at, of, best, stands) in [
        (1, "a", (None, None, 0), vec![], 1),
        (2, "a", (None, None, 1), vec![2], 2),
        (3, "a", (None, None, 0), vec![2], 2),
        (4, "b", (Some(9.0), None, 1), vec![2, 4], 2),
        (5, "a", (Some(8.0), None, 3), vec![4, 5], 5),
        (6, "a", (Some(8.0), Some(0.5), 1), vec![4, 6], 6),
        (7, "a", (Some(8.0), Some(0.5), 2), vec![4, 7], 7),
        (8, "a", (Some(8.0), Some(0.5), 2), vec![4, 8], 8),
        (9, "a", (Some(7.9), Some(1.0), 9), vec![4, 8], 8),
        (10, "a", (Some(9.9), Some(1.0), 0), vec![4, 8], 8),
    ] {
        store.save_testgen_run(&measured(number, at, of), &[]).unwrap();
        let mut found: Vec<_> = store.recent_testgen_runs(20, None).unwrap();
        found.retain(|run| run.is_best);
        found.reverse();
        let found: Vec<_> = found.into_iter().map(|run| run.run_id).collect();
        assert_eq!(found, best.into_iter().map(name).collect::<Vec<_>>(), "{number}");
        assert_eq!(store.best_testgen_run(&key).unwrap().unwrap().run_id, name(stands), "{number}");
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
    let begun = EvolutionRound::begun(1, "m".into(), TestGenConfigChange::keep(""), named(first));
    let round = EvolutionRound { to: Some(named(other)), accepted: true, ..begun };
    store.add_testgen_evolution(round.clone()).unwrap();
    store.add_testgen_evolution(EvolutionRound { accepted: false, ..round }).unwrap();
    let stats = store.testgen_stats().unwrap();
    assert_eq!((stats.evolutions, stats.accepted_changes), (2, 1));
}
