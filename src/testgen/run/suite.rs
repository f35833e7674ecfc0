//! The tests of a run so far: what each distinguishes from C, and which are worth keeping.

use super::planted_cheats::Cheat;
use super::values::arguments;
use crate::contract::types::Contract;
use crate::fuzz::evaluate_inputs::{Kills, Left};
use crate::test_record::{GeneratedTest, TestCategory};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A test that was run against C.
#[derive(Debug, Clone)]
pub struct Test {
    /// Its input is canonical, and its expectation is C's result.
    pub test: GeneratedTest,
    /// The input bytes of the harness.
    pub bytes: Vec<u8>,
    pub left: Left,
    /// Numbers of the mutants that it kills; `None` if they were not run.
    pub kills: Kills,
    /// Cheats that it distinguishes from C.
    pub cheats: BTreeSet<Cheat>,
    /// Whether later calls show an effect of the call under test; `None` where that was not checked.
    pub shows_effect: Option<bool>,
    /// No prompt shows it.
    pub hidden: bool,
}

impl Test {
    fn told(&self) -> impl Iterator<Item = usize> {
        self.kills.iter().flatten().copied()
    }
}

/// An invalid test, with the reason.
#[derive(Debug, Clone)]
pub struct Dropped {
    pub test: GeneratedTest,
    pub why: String,
}

/// All tests of a run.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    pub tests: Vec<Test>,
    pub dropped: Vec<Dropped>,
    pub duplicates: Vec<GeneratedTest>,
    /// Index of the test whose answer is known to cheats. Other tests reveal such cheats only together with it, so
    /// it is kept.
    pub known_answer: Option<usize>,
}

impl Suite {
    /// Whether there is a test with this canonical input.
    pub fn has(&self, input: &Value) -> bool {
        self.tests.iter().any(|known| known.test.input == *input)
    }

    /// Mutants that some test kills.
    pub fn killed(&self) -> BTreeSet<usize> {
        self.tests.iter().flat_map(Test::told).collect()
    }

    /// Removes kills of mutants that turned out to be inconclusive.
    pub fn forget(&mut self, void: &BTreeSet<usize>) {
        let all = self.tests.iter_mut().filter_map(|known| known.kills.as_mut());
        all.for_each(|kills| kills.retain(|number| !void.contains(number)));
    }

    /// Indexes of the tests to keep. A test is removed if the remaining ones kill all its mutants and reveal all
    /// its cheats, unless it is the only one of its category; later tests are removed first, and tests that cannot
    /// be written as Rust before all others. Without mutants all tests stay, because cheats alone are too few to
    /// judge by; so does a test on which mutants could not be run.
    pub fn kept(&self, by_mutants: bool, unwritable: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut kept: BTreeSet<usize> = (0..self.tests.len()).collect();
        if !by_mutants {
            return kept;
        }
        let mut mutants: BTreeMap<usize, usize> = BTreeMap::new();
        let mut cheats: BTreeMap<Cheat, usize> = BTreeMap::new();
        let mut left: BTreeMap<TestCategory, usize> = BTreeMap::new();
        for known in &self.tests {
            known.told().for_each(|mutant| *mutants.entry(mutant).or_default() += 1);
            known.cheats.iter().for_each(|cheat| *cheats.entry(*cheat).or_default() += 1);
            *left.entry(known.test.category).or_default() += 1;
        }
        let last_first = self.tests.iter().enumerate().rev();
        let (hard, plain): (Vec<_>, Vec<_>) = last_first.partition(|(at, _)| unwritable.contains(at));
        for (at, known) in hard.into_iter().chain(plain) {
            let is_needed = known.kills.is_none()
                || known.told().any(|mutant| mutants[&mutant] == 1)
                || known.cheats.iter().any(|cheat| cheats[cheat] == 1)
                || left[&known.test.category] == 1
                || self.known_answer == Some(at);
            if is_needed {
                continue;
            }
            kept.remove(&at);
            known.told().for_each(|mutant| *mutants.entry(mutant).or_default() -= 1);
            known.cheats.iter().for_each(|cheat| *cheats.entry(*cheat).or_default() -= 1);
            *left.entry(known.test.category).or_default() -= 1;
        }
        kept
    }

