//! Configurations, the best ones, and rounds of evolution.

use super::*;

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
fn where_nobody_has_chosen_a_configuration_the_defaults_become_current_once() {
    let (_dir, mut store) = fresh();
    assert_eq!(store.current_testgen_config().unwrap(), None);
    let row = store.testgen_config_in_use().unwrap();
    assert_eq!((&row.config, row.is_current), (&TestGenConfig::default(), true));
    assert_eq!(store.testgen_config_in_use().unwrap(), row);
    let other = store.save_testgen_config(&config("1.0.1")).unwrap();
    assert_eq!(store.testgen_config_in_use().unwrap(), row, "what is only kept is not used");
    store.set_current_testgen_config(other).unwrap();
    assert_eq!(store.testgen_config_in_use().unwrap().id, other);
    assert_eq!(count(&store, "testgen_configs"), 2);
}

#[test]
fn the_best_configuration_gives_way_only_to_a_strictly_better_mean() {
    let (_dir, mut store, first, other) = with_configs();
    let best = |store: &Store| {
        let best = store.testgen_best(PURE, &TestGenContext::Benchmark).unwrap()?;
        Some((best.config, best.run, best.score, best.pass_count, best.total_runs))
    };
    let mut number = 0;
    let mut save = |store: &mut Store, config, score, comprehensiveness| {
        number += 1;
        let analysis = TestGenAnalysis { comprehensiveness, ..TestGenAnalysis::default() };
        store.save_testgen_run(&TestGenRun { analysis, ..run(number, "a", config, score) }, &[]).unwrap();
        store.update_testgen_best(PURE, &TestGenContext::Benchmark).unwrap()
    };
    assert!(
        !store.update_testgen_best(PURE, &TestGenContext::Benchmark).unwrap(),
        "no run, nothing to be best by"
    );
    assert!(!save(&mut store, other, None, None), "a run without a score is none");
    assert_eq!(best(&store), None);
    assert!(save(&mut store, other, Some(400), Some(6.9)));
    assert!(!save(&mut store, other, Some(600), Some(7.0)));
    assert_eq!(best(&store), Some((other, name(3), 500.0, 1, 3)));
    assert!(!save(&mut store, first, Some(500), Some(9.0)), "the same mean does not replace it");
    assert_eq!(best(&store).unwrap().0, other);
    assert!(save(&mut store, first, Some(501), None));
    assert_eq!(best(&store), Some((first, name(5), 500.5, 1, 2)));
    assert!(!save(&mut store, first, Some(502), None));
    assert_eq!(best(&store), Some((first, name(6), 501.0, 1, 3)), "its own numbers are told as they are now");
}

#[test]
fn the_best_configuration_is_the_best_of_all_that_ran() {
    let (_dir, mut store, first, other) = with_configs();
    let third = store.save_testgen_config(&config("1.0.2")).unwrap();
    let best = |store: &Store| {
        store.testgen_best(PURE, &TestGenContext::Benchmark).unwrap().map(|best| (best.config, best.score))
    };
    for (number, config, score) in [(1, first, 900), (2, other, 700), (3, third, 800)] {
        store.save_testgen_run(&run(number, "a", config, Some(score)), &[]).unwrap();
    }
    assert!(store.update_testgen_best(PURE, &TestGenContext::Benchmark).unwrap());
    assert_eq!(best(&store), Some((first, 900.0)));
    // The last run uses the second configuration, and the first one falls behind; the third is better than
    // both.
    store.save_testgen_run(&run(4, "a", first, Some(300)), &[]).unwrap();
    store.save_testgen_run(&run(5, "a", other, Some(720)), &[]).unwrap();
    assert!(store.update_testgen_best(PURE, &TestGenContext::Benchmark).unwrap());
    assert_eq!(best(&store), Some((third, 800.0)));
}

#[test]
fn each_kind_of_function_has_a_best_configuration_of_its_own() {
    let (_dir, mut store, first, other) = with_configs();
    for (number, kind, config, score) in [
        (1, Some(PURE), first, 900),
        (2, Some(TEXT), first, 100),
        (3, Some(TEXT), other, 300),
        (4, None, other, 300),
    ] {
        let run = TestGenRun { task_type: kind.map(Into::into), ..run(number, "a", config, Some(score)) };
        store.save_testgen_run(&run, &[]).unwrap();
    }
    let best = |store: &Store, kind| {
        let best = store.testgen_best(kind, &TestGenContext::Benchmark).unwrap()?;
        Some((best.config, best.score, best.is_override))
    };
    for kind in [PURE, TEXT] {
        assert!(store.update_testgen_best(kind, &TestGenContext::Benchmark).unwrap(), "{kind}");
    }
    assert_eq!(best(&store, TEXT), Some((other, 300.0, false)), "over nothing there is no override");
    assert!(store.update_testgen_best(GLOBAL, &TestGenContext::Benchmark).unwrap());
    assert_eq!(best(&store, GLOBAL), Some((first, 500.0, false)));
    assert_eq!(best(&store, TEXT), Some((other, 300.0, true)));
    assert_eq!(best(&store, PURE), Some((first, 900.0, false)));
    let callbacks = "callback registration";
    assert!(!store.update_testgen_best(callbacks, &TestGenContext::Benchmark).unwrap());
    assert_eq!(best(&store, callbacks), None);
}

