//! Conspicuous facts about the last runs, in words: missed targets, trends of scores, dropped tests, limits that
//! ended runs.

use super::history::Past;
use crate::test_record::{Proposed, TestGenAnalysis};
use std::collections::BTreeMap;

/// The target of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name in the analysis.
    pub name: &'static str,
    /// From 0 to 1.
    pub least: f64,
    pub of: fn(&TestGenAnalysis) -> Option<f64>,
}

/// The targets of the metrics that a change can improve.
pub const TARGETS: [Target; 5] = [
    Target { name: "category_balance", least: 0.8, of: |of| Some(of.category_balance) },
    Target { name: "anti_cheat_coverage", least: 0.9, of: |of| of.anti_cheat_coverage },
    Target { name: "parameter_discovery", least: 0.8, of: |of| of.parameter_discovery },
    Target { name: "reflection_effectiveness", least: 0.7, of: |of| of.reflection_effectiveness },
    Target { name: "token_efficiency", least: 0.6, of: |of| of.token_efficiency },
];

/// Shares of all proposed tests from which dropped tests, and duplicates, count as many.
const MANY_DROPPED: f64 = 0.25;
const MANY_DUPLICATES: f64 = 0.2;

/// The conspicuous facts about `runs`, oldest first; empty if there are none.
pub fn patterns(runs: &[Past]) -> Vec<String> {
    let mut found: Vec<String> = TARGETS.iter().flat_map(|target| missed(runs, target)).collect();
    found.extend(falls_short(runs));
    found.extend(trends(runs));
    found.extend(thrown_away(runs));
    found.extend(limits(runs));
    found
}

/// The number of runs with this property, in words; `None` if there are none.
fn count(runs: &[Past], is: impl Fn(&Past) -> bool) -> Option<String> {
    let count = runs.iter().filter(|past| is(past)).count();
    (count > 0).then(|| format!("{count} of {} runs", runs.len()))
}

/// Where a metric is below its target, with the mean of those runs, and where it was not measured.
fn missed(runs: &[Past], target: &Target) -> Vec<String> {
    let Target { name, least, of } = target;
    let measured: Vec<f64> = runs.iter().filter_map(|past| of(&past.run.analysis)).collect();
    let below: Vec<f64> = measured.iter().copied().filter(|value| value < least).collect();
    let mean = below.iter().sum::<f64>() / below.len() as f64;
    let told = format!("{name} {mean:.2} is below {least} in {} of {} runs", below.len(), measured.len());
    let without = count(runs, |past| of(&past.run.analysis).is_none());
    let without = without.map(|runs| format!("{name} was not measured in {runs}"));
    (!below.is_empty()).then_some(told).into_iter().chain(without).collect()
}

/// Runs that miss their own configuration's target, or have no score.
fn falls_short(runs: &[Past]) -> Vec<String> {
    let is_short = |past: &Past| {
        past.run.analysis.comprehensiveness.is_some_and(|value| value < past.config.target_comprehensiveness)
    };
    let all = [
        count(runs, is_short).map(|runs| format!("comprehensiveness is below its target in {runs}")),
        count(runs, |past| past.run.of_model().valid == 0)
            .map(|runs| format!("there is no valid test in {runs}")),
        count(runs, |past| past.run.score.is_none()).map(|runs| format!("there is no score in {runs}")),
    ];
    all.into_iter().flatten().collect()
}

/// Scores that rise or fall, for each symbol, because scores of different symbols are not comparable.
fn trends(runs: &[Past]) -> Vec<String> {
    // Static functions of two files may have the same name.
    let mut scores: BTreeMap<&str, (&str, Vec<u32>)> = BTreeMap::new();
    for past in runs {
        let (_, of_symbol) = scores.entry(&past.run.symbol.0).or_insert((&past.name, Vec::new()));
        of_symbol.extend(past.run.score);
    }
    let told = scores.into_values().filter_map(|(name, scores)| {
        let goes = |is: fn(&u32, &u32) -> bool| scores.windows(2).all(|two| is(&two[0], &two[1]));
        let word = match scores.len() {
            0 | 1 => return None,
            _ if goes(|before, after| before > after) => "falls",
            _ if goes(|before, after| before < after) => "rises",
            _ => return None,
        };
        let scores: Vec<String> = scores.iter().map(u32::to_string).collect();
        Some(format!("the score {word} on {name}: {}", scores.join(", ")))
    });
    told.collect()
}