    /// Number of different values of a parameter over all tests.
    pub fn distinct(&self, contract: &Contract, parameter: &str) -> u64 {
        let tests = self.tests.iter();
        let values = tests.filter_map(|known| arguments(contract, &known.test.input)?.get(parameter));
        values.map(Value::to_string).collect::<BTreeSet<_>>().len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::fixture::contract;
    use TestCategory::*;
    use serde_json::json;

    fn test(n: i64, category: TestCategory, kills: &[usize], cheats: &[Cheat]) -> Test {
        let given = json!({ "n": n });
        Test {
            test: GeneratedTest {
                id: n.to_string(),
                input: given.clone(),
                predicted_output: None,
                expected_output: None,
                reasoning: String::new(),
                category,
                confidence: None,
            },
            bytes: Vec::new(),
            left: Left { given, value: Value::Null, record: Vec::new() },
            kills: Some(kills.iter().copied().collect()),
            cheats: cheats.iter().copied().collect(),
            shows_effect: None,
            hidden: false,
        }
    }

    #[test]
    fn what_others_kill_too_goes_unless_it_is_the_only_one_of_its_kind() {
        let cheat = Cheat::Constant;
        for (tests, kept) in [
            (vec![test(1, Boundary, &[1], &[]), test(2, Boundary, &[1], &[])], vec![0]),
            (vec![test(1, Boundary, &[1], &[]), test(2, Boundary, &[1, 2], &[])], vec![1]),
            (vec![test(1, Boundary, &[1], &[]), test(2, Correctness, &[1], &[])], vec![0, 1]),
            (vec![test(1, Boundary, &[], &[]), test(2, Boundary, &[], &[])], vec![0]),
            (vec![test(1, Boundary, &[1], &[]), test(2, Boundary, &[1], &[cheat])], vec![1]),
            (
                vec![
                    test(1, Boundary, &[1, 2], &[]),
                    test(2, Boundary, &[2, 3], &[]),
                    test(3, Boundary, &[1, 3], &[]),
                ],
                vec![0, 1],
            ),
            (vec![], vec![]),
        ] {
            let suite = Suite { tests, ..Suite::default() };
            assert_eq!(suite.kept(true, &BTreeSet::new()), kept.into_iter().collect());
            assert_eq!(
                suite.kept(false, &BTreeSet::new()),
                (0..suite.tests.len()).collect(),
                "nothing was measured"
            );
        }
    }

    #[test]
    fn the_answer_that_a_cheat_knows_stays() {
        let cheat = Cheat::Constant;
        let tests = vec![test(1, Boundary, &[1], &[]), test(2, Boundary, &[1, 2], &[cheat])];
        let suite = Suite { tests, known_answer: Some(0), ..Suite::default() };
        assert_eq!(suite.kept(true, &BTreeSet::new()), [0, 1].into(), "one answer alone is constant");
    }

    #[test]
    fn what_cannot_be_written_goes_first() {
        let tests = vec![
            test(1, Boundary, &[1], &[]),
            test(2, Boundary, &[1], &[]),
            test(3, Boundary, &[2], &[]),
            test(4, Correctness, &[], &[]),
        ];
        let suite = Suite { tests, ..Suite::default() };
        assert_eq!(suite.kept(true, &BTreeSet::new()), [0, 2, 3].into());
        assert_eq!(suite.kept(true, &[0].into()), [1, 2, 3].into());
        // Its own kills, or its category, keep a test all the same.
        assert_eq!(suite.kept(true, &[0, 2, 3].into()), [1, 2, 3].into());
    }

    #[test]
    fn sums_are_over_the_tests_that_are_there() {
        let tests =
            vec![test(1, Boundary, &[1], &[]), test(1, Boundary, &[3], &[]), test(2, AntiCheat, &[1], &[])];
        let suite = Suite { tests, ..Suite::default() };
        assert_eq!(suite.killed(), [1, 3].into());
        let contract = contract("f", vec![]);
        assert_eq!((suite.distinct(&contract, "n"), suite.distinct(&contract, "m")), (2, 0));
        assert!(suite.has(&json!({"n": 2})) && !suite.has(&json!({"n": 3})));
    }

    #[test]
    fn mutants_that_say_nothing_are_forgotten_and_a_test_without_mutants_stays() {
        let mut unmeasured = test(2, Correctness, &[], &[]);
        unmeasured.kills = None;
        let tests = vec![
            test(1, Correctness, &[1], &[]),
            unmeasured,
            test(3, Correctness, &[8], &[]),
            test(4, Correctness, &[], &[]),
        ];
        let mut suite = Suite { tests, ..Suite::default() };
        assert_eq!(suite.kept(true, &BTreeSet::new()), BTreeSet::from([0, 1, 2]));
        suite.forget(&BTreeSet::from([7, 8]));
        assert_eq!(suite.killed(), BTreeSet::from([1]));
        assert_eq!(suite.kept(true, &BTreeSet::new()), BTreeSet::from([0, 1]));
    }
}