#[test]
fn a_run_uses_the_best_configuration_of_its_kind_and_context() {
    let (_dir, mut store, first, other) = with_configs();
    let (benchmark, mecha) = (TestGenContext::Benchmark, TestGenContext::MechaCoder);
    let used = |store: &mut Store, kind, context| store.testgen_config_for(kind, context).unwrap().id;
    store.set_current_testgen_config(other).unwrap();
    let save = |store: &mut Store, number, config, context: &TestGenContext, score| {
        let run = run(number, "a", config, Some(score));
        let run = TestGenRun { task_type: Some(PURE.into()), context: context.clone(), ..run };
        store.save_testgen_run(&run, &[]).unwrap();
        for kind in [PURE, GLOBAL] {
            store.update_testgen_best(kind, context).unwrap();
        }
    };
    save(&mut store, 1, first, &benchmark, 900);
    assert_eq!(used(&mut store, Some(PURE), &benchmark), other, "the current one has no score yet");
    save(&mut store, 2, other, &benchmark, 500);
    // A run in another context does not count here.
    save(&mut store, 3, other, &mecha, 950);
    assert_eq!(used(&mut store, Some(PURE), &benchmark), first);
    assert_eq!(used(&mut store, Some(TEXT), &benchmark), first, "of all kinds");
    assert_eq!(used(&mut store, Some(PURE), &mecha), other);
    let all = store.testgen_bests().unwrap();
    assert_eq!(all.iter().map(|best| best.score).collect::<Vec<_>>(), [900.0, 900.0, 950.0, 950.0]);
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
    let pair = ScorePair { symbol: SymbolName::new("f"), incumbent: Some(500), candidate: None };
    let rejected = EvolutionRound {
        to: Some(named(other)),
        mean_gain: Some(-3.5),
        lower_bound: Some(-7.25),
        scores: vec![pair.clone()],
        quality_delta: Some(0.5),
        reason: "not above zero".into(),
        ..EvolutionRound::begun(1, "m".into(), change.clone(), named(first))
    };
    let current = |store: &Store| store.current_testgen_config().unwrap().unwrap().id;
    store.add_testgen_evolution(rejected.clone()).unwrap();
    assert_eq!(current(&store), first);
    let kept = EvolutionRound {
        reason: "not above zero".into(),
        ..EvolutionRound::begun(2, "m".into(), keep.clone(), named(first))
    };
    store.add_testgen_evolution(kept).unwrap();
    let accepted = EvolutionRound { accepted: true, ..rejected.clone() };
    assert_eq!(store.add_testgen_evolution(accepted.clone()).unwrap(), accepted);
    assert_eq!(current(&store), other);
    let rows = store.testgen_evolution().unwrap();
    assert_eq!(rows.iter().map(|row| row.accepted).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((&rows[0].change, rows[0].from, rows[0].to), (&change, first, Some(other)));
    assert_eq!((rows[0].actual_improvement, rows[0].quality_delta), (Some(-3.5), Some(0.5)));
    assert_eq!((&rows[0].scores, rows[0].lower_bound), (&Some(vec![pair]), Some(-7.25)));
    assert_eq!((&rows[1].scores, rows[1].lower_bound), (&None, None));
    assert_eq!((&rows[1].change, rows[1].to, rows[1].actual_improvement), (&keep, None, None));
    assert_eq!(rows[1].reason, "not above zero");
    for wrong in [
        EvolutionRound { from: named(ConfigId(99)), ..rejected.clone() },
        EvolutionRound { to: Some(named(ConfigId(99))), accepted: true, ..rejected.clone() },
        EvolutionRound { to: None, accepted: true, ..rejected },
    ] {
        assert_eq!(store.add_testgen_evolution(wrong).unwrap_err().kind(), ErrorKind::Store);
    }
    assert_eq!((store.testgen_evolution().unwrap().len(), current(&store)), (3, other));
    // The candidate is already current; then a third one is.
    assert!(store.add_testgen_evolution(accepted.clone()).unwrap().accepted);
    let third = store.save_testgen_config(&config("3.0.0")).unwrap();
    store.set_current_testgen_config(third).unwrap();
    let told = store.add_testgen_evolution(accepted).unwrap();
    assert_eq!((told.accepted, current(&store)), (false, third));
    let rows = store.testgen_evolution().unwrap();
    assert_eq!((rows[4].accepted, &rows[4].reason, rows[4].to), (false, &told.reason, Some(other)));
    assert!(told.reason.contains("(3.0.0) became the current one meanwhile"), "{}", told.reason);
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
