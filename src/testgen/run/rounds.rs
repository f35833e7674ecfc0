//! A pure state machine for the next step of a run: categories in order, each in rounds, a reflection after a round
//! that missed a target, then refinement aimed at the gaps. Rounds, tokens and time are limited.

use crate::test_record::{TestCategory, TestGenAnalysis, TestGenConfig};
use crate::testgen::score::shortfalls;
use std::collections::BTreeMap;

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationState {
    /// The categories to ask for, in order.
    pub order: Vec<TestCategory>,
    /// Index of the current category; refinement follows the last one.
    pub at: usize,
    /// Number of rounds in that category.
    pub round: u32,
    /// Number of rounds in the run.
    pub total_rounds: u32,
    pub refinements: u32,
    /// The last round was reflected on, or there was none.
    pub reflected: bool,
    /// Valid tests.
    pub tests: BTreeMap<TestCategory, usize>,
    pub tokens: u64,
    pub elapsed_ms: u64,
    /// Measured, 0 to 10; `None` before the first round, and where it cannot be measured.
    pub comprehensiveness: Option<f64>,
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Asks for this many tests of a category.
    Ask {
        category: TestCategory,
        wanted: usize,
        round: u32,
    },
    /// Asks what the last rounds have missed.
    Reflect,
    /// Asks for tests aimed at the largest gap.
    Refine {
        wanted: usize,
    },
    Done(Why),
}

/// Why a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// No requested tests are missing, or their rounds are used up.
    Complete,
    Tests,
    Rounds,
    Tokens,
    Time,
}

impl Why {
    /// In words for people, with the name of the knob.
    pub fn words(self) -> &'static str {
        match self {
            Self::Complete => "all categories have their tests, or their rounds are used up",
            Self::Tests => "target_total_tests is reached",
            Self::Rounds => "max_total_rounds is reached",
            Self::Tokens => "max_total_tokens is reached",
            Self::Time => "max_total_seconds is reached",
        }
    }
}

/// The cost of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Done {
    pub tokens: u64,
    pub elapsed_ms: u64,
}

impl IterationState {
    /// The state before the first step.
    pub fn new(order: Vec<TestCategory>) -> Self {
        Self {
            order,
            at: 0,
            round: 0,
            total_rounds: 0,
            refinements: 0,
            reflected: true,
            tests: BTreeMap::new(),
            tokens: 0,
            elapsed_ms: 0,
            comprehensiveness: None,
        }
    }

    fn total(&self) -> usize {
        self.tests.values().sum()
    }

    fn lacks(&self, config: &TestGenConfig, category: TestCategory) -> usize {
        config.wanted(category).saturating_sub(self.tests.get(&category).copied().unwrap_or(0))
    }

    /// The limit that ends the run, if one is reached.
    fn limit(&self, config: &TestGenConfig) -> Option<Why> {
        if self.tokens >= config.max_total_tokens {
            Some(Why::Tokens)
        } else if self.elapsed_ms >= config.max_total_seconds.saturating_mul(1_000) {
            Some(Why::Time)
        } else if self.total_rounds >= config.max_total_rounds {
            Some(Why::Rounds)
        } else if self.has_begun()
            && self.total() >= config.target_total_tests as usize
            && !self.is_poor(config)
        {
            Some(Why::Tests)
        } else {
            None
        }
    }

    /// Whether a question was asked, or none will be: the tool's own tests must not end a run before its first
    /// question.
    fn has_begun(&self) -> bool {
        self.total_rounds > 0 || self.order.is_empty()
    }

    /// Whether the measure is known to be below the minimum.
    fn is_poor(&self, config: &TestGenConfig) -> bool {
        self.comprehensiveness.is_some_and(|reached| reached < config.min_comprehensiveness)
    }

    /// Whether the measure is known to be below the target.
    fn is_short(&self, config: &TestGenConfig) -> bool {
        self.comprehensiveness.is_some_and(|reached| reached < config.target_comprehensiveness)
    }

    /// Whether refinement is needed and allowed.
    fn needs_refinement(&self, config: &TestGenConfig) -> bool {
        config.global_refinement
            && !self.order.is_empty()
            && self.refinements < config.global_refinement_rounds
            && (self.is_short(config) || self.total() < config.min_total_tests as usize)
    }

    /// The current category; categories that have their tests or used up their rounds are skipped.
    fn current(&self, config: &TestGenConfig) -> Option<(usize, TestCategory)> {
        let is_open = |(at, category): &(usize, TestCategory)| {
            let round = if *at == self.at { self.round } else { 0 };
            self.lacks(config, *category) > 0 && round < config.max_rounds_per_category
        };
        (self.at..).zip(self.order.iter().skip(self.at).copied()).find(is_open)
    }
}

