//! The score of a run and its components.

use crate::test_record::TestGenAnalysis;
use serde::{Deserialize, Serialize};

/// The score of a run, from 0 to 1000:
/// `round(40·comprehensiveness + 200·balance + 200·anti_cheat + 200·efficiency)`. The components are points. If one
/// is `None`, it was not measured, and there is no score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestGenScore {
    pub total: Option<u32>,
    /// Of 400.
    pub comprehensiveness: Option<f64>,
    /// Of 200.
    pub category_balance: Option<f64>,
    /// Of 200.
    pub anti_cheat_coverage: Option<f64>,
    /// Of 200.
    pub token_efficiency: Option<f64>,
    /// Names of the components that prevent a score.
    pub unmeasured: Vec<String>,
}

impl TestGenScore {
    /// The score of an analysis.
    pub fn of(analysis: &TestGenAnalysis) -> Self {
        let comprehensiveness = analysis.comprehensiveness.map(|tenths| 40.0 * tenths);
        let category_balance = Some(200.0 * analysis.category_balance);
        let anti_cheat_coverage = analysis.anti_cheat_coverage.map(|share| 200.0 * share);
        let token_efficiency = analysis.token_efficiency.map(|share| 200.0 * share);
        let terms = [
            ("comprehensiveness", comprehensiveness),
            ("category_balance", category_balance),
            ("anti_cheat_coverage", anti_cheat_coverage),
            ("token_efficiency", token_efficiency),
        ];
        let points: Option<f64> = terms.iter().map(|(_, points)| *points).sum();
        let missing = terms.iter().filter(|(_, points)| points.is_none());
        Self {
            total: points.map(|points| points.round().clamp(0.0, 1_000.0) as u32),
            comprehensiveness,
            category_balance,
            anti_cheat_coverage,
            token_efficiency,
            unmeasured: missing.map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analysis(terms: (Option<f64>, f64, Option<f64>, Option<f64>)) -> TestGenAnalysis {
        TestGenAnalysis {
            comprehensiveness: terms.0,
            category_balance: terms.1,
            anti_cheat_coverage: terms.2,
            token_efficiency: terms.3,
            ..TestGenAnalysis::default()
        }
    }

    #[test]
    fn a_score_is_the_sum_of_its_components() {
        for (terms, total) in [
            ((Some(10.0), 1.0, Some(1.0), Some(1.0)), 1000),
            ((Some(0.0), 0.0, Some(0.0), Some(0.0)), 0),
            ((Some(10.0), 0.0, Some(0.0), Some(0.0)), 400),
            ((Some(0.0), 1.0, Some(0.0), Some(0.0)), 200),
            ((Some(0.0), 0.0, Some(1.0), Some(0.0)), 200),
            ((Some(0.0), 0.0, Some(0.0), Some(1.0)), 200),
            ((Some(8.5), 0.9, Some(0.75), Some(0.5)), 770),
            ((Some(0.01), 0.0, Some(0.0), Some(0.0)), 0), // 0.4 points
            ((Some(0.02), 0.0, Some(0.0), Some(0.0)), 1), // 0.8 points
            ((Some(99.0), 1.0, Some(1.0), Some(1.0)), 1000),
            ((Some(-9.0), 0.0, Some(0.0), Some(0.0)), 0),
        ] {
            let score = TestGenScore::of(&analysis(terms));
            assert_eq!((score.total, score.unmeasured.len()), (Some(total), 0), "{terms:?}");
        }
    }

    #[test]
    fn a_term_that_is_missing_is_named_and_leaves_no_score() {
        let full = (Some(5.0), 0.5, Some(0.5), Some(0.5));
        for (terms, names) in [
            ((None, 0.5, Some(0.5), None), &["comprehensiveness", "token_efficiency"][..]),
            ((Some(5.0), 0.5, None, Some(0.5)), &["anti_cheat_coverage"]),
            ((Some(5.0), 0.5, Some(0.5), None), &["token_efficiency"]),
            (full, &[]),
        ] {
            let score = TestGenScore::of(&analysis(terms));
            assert_eq!(score.unmeasured, names);
            assert_eq!(score.total.is_none(), !names.is_empty());
            assert_eq!(score.category_balance, Some(100.0), "the others are there all the same");
        }
    }
}
