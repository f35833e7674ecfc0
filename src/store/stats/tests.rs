//! Two runs on three symbols: one was accepted after a repair, one was given up, one had a failing model; and
//! rows from before phases were stored.

use super::*;
use crate::store::StepId;

fn key(name: &str) -> SymbolKey {
    SymbolKey(format!("c:@F@{name}"))
}

/// The model of a role.
fn model(role: &str) -> String {
    if role == "enhancer" { "strong" } else { "cheap" }.to_owned()
}

fn call(run: i64, symbol: &str, role: &str, phase: Option<&str>, tokens: u64) -> PaidCall {
    let call = ModelCall {
        symbol: Some(key(symbol)),
        role: role.into(),
        model: model(role),
        phase: phase.map(str::to_owned),
        input_tokens: tokens,
        output_tokens: 10,
        cost: Some(0.25),
        latency_ms: tokens,
        retries: Some(u32::from(role == "enhancer")),
        stop_reason: Some("end".into()),
        ..ModelCall::default()
    };
    PaidCall { run: RunId(run), call }
}

fn attempt(run: i64, symbol: &str, role: &str, outcome: &str) -> Attempt {
    Attempt {
        maker: (run > 1).then(|| if role == "c2rust" { role.to_owned() } else { model(role) }),
        run: RunId(run),
        symbol: key(symbol),
        role: role.into(),
        outcome: outcome.into(),
        millis: 1_000,
    }
}

fn step(run: i64, symbol: &str, phase: &str, millis: Option<u64>) -> StepRow {
    StepRow {
        id: StepId(0),
        run: RunId(run),
        symbol: key(symbol),
        number: 1,
        phase: phase.into(),
        step: "build".into(),
        why: String::new(),
        outcome: None,
        detail: String::new(),
        millis,
        created: "2026-01-01T00:00:00Z".parse().unwrap(),
    }
}

pub fn records() -> Records {
    let (compilation, optimization) = (Some("compilation"), Some("optimization"));
    let mut failed = call(3, "c", "prototyper", compilation, 0);
    failed.call = ModelCall {
        error: Some("HTTP 500".into()),
        provider: "command".into(),
        model: "command/cheap".into(),
        cost: None,
        latency_ms: 7,
        output_tokens: 0,
        ..failed.call
    };
    Records {
        calls: vec![
            call(1, "a", "prototyper", None, 900),
            call(2, "a", "prototyper", compilation, 100),
            call(2, "a", "enhancer", optimization, 300),
            call(2, "b", "prototyper", compilation, 200),
            failed,
        ],
        attempts: vec![
            attempt(1, "a", "prototyper", "refuted"),
            attempt(2, "a", "c2rust", "rejected-by-audit"),
            attempt(2, "a", "prototyper", "refuted"),
            attempt(2, "a", "enhancer", "accepted"),
            attempt(2, "b", "prototyper", "does-not-compile"),
            attempt(2, "b", "enhancer", "budget"),
        ],
        steps: vec![
            step(2, "a", "compilation", Some(5)),
            step(2, "a", "optimization", Some(6)),
            step(2, "b", "compilation", Some(7)),
            step(3, "c", "compilation", None),
        ],
        workflows: BTreeMap::from([
            (RunId(1), "unified".into()),
            (RunId(2), "unified".into()),
            (RunId(3), "three-step".into()),
        ]),
        interrupted: BTreeSet::new(),
        names: ["a", "b", "c"].into_iter().map(|name| (key(name), SymbolName::new(name))).collect(),
    }
}

fn passes(groups: &[Group]) -> Vec<(Option<&str>, u64, u64)> {
    groups.iter().map(|g| (g.name.as_deref(), g.passes.passed, g.passes.attempted)).collect()
}

#[test]
fn who_passes_is_counted_by_what_a_group_is_about() {
    let stats = Stats::of(&records());
    assert_eq!(passes(&stats.symbols), [(Some("a"), 1, 2), (Some("b"), 0, 1), (Some("c"), 0, 1)]);
    assert_eq!(
        passes(&stats.roles),
        [(Some("c2rust"), 0, 1), (Some("enhancer"), 1, 1), (Some("prototyper"), 0, 3)]
    );
    // For rows from before makers were stored, the author of an attempt is unknown.
    assert_eq!(
        passes(&stats.makers),
        [(None, 0, 1), (Some("c2rust"), 0, 1), (Some("cheap"), 0, 2), (Some("strong"), 1, 1)]
    );
    assert_eq!(
        passes(&stats.phases),
        [(Some("compilation"), 1, 3), (Some("optimization"), 1, 1), (None, 0, 1)]
    );
    assert_eq!(passes(&stats.workflows), [(Some("three-step"), 0, 1), (Some("unified"), 1, 3)]);
    assert_eq!((stats.total.passes.passed, stats.total.passes.attempted), (1, 4));
}

#[test]
fn every_call_is_in_one_group_of_each_kind() {
    let stats = Stats::of(&records());
    for groups in [&stats.symbols, &stats.roles, &stats.makers, &stats.phases, &stats.workflows] {
        let sum = |count: fn(&Totals) -> u64| groups.iter().map(|g| count(&g.spent)).sum::<u64>();
        assert_eq!(sum(|t| t.calls), 5);
        assert_eq!(sum(|t| t.input_tokens), 1_500);
        assert_eq!(sum(|t| t.failed), 1);
        assert_eq!(sum(|t| t.latency_ms), 1_507);
    }
    let total = &stats.total.spent;
    assert_eq!((total.calls, total.tokens(), total.cost, total.unpriced), (5, 1_540, Some(1.0), 1));
    // 100, 200, 300 and 900; the failed call does not count as an answer.
    assert_eq!(total.median_ms, Some(250));
    assert_eq!(stats.symbols[2].spent.cost, None, "unknown is not 0");
}

