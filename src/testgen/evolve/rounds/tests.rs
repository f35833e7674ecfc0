use super::super::fixture::{Bench, Heard, run};
use super::*;
use crate::symbol::SymbolKey;
use crate::test_record::{RunId, TestGenAnalysis, TestGenContext};

const BETTER: &str = r#"{"type": "update_weights", "changes": {"precision_weight": 0.7}, "reasoning": "edges", "expected_improvement": 12}"#;
const FAR: &str = r#"{"type": "update_weights", "changes": {"precision_weight": 0.9}, "reasoning": "more"}"#;
const KEEP: &str = r#"{"type": "keep", "reasoning": "it is good"}"#;

/// Gives scores by configuration and symbol, and records the questions.
struct Scripted {
    score: fn(&TestGenConfig, &str) -> Option<u32>,
    asked: Vec<String>,
}

impl Scripted {
    fn new(score: fn(&TestGenConfig, &str) -> Option<u32>) -> Self {
        Self { score, asked: Vec::new() }
    }

    fn run(
        &mut self,
        resources: &mut Resources,
        config: &TestGenConfig,
        id: ConfigId,
        symbol: &SymbolName,
    ) -> Result<TestGenRun> {
        self.asked.push(format!("{} {symbol}", config.version));
        let score = (self.score)(config, symbol.as_str());
        let number = resources.store.recent_testgen_runs(100, None)?.len() as u32 + 1;
        let mut made = run(number, symbol.as_str(), score);
        made.config = id;
        made.symbol = SymbolKey(format!("c:@F@{symbol}"));
        made.task_type = Some(if symbol.as_str() == "f" { KINDS[0] } else { KINDS[1] }.into());
        made.analysis = TestGenAnalysis {
            comprehensiveness: score.map(|score| f64::from(score) / 100.0),
            ..made.analysis
        };
        resources.store.save_testgen_run(&made, &[])?;
        Ok(made)
    }
}

fn evolved(bench: &mut Bench, rounds: u32, script: &mut Scripted) -> Result<Vec<EvolutionRound>> {
    evolved_by(bench, rounds, script, &|_, _| Ok(()))
}

fn evolved_by(
    bench: &mut Bench,
    rounds: u32,
    script: &mut Scripted,
    choose: &Chooser,
) -> Result<Vec<EvolutionRound>> {
    let (templates, interrupt) = (Templates::load(None).unwrap(), Interrupt::none());
    let functions = bench.functions.clone();
    let functions: Vec<&Function> = functions.iter().collect();
    let request = Request {
        functions: &functions,
        rounds,
        profiles: &[],
        choose,
        templates: &templates,
        interrupt: &interrupt,
    };
    let runner =
        &mut |resources: &mut Resources, config: &TestGenConfig, id: ConfigId, symbol: &SymbolName| {
            script.run(resources, config, id, symbol)
        };
    Ok(evolve(&mut bench.resources(), &request, runner)?.rounds)
}

/// The task types of `f` and of `g`, as contracts name them.
const KINDS: [&str; 2] = ["pure function", "buffer transform"];

/// A larger weight gives a better score, and `g` scores less than `f`.
fn by_weight(config: &TestGenConfig, symbol: &str) -> Option<u32> {
    let base = if symbol == "f" { 500.0 } else { 300.0 };
    Some((base + config.precision_weight * 100.0).round() as u32)
}

fn against_weight(config: &TestGenConfig, symbol: &str) -> Option<u32> {
    Some(if symbol == "f" { 900 } else { 800 } - by_weight(config, symbol)?)
}

fn current(store: &Store) -> Option<String> {
    store.current_testgen_config().unwrap().map(|row| row.config.version)
}

fn best(store: &Store, kind: &str) -> String {
    let best = store.testgen_best(kind, &TestGenContext::Benchmark).unwrap().unwrap();
    store.testgen_config(best.config).unwrap().unwrap().config.version
}

