//! Derives a run's measurements from its tests: which planted cheats and operand mutants they reveal, and the
//! counts for the formulas. C provides the answers of cheats; nothing else is run.

use super::instruments::Instruments;
use super::planted_cheats::{self, Asked, Cheat, tells, told_by_answers, with_constant, with_length};
use super::suite::{Suite, Test};
use super::values::{arguments, shows_effect, without_call};
use crate::contract::types::{Contract, Parameter};
use crate::error::Result;
use crate::symbol::{Function, TypeKind};
use crate::testgen::score::{ParameterUse, PlantedCheat};
use serde_json::Value;
use std::collections::BTreeSet;

/// Records for each test which cheats it distinguishes from C; a cheat that knows one answer is combined with the
/// test of that answer. Returns all cheats that could be planted.
pub fn cheats(
    instruments: &Instruments,
    (function, contract): (&Function, &Contract),
    suite: &mut Suite,
) -> Result<Vec<Cheat>> {
    suite.tests.iter_mut().for_each(|known| known.cheats.clear());
    note_effects(instruments, contract, suite)?;
    let bits = bits(function);
    let mut planted = Vec::new();
    for cheat in Cheat::ALL {
        let is_planted = match cheat {
            // This cheat is one of the mutants, whose kills are known.
            Cheat::Saturating => {
                let Some(number) = instruments.saturating() else { continue };
                let told = |known: &&mut Test| known.kills.as_ref().is_some_and(|of| of.contains(&number));
                for known in suite.tests.iter_mut().filter(told) {
                    known.cheats.insert(cheat);
                }
                true
            }
            _ if !cheat.applies(contract) => false,
            Cheat::LongInput | Cheat::LastElement | Cheat::StaleState => {
                by_other_inputs(instruments, (function, contract), cheat, suite)?
            }
            _ => by_answers((function, contract), bits, cheat, suite),
        };
        if is_planted {
            planted.push(cheat);
        }
    }
    Ok(planted)
}

/// Width of the integer that a function returns, if it returns one.
fn bits(function: &Function) -> Option<u32> {
    match &function.ret.kind {
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => Some(u32::from(*bits)),
        _ => None,
    }
}

/// The planted cheats, judged by kept tests alone: a cheat that knows an answer then knows one of theirs.
pub fn rejected(
    planted: &[Cheat],
    (function, contract): (&Function, &Contract),
    suite: &Suite,
    kept: &BTreeSet<usize>,
) -> Vec<PlantedCheat> {
    let tests: Vec<_> = kept.iter().filter_map(|at| suite.tests.get(*at)).collect();
    let asked: Vec<Asked> = tests.iter().map(|known| asked(known)).collect();
    let is_rejected = |cheat: Cheat| match cheat {
        Cheat::Constant | Cheat::FirstArgument | Cheat::RecordedAnswers => {
            told_by_answers(cheat, (function, contract), bits(function), &asked) == Some(true)
        }
        Cheat::LongInput | Cheat::LastElement | Cheat::StaleState | Cheat::Saturating => {
            tests.iter().any(|known| known.cheats.contains(&cheat))
        }
    };
    let one = |cheat: &Cheat| PlantedCheat { name: cheat.word().to_owned(), rejected: is_rejected(*cheat) };
    planted.iter().map(one).collect()
}

fn asked(known: &Test) -> Asked<'_> {
    let Test { left, hidden, shows_effect, .. } = known;
    Asked { input: &known.test.input, left, hidden: *hidden, shows_effect: *shows_effect }
}

/// Records for each call sequence whether later calls show an effect of the call under test: C shows what they give
/// without it.
fn note_effects(instruments: &Instruments, contract: &Contract, suite: &mut Suite) -> Result<()> {
    let inputs: Vec<_> = suite.tests.iter().map(|known| without_call(contract, &known.test.input)).collect();
    let given: Vec<Value> = inputs.iter().flatten().cloned().collect();
    // A later call may lack its handle, if the call ended it.
    let mut outcomes = instruments.ran(&given)?.into_iter();
    for (known, input) in suite.tests.iter_mut().zip(inputs) {
        let without = input.and_then(|_| outcomes.next()?.ok());
        known.shows_effect =
            without.map(|(_, without)| shows_effect(&known.test.input, &known.left.value, &without.value));
    }
    Ok(())
}