/// The next step.
pub fn next(state: &IterationState, config: &TestGenConfig) -> Next {
    if let Some(why) = state.limit(config) {
        return Next::Done(why);
    }
    if let Some((at, category)) = state.current(config) {
        let round = if at == state.at { state.round } else { 0 };
        if round > 0 && !state.reflected {
            return Next::Reflect;
        }
        let room = (config.target_total_tests as usize).saturating_sub(state.total());
        // At the target number of tests, only tests that raise the measure are asked for, one at a time.
        let wanted = state.lacks(config, category).min(room.max(1));
        return Next::Ask { category, wanted, round: round + 1 };
    }
    if !state.needs_refinement(config) {
        return Next::Done(Why::Complete);
    }
    match state.reflected {
        false => Next::Reflect,
        true => Next::Refine { wanted: config.max_tests_per_category as usize },
    }
}

/// The category of a refinement, by the larger shortfall of comprehensiveness: Correctness for mutants, Boundary
/// for branches. Without a shortfall, Integration while mutants of callees survive, else AntiCheat.
pub fn aim(order: &[TestCategory], analysis: &TestGenAnalysis) -> Option<TestCategory> {
    use TestCategory::{AntiCheat, Boundary, Correctness, Integration};
    let (mutants, branches) = shortfalls(analysis);
    let wanted = if mutants.max(branches) <= 0.0 {
        match analysis.callee_kill_rate {
            Some(rate) if rate < 1.0 => [Integration, Correctness],
            _ => [AntiCheat, Correctness],
        }
    } else if mutants >= branches {
        [Correctness, Boundary]
    } else {
        [Boundary, Correctness]
    };
    wanted.into_iter().find(|category| order.contains(category)).or(order.first().copied())
}

