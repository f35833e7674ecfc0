//! A round of evolution: what was proposed, and what came of trying it.

use super::change::TestGenConfigChange;
use super::config::ConfigId;
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A configuration, by its number in the store and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigRef {
    pub id: ConfigId,
    pub version: String,
}

/// Scores of both configurations on one symbol, 0 to 1000; absent where a part of a score was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScorePair {
    pub symbol: SymbolName,
    pub incumbent: Option<u32>,
    pub candidate: Option<u32>,
}

/// Why a change was not taken: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuardrailViolation {
    pub reasons: Vec<String>,
}

impl fmt::Display for GuardrailViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the change was rejected: {}", self.reasons.join("; "))
    }
}

impl std::error::Error for GuardrailViolation {}

/// A round that has ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvolutionRound {
    /// From 1.
    pub round: u32,
    /// Provider and model that proposed it.
    pub model: String,
    pub change: TestGenConfigChange,
    /// What the guardrails say against it.
    pub violation: Option<GuardrailViolation>,
    /// The configuration that was current.
    pub from: ConfigRef,
    /// The candidate; absent where none came of the proposal.
    pub to: Option<ConfigRef>,
    /// Of the symbols that both were run on, in their order.
    pub scores: Vec<ScorePair>,
    /// Mean gain of the score, in points; absent where it was not measured.
    pub mean_gain: Option<f64>,
    /// The lower end of the mean's 95 % interval.
    pub lower_bound: Option<f64>,
    /// Mean gain of comprehensiveness, −10 to 10.
    pub quality_delta: Option<f64>,
    /// The candidate is current now.
    pub accepted: bool,
    /// Why, or why not.
    pub reason: String,
}

impl EvolutionRound {
    /// A round with its proposal, which nobody has looked at yet.
    pub fn begun(round: u32, model: String, change: TestGenConfigChange, from: ConfigRef) -> Self {
        Self {
            round,
            model,
            change,
            violation: None,
            from,
            to: None,
            scores: Vec::new(),
            mean_gain: None,
            lower_bound: None,
            quality_delta: None,
            accepted: false,
            reason: String::new(),
        }
    }
}