#[test]
fn what_tests_cost_is_counted_and_is_no_port_that_failed() {
    let mut records = records();
    records.calls.extend([call(4, "b", "testgen", None, 50), call(4, "d", "testgen-reflect", None, 60)]);
    let (before, stats) = (Stats::of(&super::tests::records()), Stats::of(&records));
    assert_eq!(stats.total.spent.calls, before.total.spent.calls + 2);
    assert_eq!(stats.total.passes, before.total.passes);
    assert_eq!((stats.trial, stats.first_prompt), (before.trial, before.first_prompt));
    assert_eq!(stats.phases, before.phases);
    let of = |name: &str| stats.symbols.iter().find(|group| group.name.as_deref() == Some(name)).unwrap();
    assert_eq!((of("b").spent.input_tokens, of("b").passes.attempted), (250, 1));
    let d = of(&key("d").0);
    assert_eq!((d.spent.input_tokens, d.passes, d.per_symbol()), (60, Passes::default(), None));
}

#[test]
fn time_comes_from_steps_and_from_attempts_where_there_are_none() {
    let stats = Stats::of(&records());
    let millis: Vec<_> = stats.symbols.iter().map(|g| g.millis).collect();
    assert_eq!(millis, [Some(1_011), Some(7), Some(0)]);
    assert_eq!(stats.total.millis, Some(1_018));
}

#[test]
fn medians_are_over_trials_and_over_the_last_trial_of_each_symbol() {
    let mut records = records();
    let stats = Stats::of(&records);
    // 910, 420 and 210; 100 and 200.
    assert_eq!(stats.trial, Some(Middle { tokens: 420, over: 3, estimated: false }));
    assert_eq!(stats.first_prompt, Some(Middle { tokens: 150, over: 2, estimated: false }));
    records.calls[3].call.estimated = true;
    assert!(Stats::of(&records).first_prompt.unwrap().estimated);
}

#[test]
fn means_are_over_trials_and_a_cost_needs_every_price() {
    let stats = Stats::of(&records());
    let of = |group: &Group| group.per_symbol().unwrap();
    let a = of(&stats.symbols[0]);
    assert_eq!((a.calls, a.tokens, a.millis, a.cost), (1.5, 665.0, Some(505.5), Some(0.375)));
    let unified = of(&stats.workflows[1]);
    assert_eq!((unified.calls, unified.cost), (4.0 / 3.0, Some(1.0 / 3.0)));
    assert_eq!(of(&stats.total).cost, None, "the price of one call is unknown");
}

#[test]
fn nothing_gives_nothing() {
    let stats = Stats::of(&Records::default());
    assert!(stats.symbols.is_empty() && stats.roles.is_empty() && stats.phases.is_empty());
    assert_eq!((stats.trial, stats.first_prompt), (None, None));
    assert_eq!((stats.total.spent.calls, stats.total.passes.rate()), (0, None));
}

/// Run 4, which Ctrl-C ended: `a` was in optimization, `b` had not yet run a candidate, `c` had been given
/// up.
fn interrupted() -> Records {
    let ended = |symbol: &str, phase: &str, number: u32, outcome: Option<&str>| StepRow {
        number,
        outcome: outcome.map(str::to_owned),
        ..step(4, symbol, phase, Some(1))
    };
    let mut records = records();
    records.interrupted.insert(RunId(4));
    records.workflows.insert(RunId(4), "three-step".into());
    records.steps.extend([
        ended("a", "compilation", 1, Some("built")),
        ended("a", "optimization", 2, Some("interrupted")),
        ended("b", "compilation", 1, Some("interrupted")),
        ended("c", "compilation", 1, Some("gave-up")),
    ]);
    records
}

#[test]
fn what_was_interrupted_has_neither_passed_nor_failed() {
    let cut_off = |groups: &[Group]| groups.iter().map(|g| g.passes.interrupted).collect::<Vec<_>>();
    let stats = Stats::of(&interrupted());
    assert_eq!(passes(&stats.symbols), [(Some("a"), 1, 2), (Some("b"), 0, 1), (Some("c"), 0, 2)]);
    assert_eq!(cut_off(&stats.symbols), [1, 1, 0]);
    assert_eq!(passes(&stats.workflows), [(Some("three-step"), 0, 2), (Some("unified"), 1, 3)]);
    assert_eq!(cut_off(&stats.workflows), [2, 0]);
    // `a` had passed compilation before.
    assert_eq!(
        passes(&stats.phases),
        [(Some("compilation"), 2, 5), (Some("optimization"), 1, 1), (None, 0, 1)]
    );
    assert_eq!(cut_off(&stats.phases), [1, 1, 0]);
    // The means include its time.
    assert_eq!(stats.workflows[0].per_symbol().unwrap().millis, Some(1.0));
    assert_eq!((stats.total.passes.attempted, stats.total.passes.interrupted), (5, 2));
}

#[test]
fn a_kill_leaves_a_step_without_an_end_and_a_call_without_a_step() {
    let mut records = interrupted();
    records.steps.retain(|step| step.run != RunId(4));
    records.steps.push(step(4, "a", "compilation", None));
    records.calls.push(call(4, "b", "analyst", None, 5));
    let fate = |records: &Records| Stats::of(records).workflows[0].passes;
    assert_eq!(fate(&records), Passes { passed: 0, attempted: 1, interrupted: 2 });
    // In a run that was not interrupted, no trial is interrupted.
    records.interrupted.clear();
    assert_eq!(fate(&records), Passes { passed: 0, attempted: 3, interrupted: 0 });
}