/// The state after a step. `tests` are the valid tests now, by category.
pub fn apply(
    mut state: IterationState,
    config: &TestGenConfig,
    step: Next,
    done: Done,
    tests: BTreeMap<TestCategory, usize>,
    comprehensiveness: Option<f64>,
) -> IterationState {
    match step {
        Next::Ask { category, .. } => {
            let at = state.order.iter().position(|other| *other == category).unwrap_or(state.at);
            state.round = if at == state.at { state.round + 1 } else { 1 };
            state.at = at;
            state.total_rounds += 1;
            state.reflected = false;
        }
        Next::Refine { .. } => {
            state.refinements += 1;
            state.total_rounds += 1;
            state.reflected = false;
        }
        Next::Reflect => state.reflected = true,
        Next::Done(_) => {}
    }
    state.tokens = state.tokens.saturating_add(done.tokens);
    state.elapsed_ms = done.elapsed_ms;
    state.tests = tests;
    state.comprehensiveness = comprehensiveness;
    // After the last category the position stays: tests of a refinement reopen no category.
    if state.current(config).is_none() {
        state.at = state.order.len();
        state.round = 0;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use TestCategory::*;
    use proptest::prelude::*;

    fn config() -> TestGenConfig {
        TestGenConfig::default()
    }

    fn state(order: &[TestCategory]) -> IterationState {
        IterationState::new(order.to_vec())
    }

    fn ask(category: TestCategory, wanted: usize, round: u32) -> Next {
        Next::Ask { category, wanted, round }
    }

    fn tests(counts: &[(TestCategory, usize)]) -> BTreeMap<TestCategory, usize> {
        counts.iter().copied().collect()
    }

    /// Takes the next step, which results in these tests and this measure.
    fn take(
        state: IterationState,
        config: &TestGenConfig,
        counts: &[(TestCategory, usize)],
        measure: f64,
    ) -> IterationState {
        let step = next(&state, config);
        let done = Done { tokens: 100, elapsed_ms: state.elapsed_ms + 10 };
        apply(state, config, step, done, tests(counts), Some(measure))
    }

    #[test]
    fn a_category_is_asked_for_until_it_has_its_tests_with_a_reflection_between() {
        let config = config();
        let state = state(&[Correctness, Boundary]);
        assert_eq!(next(&state, &config), ask(Correctness, 5, 1));
        let state = take(state, &config, &[(Correctness, 2)], 3.0);
        assert_eq!(next(&state, &config), Next::Reflect);
        let state = take(state, &config, &[(Correctness, 2)], 3.0);
        assert_eq!(next(&state, &config), ask(Correctness, 3, 2));
        let state = take(state, &config, &[(Correctness, 5)], 4.0);
        assert_eq!(next(&state, &config), ask(Boundary, 4, 1), "4 by precision_weight");
    }

    #[test]
    fn a_category_without_success_is_left_after_its_rounds() {
        let config = TestGenConfig { max_rounds_per_category: 2, ..config() };
        let mut state = state(&[Correctness, Boundary]);
        for step in [ask(Correctness, 5, 1), Next::Reflect, ask(Correctness, 5, 2), ask(Boundary, 4, 1)] {
            assert_eq!(next(&state, &config), step);
            state = take(state, &config, &[], 0.0);
        }
    }

    #[test]
    fn refinement_follows_where_the_measure_or_the_number_is_short_and_ends() {
        let config = TestGenConfig { max_rounds_per_category: 1, min_total_tests: 2, ..config() };
        let counts = [(Correctness, 5)];
        let after = |measure| take(state(&[Correctness]), &config, &counts, measure);
        assert_eq!(next(&after(8.5), &config), Next::Done(Why::Complete));
        let mut state = after(8.4);
        for step in [Next::Reflect, Next::Refine { wanted: 5 }, Next::Reflect, Next::Refine { wanted: 5 }] {
            assert_eq!(next(&state, &config), step);
            state = take(state, &config, &counts, 8.4);
        }
        assert_eq!(next(&state, &config), Next::Done(Why::Complete));
        let without = TestGenConfig { global_refinement: false, ..config.clone() };
        assert_eq!(next(&after(1.0), &without), Next::Done(Why::Complete));
        let none = TestGenConfig { global_refinement_rounds: 0, ..config.clone() };
        assert_eq!(next(&after(1.0), &none), Next::Done(Why::Complete));
        let unmeasured = IterationState { comprehensiveness: None, ..after(8.4) };
        assert_eq!(next(&unmeasured, &config), Next::Done(Why::Complete), "nobody knows what to aim at");
        let more = TestGenConfig { min_total_tests: 6, ..config.clone() };
        assert_eq!(next(&after(9.0), &more), Next::Reflect, "too few tests");
    }

    #[test]
    fn each_limit_ends_the_run_when_it_is_reached_and_not_before() {
        let begun = IterationState { comprehensiveness: Some(9.0), total_rounds: 1, ..state(&[Correctness]) };
        let goes_on = |state: &IterationState| matches!(next(state, &config()), Next::Ask { .. });
        for (at, below, why) in [
            (
                IterationState { tokens: 100_000, ..begun.clone() },
                IterationState { tokens: 99_999, ..begun.clone() },
                Why::Tokens,
            ),
            (
                IterationState { elapsed_ms: 180_000, ..begun.clone() },
                IterationState { elapsed_ms: 179_999, ..begun.clone() },
                Why::Time,
            ),
            (
                IterationState { total_rounds: 12, ..begun.clone() },
                IterationState { total_rounds: 11, ..begun.clone() },
                Why::Rounds,
            ),
            (
                IterationState { tests: tests(&[(Boundary, 30)]), ..begun.clone() },
                IterationState { tests: tests(&[(Boundary, 29)]), ..begun.clone() },
                Why::Tests,
            ),
            (
                IterationState {
                    tests: tests(&[(Boundary, 30)]),
                    comprehensiveness: Some(7.0),
                    ..begun.clone()
                },
                IterationState {
                    tests: tests(&[(Boundary, 30)]),
                    comprehensiveness: Some(6.9),
                    ..begun.clone()
                },
                Why::Tests,
            ),
        ] {
            assert_eq!(next(&at, &config()), Next::Done(why));
            assert!(goes_on(&below), "{why:?}");
            assert!(!why.words().is_empty());
        }
    }

    #[test]
    fn the_target_of_tests_and_the_least_comprehensiveness_decide_together() {
        let enough = |comprehensiveness| IterationState {
            tests: tests(&[(Boundary, 20)]),
            comprehensiveness,
            total_rounds: 1,
            ..state(&[Correctness])
        };
        let set = |target_total_tests, min_comprehensiveness| TestGenConfig {
            target_total_tests,
            min_comprehensiveness,
            ..config()
        };
        let ended = Next::Done(Why::Tests);
        for (comprehensiveness, target, least, wanted) in [
            (Some(6.0), 20, 6.0, ended),
            (Some(6.0), 21, 6.0, ask(Correctness, 1, 1)), // room for one
            (Some(6.0), 20, 6.1, ask(Correctness, 1, 1)), // it has not passed: one more, and then another
            (None, 20, 6.0, ended),                       // more tests measure no more
        ] {
            let next = next(&enough(comprehensiveness), &set(target, least));
            assert_eq!(next, wanted, "{comprehensiveness:?} {target} {least}");
        }
        let passed = IterationState { at: 1, ..enough(Some(6.0)) };
        assert_eq!(next(&passed, &set(20, 7.0)), Next::Refine { wanted: 5 }, "so does refinement");
        assert_eq!(next(&passed, &set(20, 6.0)), ended);
    }

    #[test]
    fn tests_that_come_without_a_question_do_not_answer_the_first_one() {
        let config = TestGenConfig { target_total_tests: 30, ..config() };
        let begun = IterationState { tests: tests(&[(Existence, 40)]), ..state(&[Correctness, Boundary]) };
        assert_eq!(next(&begun, &config), ask(Correctness, 1, 1));
        let asked = take(begun.clone(), &config, &[(Existence, 40), (Correctness, 1)], 8.0);
        assert_eq!(next(&asked, &config), Next::Done(Why::Tests));
        let late = IterationState { elapsed_ms: 180_000, ..begun };
        assert_eq!(next(&late, &config), Next::Done(Why::Time), "the other limits end it all the same");
    }

    #[test]
    fn where_nobody_is_asked_a_run_is_complete_at_once() {
        let mut state = state(&[]);
        assert_eq!(next(&state, &config()), Next::Done(Why::Complete));
        state.tests = tests(&[(Existence, 1)]);
        assert_eq!(next(&state, &config()), Next::Done(Why::Complete));
    }

    #[test]
    fn refinement_aims_at_what_keeps_the_most_from_comprehensiveness() {
        let of = |kill_rate, branch_coverage| TestGenAnalysis {
            kill_rate,
            branch_coverage,
            ..TestGenAnalysis::default()
        };
        for (analysis, wanted) in [
            (of(Some(0.5), Some(0.5)), Correctness), // 3 points of mutants, 2 of branches
            (of(Some(0.9), Some(0.5)), Boundary),    // 0.6 and 2
            (of(Some(0.9), Some(0.9)), Correctness), // one branch is missing, too
            (of(Some(1.0), Some(0.9)), Boundary),
            (of(Some(0.9), Some(1.0)), Correctness),
            (of(None, Some(0.9)), Boundary),
            (of(Some(1.0), Some(1.0)), AntiCheat),
            (of(None, None), AntiCheat),
        ] {
            assert_eq!(aim(&TestCategory::ALL, &analysis), Some(wanted), "{analysis:?}");
        }
        assert_eq!(aim(&[Integration], &of(Some(0.5), None)), Some(Integration));
        for (rate, wanted) in [(Some(0.9), Integration), (Some(1.0), AntiCheat), (None, AntiCheat)] {
            let analysis = TestGenAnalysis { callee_kill_rate: rate, ..of(Some(1.0), Some(1.0)) };
            assert_eq!(aim(&TestCategory::ALL, &analysis), Some(wanted));
        }
        assert_eq!(aim(&[], &of(Some(0.5), None)), None);
    }

    proptest! {
        #[test]
        fn every_run_ends_within_its_limits(
            rounds in 1u32..5, total in 1u32..20, refinements in 0u32..4, seed in any::<u64>(), k in 1usize..6,
        ) {
            let config = TestGenConfig {
                max_rounds_per_category: rounds,
                max_total_rounds: total,
                global_refinement_rounds: refinements,
                ..config()
            };
            let mut state = state(&TestCategory::ALL[..k]);
            let (mut asked, mut steps, mut chance) = (0, 0, seed);
            let mut counts: BTreeMap<TestCategory, usize> = BTreeMap::new();
            loop {
                let step = next(&state, &config);
                if let Next::Done(_) = step {
                    break;
                }
                if let Next::Ask { category, wanted, round } = step {
                    prop_assert!(wanted > 0 && round <= rounds);
                    chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    *counts.entry(category).or_default() += (chance >> 33) as usize % (wanted + 1);
                }
                asked += u32::from(step != Next::Reflect);
                steps += 1;
                prop_assert!(steps <= 2 * total, "a reflection for each round at most");
                let done = Done { tokens: 10, elapsed_ms: 0 };
                state = apply(state, &config, step, done, counts.clone(), Some((chance >> 40) as f64 % 10.0));
            }
            prop_assert!(asked <= total);
        }
    }
}
