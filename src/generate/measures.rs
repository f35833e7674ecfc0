//! From the tests of a run to what was measured in it: which planted cheats and operand mutants they tell, and all the counts that the
//! formulas want. C is asked for what a cheat would answer; nothing else is run.

use super::cheats::{Asked, Cheat, tells, told_by_answers, with_constant, with_length};
use super::instruments::Instruments;
use super::suite::{Suite, Test};
use super::values::arguments;
use crate::contract::types::{Contract, Role};
use crate::error::Result;
use crate::symbol::{Function, TypeKind};
use crate::testgen::{ParameterUse, PlantedCheat};
use serde_json::Value;
use std::collections::BTreeSet;

/// Notes for every test which cheats it tells from C; those that know one answer, beside the test whose answer that is. Returns all
/// cheats that could be planted.
///
/// # Errors
/// Those of starting the fuzz process, and Ctrl-C.
pub fn cheats(
    instruments: &Instruments,
    (function, contract): (&Function, &Contract),
    suite: &mut Suite,
) -> Result<Vec<Cheat>> {
    suite.tests.iter_mut().for_each(|known| known.cheats.clear());
    let bits = bits(function);
    let mut planted = Vec::new();
    for cheat in Cheat::ALL {
        let is_planted = match cheat {
            // It is one of the mutants, and what they kill is known.
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
                by_other_inputs(instruments, contract, cheat, suite)?
            }
            _ => by_answers(contract, bits, cheat, suite),
        };
        if is_planted {
            planted.push(cheat);
        }
    }
    Ok(planted)
}

/// Of the integer that a function returns, if it returns one.
fn bits(function: &Function) -> Option<u32> {
    match &function.ret.kind {
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => Some(u32::from(*bits)),
        _ => None,
    }
}

/// What becomes of planted cheats where only the tests that are kept are there: a cheat that knows an answer knows one of theirs.
pub fn rejected(
    planted: &[Cheat],
    (function, contract): (&Function, &Contract),
    suite: &Suite,
    kept: &BTreeSet<usize>,
) -> Vec<PlantedCheat> {
    let tests: Vec<_> = kept.iter().filter_map(|at| suite.tests.get(*at)).collect();
    let asked: Vec<Asked> = tests
        .iter()
        .map(|known| Asked { input: &known.test.input, left: &known.left, hidden: known.hidden })
        .collect();
    let is_rejected = |cheat: Cheat| match cheat {
        Cheat::Constant | Cheat::FirstArgument | Cheat::RecordedAnswers => {
            told_by_answers(cheat, contract, bits(function), &asked) == Some(true)
        }
        Cheat::LongInput | Cheat::LastElement | Cheat::StaleState | Cheat::Saturating => {
            tests.iter().any(|known| known.cheats.contains(&cheat))
        }
    };
    let one = |cheat: &Cheat| PlantedCheat { name: cheat.word().to_owned(), rejected: is_rejected(*cheat) };
    planted.iter().map(one).collect()
}

/// Each test alone: does C answer something else to what the cheat looks at?
fn by_other_inputs(
    instruments: &Instruments,
    contract: &Contract,
    cheat: Cheat,
    suite: &mut Suite,
) -> Result<bool> {
    let inputs: Vec<Option<Value>> =
        suite.tests.iter().map(|known| cheat.changed(contract, &known.test.input)).collect();
    let told = told(instruments, contract, suite, &inputs)?;
    for (known, told) in suite.tests.iter_mut().zip(told) {
        if told == Some(true) {
            known.cheats.insert(cheat);
        }
    }
    Ok(true)
}