#[test]
fn what_wins_becomes_current_and_is_where_the_next_round_begins() {
    let further = BETTER.replace("0.7", "0.8");
    let mut bench = Bench::new(&[Some(BETTER), Some(&further)]);
    let mut script = Scripted::new(by_weight);
    let rounds = evolved(&mut bench, 2, &mut script).unwrap();
    assert_eq!(
        script.asked,
        ["1.0.0 f", "1.0.1 f", "1.0.0 g", "1.0.1 g", "1.0.2 f", "1.0.2 g"],
        "scores are reused"
    );
    let [first, second] = &rounds[..] else { panic!("{rounds:?}") };
    assert!(first.accepted && second.accepted && first.violation.is_none());
    assert_eq!((first.mean_gain, first.lower_bound), (Some(10.0), Some(10.0)));
    assert!((first.quality_delta.unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(
        (first.from.version.as_str(), first.to.as_ref().unwrap().version.as_str()),
        ("1.0.0", "1.0.1")
    );
    assert_eq!(Some(&second.from), first.to.as_ref());
    let pair = |symbol: &str, incumbent, candidate| ScorePair {
        symbol: SymbolName::new(symbol),
        incumbent: Some(incumbent),
        candidate: Some(candidate),
    };
    assert_eq!(first.scores, [pair("f", 560, 570), pair("g", 360, 370)]);
    assert_eq!(current(&bench.store).as_deref(), Some("1.0.2"));
    for kind in [KINDS[0], KINDS[1], GLOBAL] {
        assert_eq!(best(&bench.store, kind), "1.0.2", "{kind}");
    }
    let rows = bench.store.testgen_evolution().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].change.expected_improvement, Some(12.0));
    assert_eq!((rows[0].actual_improvement, rows[0].accepted), (Some(10.0), true));
    assert_eq!((&rows[0].scores, rows[0].lower_bound), (&Some(first.scores.clone()), first.lower_bound));
    assert_eq!(rows[0].lower_bound, Some(10.0), "both gains are 10");
    assert_eq!((rows[1].from, rows[1].to), (rows[0].to.unwrap(), Some(second.to.as_ref().unwrap().id)));
}

#[test]
fn who_is_asked_follows_the_configuration_that_is_current() {
    let further = BETTER.replace("0.7", "0.8");
    let mut bench = Bench::new(&[Some(BETTER), Some(&further), Some(KEEP)]);
    let chosen = std::cell::RefCell::new(Vec::new());
    let choose = |_: &mut ModelSession, config: &TestGenConfig| {
        chosen.borrow_mut().push(config.version.clone());
        Ok(())
    };
    evolved_by(&mut bench, 3, &mut Scripted::new(by_weight), &choose).unwrap();
    assert_eq!(*chosen.borrow(), ["1.0.1", "1.0.2"]);
    chosen.borrow_mut().clear();
    let mut bench = Bench::new(&[Some(BETTER), Some(KEEP)]);
    evolved_by(&mut bench, 2, &mut Scripted::new(against_weight), &choose).unwrap();
    assert_eq!(*chosen.borrow(), [""; 0], "it is the same all the time");
}

#[test]
fn what_a_person_made_current_meanwhile_stays_and_is_where_the_next_round_begins() {
    let mut bench = Bench::new(&[Some(BETTER), Some(KEEP)]);
    let own = TestGenConfig { version: "2.0.0".into(), ..TestGenConfig::default() };
    let own = bench.store.save_testgen_config(&own).unwrap();
    let (templates, interrupt) = (Templates::load(None).unwrap(), Interrupt::none());
    let functions = bench.functions.clone();
    let functions: Vec<&Function> = functions.iter().collect();
    let request = Request {
        functions: &functions,
        rounds: 2,
        profiles: &[],
        choose: &|_, _| Ok(()),
        templates: &templates,
        interrupt: &interrupt,
    };
    let mut script = Scripted::new(by_weight);
    let runner =
        &mut |resources: &mut Resources, config: &TestGenConfig, id: ConfigId, symbol: &SymbolName| {
            resources.store.set_current_testgen_config(own)?;
            script.run(resources, config, id, symbol)
        };
    let rounds = evolve(&mut bench.resources(), &request, runner).unwrap().rounds;
    assert_eq!((rounds[0].accepted, rounds[0].mean_gain), (false, Some(10.0)));
    assert!(rounds[0].reason.contains("2.0.0") && rounds[0].reason.contains("meanwhile"), "{rounds:?}");
    assert_eq!(rounds[1].from.id, own);
    assert_eq!(current(&bench.store).as_deref(), Some("2.0.0"));
    let rows = bench.store.testgen_evolution().unwrap();
    assert_eq!((rows[0].accepted, &rows[0].reason), (false, &rounds[0].reason));
    let told = bench.heard.0.iter().find_map(|event| match event {
        Event::Evolved { round, .. } => Some(round.accepted),
        _ => None,
    });
    assert_eq!(told, Some(false));
}