/// Proposed tests that could not be used.
fn thrown_away(runs: &[Past]) -> Vec<String> {
    let sum = |of: fn(&Proposed) -> u64| runs.iter().map(|past| of(&past.run.of_model())).sum::<u64>();
    let all = sum(|of| of.valid + of.dropped + of.duplicates);
    let many = |count: u64, from: f64, what: &str| {
        let share = count as f64 / all as f64;
        (all > 0 && share >= from)
            .then(|| format!("{count} of {all} proposed inputs were {what} ({:.0} %)", share * 100.0))
    };
    let dropped = many(sum(|of| of.dropped), MANY_DROPPED, "dropped");
    let duplicates = many(sum(|of| of.duplicates), MANY_DUPLICATES, "there already");
    dropped.into_iter().chain(duplicates).collect()
}

/// Limits that ended runs, or nearly did.
fn limits(runs: &[Past]) -> Vec<String> {
    let reached = |what: &str, is: fn(&Past) -> bool| {
        count(runs, is).map(|runs| format!("the limit of {what} was reached in {runs}"))
    };
    let all = [
        reached("tokens", |past| past.run.tokens >= past.config.max_total_tokens),
        reached("time", |past| past.run.duration_ms / 1_000 >= past.config.max_total_seconds),
        reached("rounds", |past| past.run.rounds >= past.config.max_total_rounds),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{past, run};
    use super::*;
    use crate::test_record::{TestCategory, TestGenConfig, TestGenRun};

    /// A run without any problem.
    fn good() -> TestGenRun {
        let mut run = run(1, "f", Some(800));
        run.analysis = TestGenAnalysis {
            category_balance: 1.0,
            anti_cheat_coverage: Some(1.0),
            parameter_discovery: Some(0.8),
            reflection_effectiveness: Some(0.7),
            token_efficiency: Some(0.6),
            comprehensiveness: Some(9.0),
            ..TestGenAnalysis::default()
        };
        run.proposed = Proposed { valid: 20, dropped: 2, duplicates: 2 };
        run
    }

    fn found(runs: Vec<TestGenRun>) -> Vec<String> {
        patterns(&runs.into_iter().map(past).collect::<Vec<_>>())
    }

    #[test]
    fn where_all_is_well_nothing_stands_out() {
        assert_eq!(found(vec![]), [""; 0]);
        assert_eq!(found(vec![good(), good()]), [""; 0], "what is at its target is not below it");
    }

    #[test]
    fn each_metric_is_held_against_its_target() {
        type Set = fn(&mut TestGenAnalysis);
        let table: [(Set, &str); 11] = [
            (|of| of.category_balance = 0.79, "category_balance 0.79 is below 0.8 in 1 of 3 runs"),
            (|of| of.anti_cheat_coverage = Some(0.4), "anti_cheat_coverage 0.40 is below 0.9 in 1 of 3 runs"),
            (|of| of.anti_cheat_coverage = None, "anti_cheat_coverage was not measured in 1 of 3 runs"),
            (|of| of.parameter_discovery = Some(0.5), "parameter_discovery 0.50 is below 0.8 in 1 of 3 runs"),
            (|of| of.parameter_discovery = None, "parameter_discovery was not measured in 1 of 3 runs"),
            (
                |of| of.reflection_effectiveness = Some(0.0),
                "reflection_effectiveness 0.00 is below 0.7 in 1 of 3 runs",
            ),
            (
                |of| of.reflection_effectiveness = None,
                "reflection_effectiveness was not measured in 1 of 3 runs",
            ),
            (|of| of.token_efficiency = Some(0.59), "token_efficiency 0.59 is below 0.6 in 1 of 3 runs"),
            (|of| of.token_efficiency = None, "token_efficiency was not measured in 1 of 3 runs"),
            (|of| of.comprehensiveness = Some(8.4), "comprehensiveness is below its target in 1 of 3 runs"),
            (|of| of.comprehensiveness = Some(8.5), ""),
        ];
        for (set, told) in table {
            let mut other = good();
            set(&mut other.analysis);
            let wanted: Vec<&str> = [told].into_iter().filter(|told| !told.is_empty()).collect();
            assert_eq!(found(vec![good(), other, good()]), wanted);
        }
        let low = |share| {
            let mut run = good();
            run.analysis.anti_cheat_coverage = share;
            run
        };
        let runs = vec![low(Some(0.2)), low(Some(0.6)), low(None), low(Some(0.4)), low(Some(0.4))];
        assert_eq!(
            found(runs),
            [
                "anti_cheat_coverage 0.40 is below 0.9 in 4 of 4 runs",
                "anti_cheat_coverage was not measured in 1 of 5 runs"
            ]
        );
    }

    #[test]
    fn scores_are_followed_symbol_by_symbol() {
        let scored = |scores: &[(&str, Option<u32>)]| {
            let of = |(symbol, score): &(&str, Option<u32>)| TestGenRun {
                score: *score,
                symbol: crate::symbol::SymbolKey((*symbol).into()),
                ..good()
            };
            found(scores.iter().map(of).collect())
        };
        for (scores, told) in [
            (
                &[("f", Some(640)), ("f", Some(600)), ("f", Some(510))][..],
                &["the score falls on f: 640, 600, 510"][..],
            ),
            (&[("f", Some(1)), ("f", Some(2))], &["the score rises on f: 1, 2"]),
            (&[("f", Some(1)), ("f", Some(1))], &[]),
            (&[("f", Some(1)), ("f", Some(3)), ("f", Some(2))], &[]),
            (&[("f", Some(9)), ("g", Some(1))], &[]),
            (
                &[("f", Some(9)), ("g", Some(1)), ("f", Some(8)), ("g", Some(2))],
                &["the score falls on f: 9, 8", "the score rises on g: 1, 2"],
            ),
            (
                &[("f", Some(9)), ("f", None), ("f", Some(8))],
                &["there is no score in 1 of 3 runs", "the score falls on f: 9, 8"],
            ),
        ] {
            assert_eq!(scored(scores), told, "{scores:?}");
        }
    }

    #[test]
    fn many_tests_that_are_thrown_away_are_told() {
        for (valid, dropped, duplicates, told) in [
            (20, 0, 0, &[][..]),
            (16, 4, 0, &[]),
            (15, 5, 0, &["5 of 20 proposed inputs were dropped (25 %)"]),
            (17, 0, 3, &[]),
            (16, 0, 4, &["4 of 20 proposed inputs were there already (20 %)"]),
            (0, 0, 0, &["there is no valid test in 1 of 1 runs"]),
        ] {
            let proposed = Proposed { valid, dropped, duplicates };
            assert_eq!(found(vec![TestGenRun { proposed, ..good() }]), told, "{proposed:?}");
        }
        // The tool's own tests say nothing about the model's proposals.
        let mut of_tool = good();
        of_tool.proposed = Proposed { valid: 3, dropped: 1, duplicates: 0 };
        of_tool.analysis.category_distribution = [(TestCategory::Existence, 3)].into();
        let told = ["there is no valid test in 1 of 1 runs", "1 of 1 proposed inputs were dropped (100 %)"];
        assert_eq!(found(vec![of_tool]), told);
    }

    #[test]
    fn limits_are_those_of_each_runs_own_configuration() {
        for (tokens, duration_ms, rounds, told) in [
            (99_999, 179_999, 11, &[][..]),
            (100_000, 0, 0, &["the limit of tokens was reached in 1 of 1 runs"]),
            (0, 180_000, 0, &["the limit of time was reached in 1 of 1 runs"]),
            (0, 0, 12, &["the limit of rounds was reached in 1 of 1 runs"]),
        ] {
            assert_eq!(found(vec![TestGenRun { tokens, duration_ms, rounds, ..good() }]), told);
        }
        let config = TestGenConfig { max_total_tokens: 50, ..TestGenConfig::default() };
        let small = Past { config, ..past(TestGenRun { tokens: 60, ..good() }) };
        let large = past(TestGenRun { tokens: 60, ..good() });
        assert_eq!(patterns(&[small, large]), ["the limit of tokens was reached in 1 of 2 runs"]);
    }
}
