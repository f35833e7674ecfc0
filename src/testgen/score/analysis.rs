//! Analyses a run's measurements with the formulas of `docs/testgen.md`.

use crate::test_record::{Proposed, TestCategory, TestGenAnalysis, made_by_tool};
use crate::verdict::Share;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The weights of mutants and branches in comprehensiveness.
const MUTANTS: f64 = 0.6;
const BRANCHES: f64 = 0.4;

/// The measurements of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// The categories of the run's context.
    pub categories: Vec<TestCategory>,
    /// The category of each valid test.
    pub tests: Vec<TestCategory>,
    /// Killed mutants of C, of those that are not equivalent.
    pub mutants: Option<Share>,
    /// Killed mutants of callees, of those that are not equivalent.
    pub callees: Option<Share>,
    /// Branches of C that the tests reach; lines, for a function without branches.
    pub branches: Option<Share>,
    /// The planted cheats; empty if there were none.
    pub cheats: Vec<PlantedCheat>,
    /// All parameters of the function.
    pub parameters: Vec<ParameterUse>,
    /// `None` without a reflection.
    pub reflection: Option<Reflected>,
    /// Tokens of all calls, input and output.
    pub tokens: u64,
    pub proposed: Proposed,
    /// Predictions for valid tests.
    pub predictions: Vec<Prediction>,
}

/// A planted cheat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlantedCheat {
    pub name: String,
    /// At least one test distinguishes it from C.
    pub rejected: bool,
}

/// The tests' use of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterUse {
    pub name: String,
    /// Number of different values over all valid tests.
    pub distinct: u64,
    /// Whether a test distinguishes the function from one with a constant in the parameter's place. `None` if that
    /// was not tried.
    pub operand_mutant_died: Option<bool>,
}

/// The results of reflections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reflected {
    /// Surviving mutants at the first reflection.
    pub survivors_before: u64,
    /// Those of them that later tests killed.
    pub killed_after: u64,
}

/// A model's prediction of C's result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// From 0 to 1; `None` if the model gave none.
    pub confidence: Option<f64>,
    /// Whether C agreed.
    pub agreed: bool,
}

/// The analysis of a run's measurements.
pub fn analyse(measures: &Measures) -> TestGenAnalysis {
    let distribution = distribution(&measures.categories, &measures.tests);
    let kill_rate = measures.mutants.and_then(ratio);
    let branch_coverage = measures.branches.and_then(ratio);
    let comprehensiveness = comprehensiveness(kill_rate, branch_coverage);
    let Proposed { valid, dropped, duplicates } = measures.proposed.without(made_by_tool(&distribution));
    let proposed = valid + dropped + duplicates;
    TestGenAnalysis {
        category_balance: balance(&distribution),
        category_distribution: distribution,
        anti_cheat_coverage: anti_cheat_coverage(&measures.cheats),
        parameter_discovery: parameter_discovery(&measures.parameters),
        reflection_effectiveness: measures.reflection.map(reflection_effectiveness),
        token_efficiency: token_efficiency(comprehensiveness, measures.tokens),
        comprehensiveness,
        kill_rate,
        callee_kill_rate: measures.callees.and_then(ratio),
        branch_coverage,
        valid_share: ratio(Share { reached: valid, total: proposed }),
        duplicate_share: ratio(Share { reached: duplicates, total: proposed }),
        prediction_agreement: agreement(&measures.predictions),
        brier_score: brier_score(&measures.predictions),
    }
}

/// Points of comprehensiveness lost to surviving mutants, and to unreached branches; 0 if not measured.
pub fn shortfalls(analysis: &TestGenAnalysis) -> (f64, f64) {
    let of = |share: Option<f64>, weight: f64| share.map_or(0.0, |share| 10.0 * weight * (1.0 - share));
    (of(analysis.kill_rate, MUTANTS), of(analysis.branch_coverage, BRANCHES))
}

/// The ratio; `None` for a total of zero, which is no measurement.
fn ratio(share: Share) -> Option<f64> {
    (share.total > 0).then(|| share.ratio().min(1.0))
}

/// The number of tests in each category of the context; other categories do not count.
fn distribution(categories: &[TestCategory], tests: &[TestCategory]) -> BTreeMap<TestCategory, u64> {
    let mut counts: BTreeMap<_, _> = categories.iter().map(|category| (*category, 0)).collect();
    for category in tests {
        counts.entry(*category).and_modify(|count| *count += 1);
    }
    counts
}

