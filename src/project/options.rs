//! The options of a command that concern the repository and its configuration.

use crate::config::{Config, Maker, Workflow};
use std::path::PathBuf;

/// Command line options that concern the repository.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `-C DIR`.
    pub dir: Option<PathBuf>,
    /// `--config KEY=VALUE`, in order.
    pub overrides: Vec<String>,
    /// The settings of the command, which have priority.
    pub settings: Settings,
}

/// Settings that a command has options for.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `llm.record_dir`
    pub record_dir: Option<PathBuf>,
    /// `candidates`, unless it is empty
    pub candidates: Vec<Maker>,
    /// `port.workflow`
    pub workflow: Option<Workflow>,
    /// `llm.max_cost`
    pub max_cost: Option<f64>,
    /// `llm.max_tokens_per_run`
    pub max_tokens: Option<u64>,
}

impl Settings {
    pub(super) fn apply(&self, config: &mut Config) {
        let Self { record_dir, candidates, workflow, max_cost, max_tokens } = self.clone();
        let llm = &mut config.llm;
        llm.record_dir = record_dir.or(llm.record_dir.take());
        llm.max_cost = max_cost.or(llm.max_cost);
        llm.max_tokens_per_run = max_tokens.or(llm.max_tokens_per_run);
        config.port.workflow = workflow.unwrap_or(config.port.workflow);
        if !candidates.is_empty() {
            config.candidates = candidates;
        }
    }
}