#[test]
fn what_loses_is_reverted_and_a_repeated_proposal_costs_no_run() {
    let mut bench = Bench::new(&[Some(BETTER), Some(BETTER)]);
    let mut script = Scripted::new(against_weight);
    let rounds = evolved(&mut bench, 2, &mut script).unwrap();
    assert_eq!(script.asked.len(), 4, "{:?}", script.asked);
    for round in &rounds {
        assert!(!round.accepted && round.violation.is_none(), "{round:?}");
        assert_eq!(round.mean_gain, Some(-10.0));
        assert!(round.reason.contains("not above zero"), "{}", round.reason);
    }
    assert_eq!(current(&bench.store).as_deref(), Some("1.0.0"), "the defaults became it");
    assert_eq!(best(&bench.store, GLOBAL), "1.0.0");
    let rows = bench.store.testgen_evolution().unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.actual_improvement, row.accepted)).collect::<Vec<_>>(),
        [(Some(-10.0), false); 2]
    );
    let first = bench.store.testgen_run(&RunId::new(jiff::Timestamp::UNIX_EPOCH, 1)).unwrap().unwrap();
    assert_eq!(first.change_accepted, Some(false));
    assert_eq!(first.meta_model, Some(rounds[0].model.clone()));
}

#[test]
fn what_is_the_same_replaces_nothing() {
    let mut bench = Bench::new(&[Some(BETTER)]);
    let chosen = TestGenConfig::default();
    let id = bench.store.save_testgen_config(&chosen).unwrap();
    bench.store.set_current_testgen_config(id).unwrap();
    let rounds = evolved(&mut bench, 1, &mut Scripted::new(|_, _| Some(500))).unwrap();
    assert_eq!((rounds[0].accepted, rounds[0].mean_gain), (false, Some(0.0)));
    assert_eq!(current(&bench.store).as_deref(), Some("1.0.0"));
    for kind in [KINDS[0], KINDS[1], GLOBAL] {
        assert_eq!(best(&bench.store, kind), "1.0.0", "{kind}");
    }
}

#[test]
fn a_null_score_is_never_accepted() {
    let scores: [fn(&TestGenConfig, &str) -> Option<u32>; 2] = [
        |config, symbol| by_weight(config, symbol).filter(|_| symbol == "f" || config.version == "1.0.0"),
        |config, symbol| by_weight(config, symbol).filter(|_| symbol == "f" || config.version == "1.0.1"),
    ];
    for score in scores {
        let mut bench = Bench::new(&[Some(BETTER)]);
        let rounds = evolved(&mut bench, 1, &mut Scripted::new(score)).unwrap();
        assert_eq!((rounds[0].accepted, rounds[0].mean_gain, rounds[0].quality_delta), (false, None, None));
        assert_eq!(rounds[0].reason, "1 of 2 pairs lack a score");
        let rows = bench.store.testgen_evolution().unwrap();
        assert_eq!((rows.len(), rows[0].actual_improvement), (1, None));
        assert!(rows[0].to.is_some());
    }
}