/// `max(0, 1 − var / max_var)` of the k counts, with their mean as the ideal: `max_var` = ideal²·(k − 1) is the
/// variance when all are in one category. Without tests 0, else of one category 1.
fn balance(distribution: &BTreeMap<TestCategory, u64>) -> f64 {
    let tests: u64 = distribution.values().sum();
    let categories = distribution.len() as f64;
    if tests == 0 {
        return 0.0;
    }
    if distribution.len() == 1 {
        return 1.0;
    }
    let ideal = tests as f64 / categories;
    let variance =
        distribution.values().map(|count| (*count as f64 - ideal).powi(2)).sum::<f64>() / categories;
    (1.0 - variance / (ideal.powi(2) * (categories - 1.0))).max(0.0)
}

/// Planted cheats that some test rejects ÷ planted.
fn anti_cheat_coverage(cheats: &[PlantedCheat]) -> Option<f64> {
    let rejected = cheats.iter().filter(|cheat| cheat.rejected).count() as u64;
    ratio(Share { reached: rejected, total: cheats.len() as u64 })
}

/// Parameters with at least two values whose operand mutant is killed ÷ all. `None` if that depends on a mutant
/// that was not tried.
fn parameter_discovery(parameters: &[ParameterUse]) -> Option<f64> {
    let is_found = |parameter: &ParameterUse| match parameter.distinct {
        0 | 1 => Some(false),
        _ => parameter.operand_mutant_died,
    };
    let found: Vec<bool> = parameters.iter().map(is_found).collect::<Option<_>>()?;
    let reached = found.iter().filter(|is| **is).count() as u64;
    ratio(Share { reached, total: found.len() as u64 })
}

/// Mutants killed after reflections ÷ survivors before; 1 if there were no survivors.
fn reflection_effectiveness(reflected: Reflected) -> f64 {
    ratio(Share { reached: reflected.killed_after, total: reflected.survivors_before }).unwrap_or(1.0)
}

/// 10 · (0.6 · mutation kill rate + 0.4 · C branch coverage).
fn comprehensiveness(kill_rate: Option<f64>, branch_coverage: Option<f64>) -> Option<f64> {
    Some(10.0 * (MUTANTS * kill_rate? + BRANCHES * branch_coverage?))
}

/// min(1, 1000 · comprehensiveness / tokens).
fn token_efficiency(comprehensiveness: Option<f64>, tokens: u64) -> Option<f64> {
    let comprehensiveness = comprehensiveness.filter(|_| tokens > 0)?;
    Some((1_000.0 * comprehensiveness / tokens as f64).min(1.0))
}

fn agreement(predictions: &[Prediction]) -> Option<f64> {
    let agreed = predictions.iter().filter(|prediction| prediction.agreed).count() as u64;
    ratio(Share { reached: agreed, total: predictions.len() as u64 })
}