/// From the answers that are known. A cheat that knows the first visible test is asked about each other one together with that; one that
/// knows only its argument about each alone.
fn by_answers(contract: &Contract, bits: Option<u32>, cheat: Cheat, suite: &mut Suite) -> bool {
    let asked: Vec<Asked> = suite
        .tests
        .iter()
        .map(|known| Asked { input: &known.test.input, left: &known.left, hidden: known.hidden })
        .collect();
    let verdict = told_by_answers(cheat, contract, bits, &asked);
    let first = asked.iter().position(|test| !test.hidden).unwrap_or(0);
    let telling: BTreeSet<usize> = (0..asked.len())
        .filter(|at| {
            let both = [asked[*at], asked[first]];
            let is_alone = first == *at || cheat == Cheat::FirstArgument;
            told_by_answers(cheat, contract, bits, if is_alone { &both[..1] } else { &both }) == Some(true)
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

/// For each test whether C answers something else to the input in its place; nothing where there is none, or C breaks on it.
fn told(
    instruments: &Instruments,
    contract: &Contract,
    suite: &Suite,
    inputs: &[Option<Value>],
) -> Result<Vec<Option<bool>>> {
    let given: Vec<Value> = inputs.iter().flatten().cloned().collect();
    let mut outcomes = instruments.measure(&given)?.into_iter();
    let one = |(known, changed): (&Test, &Option<Value>)| {
        changed.as_ref()?;
        let (read, left) = outcomes.next()?.ok()?;
        let test = (&known.test.input, &known.left.value);
        Some(tells(contract, test, (&read.canonical, &left.value)))
    };
    Ok(suite.tests.iter().zip(inputs).map(one).collect())
}

/// What the tests do with each parameter: how many values it takes, and whether a test tells the function from the one that has a
/// constant in its place, the value of the first test.
///
/// # Errors
/// Those of starting the fuzz process, and Ctrl-C.
pub fn parameters(
    instruments: &Instruments,
    contract: &Contract,
    suite: &Suite,
) -> Result<Vec<ParameterUse>> {
    let mut all = Vec::new();
    for param in contract.params.iter().filter(|param| param.role != Role::Token) {
        let name = &param.name;
        let constant = suite.tests.first().and_then(|known| arguments(&known.test.input)?.get(name)).cloned();
        let inputs: Vec<Option<Value>> = suite
            .tests
            .iter()
            .map(|known| {
                let constant = constant.as_ref()?;
                match param.role {
                    Role::Length => with_length(contract, name, &known.test.input, constant),
                    _ => with_constant(contract, name, &known.test.input, constant),
                }
            })
            .collect();
        let told = told(instruments, contract, suite, &inputs)?;
        let operand_mutant_died = match told.iter().flatten().count() {
            0 => None,
            _ => Some(told.contains(&Some(true))),
        };
        all.push(ParameterUse { name: name.clone(), distinct: suite.distinct(name), operand_mutant_died });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::types::{Parameter, Role};
    use crate::fuzz::measure::Left;
    use crate::generate::fixture::digest;
    use crate::testgen::{GeneratedTest, TestCategory};
    use serde_json::json;

    /// A test of a function that gets `n` and returns this.
    fn test(n: i64, ret: i64, hidden: bool) -> Test {
        let input = json!({ "n": n });
        Test {
            test: GeneratedTest {
                id: n.to_string(),
                input: input.clone(),
                predicted_output: None,
                expected_output: None,
                reasoning: String::new(),
                category: TestCategory::Boundary,
                confidence: None,
            },
            bytes: Vec::new(),
            left: Left { given: input, value: json!({ "return": ret }), record: Vec::new() },
            kills: None,
            cheats: BTreeSet::new(),
            hidden,
        }
    }

    /// Places of the tests that tell the cheat.
    fn telling(cheat: Cheat, tests: Vec<Test>) -> Vec<usize> {
        let (_, mut contract) = digest();
        contract.params[0] = Parameter {
            name: "n".into(),
            role: Role::Value { min: None, max: None },
            ..contract.params[0].clone()
        };
        let mut suite = Suite { tests, ..Suite::default() };
        by_answers(&contract, Some(32), cheat, &mut suite);
        let told = suite.tests.iter().enumerate().filter(|(_, known)| known.cheats.contains(&cheat));
        told.map(|(at, _)| at).collect()
    }

    #[test]
    fn each_test_is_credited_with_what_it_tells() {
        // The first returns another number than its argument; that is not the doing of the others.
        let tests = || vec![test(1, 7, false), test(5, 5, false), test(6, 7, true), test(9, 8, true)];
        assert_eq!(telling(Cheat::FirstArgument, tests()), [0, 2, 3]);
        assert_eq!(telling(Cheat::Constant, tests()), [1, 3], "other answers than to the first");
        assert_eq!(telling(Cheat::RecordedAnswers, tests()), [3], "of those that no prompt shows");
    }
}