/// Checks each test alone: whether C's answer differs on the input that the cheat sees.
fn by_other_inputs(
    instruments: &Instruments,
    of: (&Function, &Contract),
    cheat: Cheat,
    suite: &mut Suite,
) -> Result<bool> {
    let inputs: Vec<Option<Value>> =
        suite.tests.iter().map(|known| cheat.changed(of.1, &known.test.input)).collect();
    let told = told(instruments, of, suite, &inputs)?;
    for (known, told) in suite.tests.iter_mut().zip(told) {
        if told == Some(true) {
            known.cheats.insert(cheat);
        }
    }
    Ok(true)
}

/// Checks by known answers. A cheat that knows the first visible test is tried on each other test together with
/// that one; a cheat that knows only its argument, on each test alone.
fn by_answers(of: (&Function, &Contract), bits: Option<u32>, cheat: Cheat, suite: &mut Suite) -> bool {
    let asked: Vec<Asked> = suite.tests.iter().map(asked).collect();
    let verdict = told_by_answers(cheat, of, bits, &asked);
    let first = asked.iter().position(|test| !test.hidden).unwrap_or(0);
    let telling: BTreeSet<usize> = (0..asked.len())
        .filter(|at| {
            // An effect that the first test shows must not count for the other one.
            let both = [asked[*at], Asked { shows_effect: None, ..asked[first] }];
            let is_alone = first == *at || cheat == Cheat::FirstArgument;
            told_by_answers(cheat, of, bits, if is_alone { &both[..1] } else { &both }) == Some(true)
        })
        .collect();
    if cheat != Cheat::FirstArgument && telling.iter().any(|at| *at != first) {
        suite.known_answer = Some(first);
    }
    for (at, known) in suite.tests.iter_mut().enumerate() {
        if telling.contains(&at) {
            known.cheats.insert(cheat);
        }
    }
    verdict.is_some()
}

/// For each test, whether C's answer differs on the replacement input; `None` where there is none, or C crashes on
/// it.
fn told(
    instruments: &Instruments,
    of: (&Function, &Contract),
    suite: &Suite,
    inputs: &[Option<Value>],
) -> Result<Vec<Option<bool>>> {
    let given: Vec<Value> = inputs.iter().flatten().cloned().collect();
    let mut outcomes = instruments.measure(&given)?.into_iter();
    let one = |(known, changed): (&Test, &Option<Value>)| {
        changed.as_ref()?;
        let (read, left) = outcomes.next()?.ok()?;
        let test = (&known.test.input, &known.left.value);
        Some(tells(of, test, (&read.canonical, &left.value)))
    };
    Ok(suite.tests.iter().zip(inputs).map(one).collect())
}

/// The tests' use of each parameter: its number of values, and whether a test distinguishes the function from one
/// with a constant in its place. Empty where only a fuzz target knows the parameters.
pub fn parameters(
    instruments: &Instruments,
    (function, contract): (&Function, &Contract),
    suite: &Suite,
) -> Result<Vec<ParameterUse>> {
    let mut all = Vec::new();
    for param in planted_cheats::parameters(contract).iter().filter(|param| param.role.user_data().is_none())
    {
        let inputs = operand_mutant(contract, param, suite);
        let told = told(instruments, (function, contract), suite, &inputs)?;
        let operand_mutant_died = match told.iter().flatten().count() {
            0 => None,
            _ => Some(told.contains(&Some(true))),
        };
        let distinct = suite.distinct(contract, &param.name);
        all.push(ParameterUse { name: param.name.clone(), distinct, operand_mutant_died });
    }
    Ok(all)
}