/// The Brier score of the predictions with a confidence.
fn brier_score(predictions: &[Prediction]) -> Option<f64> {
    let square = |prediction: &Prediction| {
        let confidence = prediction.confidence?.clamp(0.0, 1.0);
        Some((confidence - f64::from(u8::from(prediction.agreed))).powi(2))
    };
    let squares: Vec<f64> = predictions.iter().filter_map(square).collect();
    (!squares.is_empty()).then(|| squares.iter().sum::<f64>() / squares.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TestCategory::*;
    use proptest::prelude::*;

    fn share(reached: u64, total: u64) -> Option<Share> {
        Some(Share { reached, total })
    }

    /// Asserts equality up to rounding; `None` equals only `None`.
    fn is(found: Option<f64>, wanted: Option<f64>, what: &str) {
        let near = match (found, wanted) {
            (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-12,
            (found, wanted) => found == wanted,
        };
        assert!(near, "{what}: {found:?}, not {wanted:?}");
    }

    fn measures(categories: &[TestCategory], counts: &[u64]) -> Measures {
        let each = TestCategory::ALL.iter().zip(counts);
        let tests = each.flat_map(|(category, count)| vec![*category; *count as usize]).collect();
        Measures { categories: categories.to_vec(), tests, ..Measures::default() }
    }

    #[test]
    fn the_distribution_has_every_category_of_the_context() {
        let all = measures(&[Existence, Boundary], &[4, 0, 1, 2, 0]);
        let found = analyse(&all).category_distribution;
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [(Existence, 0), (Boundary, 2)]);
    }

    #[test]
    fn balance_is_one_minus_variance_by_the_greatest_variance() {
        for (categories, counts, wanted) in [
            (&TestCategory::ALL[..], [0, 0, 0, 0, 0], 0.0),
            (&TestCategory::ALL, [3, 3, 3, 3, 3], 1.0),
            (&TestCategory::ALL, [9, 0, 0, 0, 0], 0.0),
            (&TestCategory::ALL, [1, 0, 0, 0, 0], 0.0),
            // Ideal 2, variance (1 + 0 + 0 + 0 + 1) / 5 = 0.4, greatest 16.
            (&TestCategory::ALL, [3, 2, 2, 2, 1], 1.0 - 0.4 / 16.0),
            // Ideal 2, variance (1 + 1) / 2 = 1, greatest 4.
            (&[AntiCheat, Existence], [3, 1, 0, 0, 0], 0.75),
            // With a single category: first without tests.
            (&[AntiCheat], [0, 0, 0, 0, 0], 0.0),
            (&[AntiCheat], [7, 0, 0, 0, 0], 1.0),
            (&[], [0, 0, 0, 0, 0], 0.0),
            (&[], [2, 0, 0, 0, 0], 0.0),
        ] {
            let found = analyse(&measures(categories, &counts)).category_balance;
            is(Some(found), Some(wanted), &format!("{categories:?} {counts:?}"));
        }
    }

    #[test]
    fn comprehensiveness_is_six_parts_mutants_and_four_parts_branches() {
        for (mutants, branches, wanted) in [
            (share(1, 1), share(1, 1), Some(10.0)),
            (share(1, 2), share(1, 4), Some(4.0)), // 10 · (0.3 + 0.1)
            (share(1, 1), share(0, 4), Some(6.0)),
            (share(0, 3), share(4, 4), Some(4.0)),
            (share(0, 3), share(0, 4), Some(0.0)),
            (None, share(4, 4), None),
            (share(3, 3), None, None),
            (share(0, 0), share(4, 4), None), // no mutants are no proof
            (share(3, 3), share(0, 0), None),
        ] {
            let analysis = analyse(&Measures { mutants, branches, ..Measures::default() });
            is(analysis.comprehensiveness, wanted, &format!("{mutants:?} {branches:?}"));
        }
    }

    #[test]
    fn what_is_missing_is_weighed_as_comprehensiveness_weighs_it() {
        for (mutants, branches, wanted) in [
            (share(1, 2), share(1, 2), (3.0, 2.0)),
            (share(3, 4), share(1, 2), (1.5, 2.0)),
            (share(1, 1), share(4, 4), (0.0, 0.0)),
            (None, share(0, 4), (0.0, 4.0)),
            (share(0, 0), None, (0.0, 0.0)),
        ] {
            let analysis = analyse(&Measures { mutants, branches, ..Measures::default() });
            let found = shortfalls(&analysis);
            is(Some(found.0), Some(wanted.0), &format!("{mutants:?} {branches:?}"));
            is(Some(found.1), Some(wanted.1), &format!("{mutants:?} {branches:?}"));
        }
    }

    #[test]
    fn efficiency_is_comprehensiveness_for_a_thousand_tokens() {
        for (mutants, tokens, wanted) in [
            (share(1, 1), 10_000, Some(1.0)),
            (share(1, 1), 9_999, Some(1.0)),
            (share(1, 1), 20_000, Some(0.5)),
            (share(1, 1), 1, Some(1.0)),
            (share(0, 1), 10_000, Some(0.4)), // comprehensiveness 4, of branches alone
            (share(1, 1), 0, None),
            (None, 1_000, None),
        ] {
            let measures = Measures { mutants, branches: share(2, 2), tokens, ..Measures::default() };
            is(analyse(&measures).token_efficiency, wanted, &format!("{mutants:?} {tokens}"));
        }
    }

    #[test]
    fn cheats_are_covered_by_the_share_that_some_test_rejects() {
        for (rejected, wanted) in [
            (vec![], None),
            (vec![false, false], Some(0.0)),
            (vec![true, false, true, true], Some(0.75)),
            (vec![true], Some(1.0)),
        ] {
            let cheats =
                rejected.iter().map(|rejected| PlantedCheat { name: "c".into(), rejected: *rejected });
            let measures = Measures { cheats: cheats.collect(), ..Measures::default() };
            is(analyse(&measures).anti_cheat_coverage, wanted, &format!("{rejected:?}"));
        }
    }

    #[test]
    fn a_parameter_is_discovered_by_two_values_and_a_dead_mutant() {
        let (died, lived) = (Some(true), Some(false));
        for (uses, wanted) in [
            (vec![], None),
            (vec![(2, died)], Some(1.0)),
            (vec![(1, died)], Some(0.0)),
            (vec![(0, died)], Some(0.0)),
            (vec![(9, lived)], Some(0.0)),
            (vec![(2, died), (9, lived), (1, died), (3, died)], Some(0.5)),
            (vec![(1, None), (2, died)], Some(0.5)), // one value decides without the mutant
            (vec![(2, None), (2, died)], None),
        ] {
            let parameters = uses.iter().map(|(distinct, died)| ParameterUse {
                name: "p".into(),
                distinct: *distinct,
                operand_mutant_died: *died,
            });
            let measures = Measures { parameters: parameters.collect(), ..Measures::default() };
            is(analyse(&measures).parameter_discovery, wanted, &format!("{uses:?}"));
        }
    }

    #[test]
    fn reflection_is_worth_the_survivors_that_it_killed() {
        for (reflected, wanted) in [
            (None, None),
            (Some((0, 0)), Some(1.0)),
            (Some((4, 0)), Some(0.0)),
            (Some((4, 1)), Some(0.25)),
            (Some((4, 4)), Some(1.0)),
        ] {
            let reflection = reflected
                .map(|(survivors_before, killed_after)| Reflected { survivors_before, killed_after });
            let measures = Measures { reflection, ..Measures::default() };
            is(analyse(&measures).reflection_effectiveness, wanted, &format!("{reflected:?}"));
        }
    }

    #[test]
    fn shares_of_what_was_proposed() {
        for (valid, dropped, duplicates, wanted) in [
            (0, 0, 0, (None, None)),
            (3, 1, 0, (Some(0.75), Some(0.0))),
            (2, 1, 1, (Some(0.5), Some(0.25))),
            (0, 0, 5, (Some(0.0), Some(1.0))),
        ] {
            let measures =
                Measures { proposed: Proposed { valid, dropped, duplicates }, ..Measures::default() };
            let analysis = analyse(&measures);
            assert_eq!((analysis.valid_share, analysis.duplicate_share), wanted);
        }
        // Two of the five valid tests are the tool's own, not the model's proposals.
        let proposed = Proposed { valid: 5, dropped: 3, duplicates: 0 };
        let measures = Measures { proposed, ..measures(&[Existence, Boundary], &[0, 2, 0, 3, 0]) };
        assert_eq!(analyse(&measures).valid_share, Some(0.5));
    }

    #[test]
    fn predictions_are_compared_and_their_confidence_is_calibrated() {
        for (predictions, agreement, brier) in [
            (vec![], None, None),
            (vec![(None, true), (None, false)], Some(0.5), None),
            (vec![(Some(1.0), true)], Some(1.0), Some(0.0)),
            (vec![(Some(1.0), false)], Some(0.0), Some(1.0)),
            (vec![(Some(0.5), false), (Some(0.5), true)], Some(0.5), Some(0.25)),
            // 0.2² and 0.6², and one without a confidence.
            (vec![(Some(0.8), true), (Some(0.6), false), (None, false)], Some(1.0 / 3.0), Some(0.2)),
            (vec![(Some(7.0), true)], Some(1.0), Some(0.0)),
        ] {
            let all = predictions
                .iter()
                .map(|(confidence, agreed)| Prediction { confidence: *confidence, agreed: *agreed });
            let measures = Measures { predictions: all.collect(), ..Measures::default() };
            let analysis = analyse(&measures);
            is(analysis.prediction_agreement, agreement, &format!("{predictions:?}"));
            is(analysis.brier_score, brier, &format!("{predictions:?}"));
        }
    }

    #[test]
    fn mutants_of_callees_are_counted_by_themselves() {
        let of = |callees| {
            let measures =
                Measures { callees, mutants: share(1, 2), branches: share(1, 1), ..Measures::default() };
            analyse(&measures)
        };
        for (callees, rate) in
            [(None, None), (share(0, 0), None), (share(0, 4), Some(0.0)), (share(3, 4), Some(0.75))]
        {
            is(of(callees).callee_kill_rate, rate, "callees");
            is(of(callees).comprehensiveness, Some(7.0), "no formula uses it");
        }
    }

    #[test]
    fn what_was_not_measured_is_null_in_json() {
        let value = serde_json::to_value(analyse(&Measures::default())).unwrap();
        let fields = value.as_object().unwrap();
        let nulls = fields.values().filter(|value| value.is_null()).count();
        assert_eq!((nulls, fields.len()), (12, 14), "all but distribution and balance: {value}");
        assert!(serde_json::from_value::<TestGenAnalysis>(value).is_ok());
    }

    proptest! {
        #[test]
        fn shares_stay_within_their_bounds(
            counts in prop::array::uniform5(0..40_u64), categories in prop::sample::subsequence(&TestCategory::ALL[..], 0..=5),
            mutants in (0..9_u64, 0..9_u64), branches in (0..9_u64, 0..9_u64), tokens in 0..100_000_u64,
        ) {
            let measures = Measures {
                mutants: share(mutants.0, mutants.1), branches: share(branches.0, branches.1), tokens,
                ..measures(&categories, &counts)
            };
            let analysis = analyse(&measures);
            prop_assert!((0.0..=1.0).contains(&analysis.category_balance));
            prop_assert!(analysis.comprehensiveness.is_none_or(|share| (0.0..=10.0).contains(&share)));
            prop_assert!(analysis.token_efficiency.is_none_or(|share| (0.0..=1.0).contains(&share)));
            prop_assert_eq!(analysis.token_efficiency.is_some(), analysis.comprehensiveness.is_some() && tokens > 0);
        }
    }
}