#[test]
fn what_is_not_tried_costs_no_runs_and_has_its_row() {
    let mut bench = Bench::new(&[Some(FAR), Some(KEEP), Some("Leave it."), None]);
    let mut script = Scripted::new(by_weight);
    // The model does not answer in the fourth of five rounds, so there is no fifth.
    let rounds = evolved(&mut bench, 5, &mut script).unwrap();
    assert_eq!(script.asked, [""; 0]);
    let reasons = [
        "the change was rejected: precision_weight goes from 0.6 to 0.9, by more than 0.1",
        "it is good",
        "the reply could not be used: it has no JSON object",
        "the model did not answer: no answer was recorded",
    ];
    let rows = bench.store.testgen_evolution().unwrap();
    assert_eq!((rounds.len(), rows.len()), (4, 4));
    for ((round, row), reason) in rounds.iter().zip(&rows).zip(reasons) {
        assert_eq!((round.reason.as_str(), row.reason.as_str()), (reason, reason));
        assert_eq!((round.accepted, row.accepted, &round.to, row.to), (false, false, &None, None));
        assert_eq!(row.change, round.change);
    }
    assert_eq!(
        rounds.iter().map(|round| round.violation.is_some()).collect::<Vec<_>>(),
        [true, false, false, false]
    );
    let told = bench.heard.0.iter().filter(|event| matches!(event, Event::Evolved { rounds: 5, .. }));
    assert_eq!(told.count(), 4);
}

#[test]
fn a_round_that_is_broken_off_has_its_row_and_changes_nothing() {
    let mut bench = Bench::new(&[Some(BETTER)]);
    let (templates, interrupt) = (Templates::load(None).unwrap(), Interrupt::none());
    let functions = bench.functions.clone();
    let functions: Vec<&Function> = functions.iter().collect();
    let request = Request {
        functions: &functions,
        rounds: 3,
        profiles: &[],
        choose: &|_, _| Ok(()),
        templates: &templates,
        interrupt: &interrupt,
    };
    let mut script = Scripted::new(by_weight);
    let runner = &mut |resources: &mut Resources,
                       config: &TestGenConfig,
                       id: ConfigId,
                       symbol: &SymbolName| match symbol.as_str() {
        "g" => Err(Error::new(ErrorKind::Build, "no compiler")),
        _ => script.run(resources, config, id, symbol),
    };
    let error = evolve(&mut bench.resources(), &request, runner).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Build, "no compiler"));
    let rows = bench.store.testgen_evolution().unwrap();
    assert_eq!((rows.len(), rows[0].accepted), (1, false));
    assert_eq!(rows[0].reason, "the round was broken off: no compiler");
    assert_eq!(current(&bench.store).as_deref(), Some("1.0.0"));
    assert_eq!(
        bench.store.testgen_best(GLOBAL, &TestGenContext::Benchmark).unwrap(),
        None,
        "half a comparison is none"
    );
}

#[test]
fn nothing_is_asked_without_symbols_or_after_ctrl_c() {
    let mut bench = Bench::new(&[Some(KEEP)]);
    let (templates, interrupt) = (Templates::load(None).unwrap(), Interrupt::none());
    let (function, other) = (bench.functions[0].clone(), bench.functions[1].clone());
    let runner = &mut |_: &mut Resources, _: &TestGenConfig, _: ConfigId, _: &SymbolName| unreachable!();
    let mut request = Request {
        functions: &[],
        rounds: 1,
        profiles: &[],
        choose: &|_, _| unreachable!(),
        templates: &templates,
        interrupt: &interrupt,
    };
    let (one, twice) = ([&function], [&function, &function]);
    for few in [&[][..], &one, &twice] {
        request.functions = few;
        let error = evolve(&mut bench.resources(), &request, runner).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{}", few.len());
        assert!(error.to_string().contains("at least two functions"), "{error}");
        assert!(error.help_text().is_some_and(|help| help.contains("testgen evolve --symbols")), "{error:?}");
    }
    interrupt.set();
    let functions = [&function, &other];
    request.functions = &functions;
    assert_eq!(evolve(&mut bench.resources(), &request, runner).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(bench.store.testgen_evolution().unwrap(), []);
    let Heard(told) = &bench.heard;
    assert!(told.is_empty());
}

#[test]
fn a_round_is_written_as_json() {
    let mut bench = Bench::new(&[Some(BETTER)]);
    let rounds = evolved(&mut bench, 1, &mut Scripted::new(by_weight)).unwrap();
    let value = serde_json::to_value(&rounds[0]).unwrap();
    assert_eq!(
        (&value["round"], &value["accepted"], &value["mean_gain"]),
        (&1.into(), &true.into(), &10.0.into())
    );
    assert_eq!(value["change"]["type"], "update_weights");
    assert_eq!(value["scores"][0]["symbol"], "f");
    assert_eq!(value["to"]["version"], "1.0.1");
}
