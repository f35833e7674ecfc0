//! What a run is worth, measure by measure. The formulas are in `testgen::score`.

use super::category::TestCategory;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of the tests of a run: of those that the model proposed, and of those of existence, which the tool makes and which are
/// valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    pub valid: u64,
    /// Not readable, not valid for the contract, or C breaks on it.
    pub dropped: u64,
    /// There already.
    pub duplicates: u64,
}

/// What follows. Shares are from 0 to 1; what is absent was not measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestGenAnalysis {
    /// Valid tests of each category of the context.
    pub category_distribution: BTreeMap<TestCategory, u64>,
    /// How evenly they are spread: 1 even, 0 all in one.
    pub category_balance: f64,
    pub anti_cheat_coverage: Option<f64>,
    pub parameter_discovery: Option<f64>,
    pub reflection_effectiveness: Option<f64>,
    pub token_efficiency: Option<f64>,
    /// 0 to 10.
    pub comprehensiveness: Option<f64>,
    pub kill_rate: Option<f64>,
    /// Of mutants of what the function calls. No formula uses it.
    pub callee_kill_rate: Option<f64>,
    pub branch_coverage: Option<f64>,
    /// Of all that the model proposed.
    pub valid_share: Option<f64>,
    pub duplicate_share: Option<f64>,
    /// Predictions that C bore out.
    pub prediction_agreement: Option<f64>,
    /// Mean of (confidence − agreed)²: 0 best, 0.25 for who always says one half (Brier 1950).
    pub brier_score: Option<f64>,
}

impl Proposed {
    /// Without so many that the tool made.
    pub(crate) fn without(self, made: u64) -> Self {
        Self { valid: self.valid.saturating_sub(made), ..self }
    }
}

impl TestGenAnalysis {
    /// Valid tests that the tool made without a model.
    pub(super) fn made(&self) -> u64 {
        made_by_tool(&self.category_distribution)
    }
}

/// Tests of the categories for which no model is asked.
pub(crate) fn made_by_tool(distribution: &BTreeMap<TestCategory, u64>) -> u64 {
    distribution.iter().filter(|(category, _)| !category.is_asked()).map(|(_, count)| count).sum()
}