/// For each test, the input with a constant for a parameter: the first test's value, or for a length the smallest
/// value, since buffers can be cut but not extended.
fn operand_mutant(contract: &Contract, param: &Parameter, suite: &Suite) -> Vec<Option<Value>> {
    let inputs = || suite.tests.iter().map(|known| &known.test.input);
    let mut values = inputs().filter_map(|input| arguments(contract, input)?.get(&param.name));
    if param.role.length().is_some() {
        let least = values.filter_map(|value| usize::try_from(value.as_u64()?).ok()).min();
        return inputs().map(|input| with_length(contract, &param.name, input, least?)).collect();
    }
    let constant = values.next();
    inputs().map(|input| with_constant(contract, &param.name, input, constant?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::fixture::contract;
    use crate::contract::parameter_roles::{self, Role};
    use crate::fuzz::evaluate_inputs::Left;
    use crate::test_record::{GeneratedTest, TestCategory};
    use crate::testgen::fixture::digest;
    use crate::testgen::run::values::elements;
    use serde_json::json;

    /// A test of a function that gets `n` and returns `ret`.
    fn test(n: i64, ret: i64, hidden: bool) -> Test {
        of(json!({ "n": n }), json!({ "return": ret }), hidden)
    }

    fn of(input: Value, value: Value, hidden: bool) -> Test {
        Test {
            test: GeneratedTest {
                id: input.to_string(),
                input: input.clone(),
                predicted_output: None,
                expected_output: None,
                reasoning: String::new(),
                category: TestCategory::Boundary,
                confidence: None,
            },
            bytes: Vec::new(),
            left: Left { given: input, value, record: Vec::new() },
            kills: None,
            cheats: BTreeSet::new(),
            shows_effect: None,
            hidden,
        }
    }

    /// Indexes of the tests that distinguish the cheat.
    fn telling(cheat: Cheat, tests: Vec<Test>) -> Vec<usize> {
        let contract =
            contract("f", vec![("n", Role::Value(parameter_roles::Value { min: None, max: None }))]);
        let mut suite = Suite { tests, ..Suite::default() };
        by_answers((&digest().0, &contract), Some(32), cheat, &mut suite);
        let told = suite.tests.iter().enumerate().filter(|(_, known)| known.cheats.contains(&cheat));
        told.map(|(at, _)| at).collect()
    }

    #[test]
    fn the_mutant_of_a_length_has_the_least_that_a_test_has_whichever_comes_first() {
        let (_, contract) = digest();
        let lengths = |order: [&str; 3]| {
            let tests =
                order.map(|data| of(json!({"data": data, "n": data.len()}), Value::Null, false)).into();
            let suite = Suite { tests, ..Suite::default() };
            let n = contract.params.iter().find(|param| param.name == "n").unwrap();
            let inputs = operand_mutant(&contract, n, &suite).into_iter();
            inputs.map(|input| Some(elements(&input?["data"])?.len())).collect::<Vec<_>>()
        };
        assert_eq!(lengths(["abcde", "a", "abc"]), [Some(1), None, Some(1)]);
        assert_eq!(lengths(["a", "abc", "abcde"]), [None, Some(1), Some(1)]);
        assert_eq!(lengths(["ab", "cd", "ef"]), [None; 3], "one length is all that there is");
    }

    #[test]
    fn the_mutant_of_another_operand_has_the_value_of_the_first_test() {
        let contract =
            contract("run", vec![("args", Role::Value(parameter_roles::Value { min: None, max: None }))]);
        let tests =
            vec![of(json!({"args": 7}), Value::Null, false), of(json!({"args": 8}), Value::Null, false)];
        let suite = Suite { tests, ..Suite::default() };
        let inputs = operand_mutant(&contract, &contract.params[0], &suite);
        assert_eq!(inputs, [None, Some(json!({"args": 7}))]);
        assert_eq!(suite.distinct(&contract, "args"), 2);
    }

    #[test]
    fn each_test_is_credited_with_what_it_tells() {
        // The first test returns a number other than its argument; the others get no credit for that.
        let tests = || vec![test(1, 7, false), test(5, 5, false), test(6, 7, true), test(9, 8, true)];
        assert_eq!(telling(Cheat::FirstArgument, tests()), [0, 2, 3]);
        assert_eq!(telling(Cheat::Constant, tests()), [1, 3], "other answers than to the first");
        assert_eq!(telling(Cheat::RecordedAnswers, tests()), [3], "of those that no prompt shows");
        // A test whose later calls show an effect.
        let seen = || {
            let mut tests = vec![test(1, 0, false), test(5, 0, false), test(6, 0, true)];
            (tests[0].shows_effect, tests[1].shows_effect) = (Some(false), Some(true));
            tests
        };
        for cheat in [Cheat::Constant, Cheat::RecordedAnswers] {
            assert_eq!(telling(cheat, seen()), [1], "{cheat:?}");
        }
        let first = || seen().into_iter().skip(1).collect();
        assert_eq!(telling(Cheat::Constant, first()), [0], "and the others have no part in it");
    }
}
