//! What a model is told of the past: the last runs, and what became of the last proposals.

use crate::error::Result;
use crate::store::{EvolutionRow, Store};
use crate::testgen::{ConfigId, RunId, TestGenConfig, TestGenRun};
use std::collections::{BTreeMap, BTreeSet};

/// Runs, and rounds, that are told.
pub const LAST: usize = 5;
/// Runs that are looked through for them.
const LOOKED_AT: usize = 500;

/// A run with the configuration that it had.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    pub run: TestGenRun,
    pub config: TestGenConfig,
}

/// Runs and rounds, oldest first, at most [`LAST`] of each. Runs of candidates that lost are not among them: what they say is in
/// their rounds, and they say nothing about the configuration that is current.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    pub runs: Vec<Past>,
    pub rounds: Vec<EvolutionRow>,
    /// The last run of the current configuration.
    pub of_current: Option<RunId>,
}

impl History {
    /// From the store, for the configuration that is current.
    pub fn read(store: &Store, current: ConfigId) -> Result<Self> {
        let mut rounds = store.testgen_evolution()?;
        let won: BTreeSet<ConfigId> =
            rounds.iter().filter(|row| row.accepted).filter_map(|row| row.to).collect();
        let tried = rounds.iter().filter_map(|row| row.to);
        let lost: BTreeSet<ConfigId> = tried.filter(|id| *id != current && !won.contains(id)).collect();
        let recent = store.recent_testgen_runs(LOOKED_AT, None)?;
        let of_current = recent.iter().find(|run| run.config == current).map(|run| run.run_id.clone());
        let told = recent.into_iter().filter(|run| !lost.contains(&run.config)).take(LAST);
        let mut configs: BTreeMap<ConfigId, TestGenConfig> = BTreeMap::new();
        let mut runs = Vec::new();
        for run in told {
            if !configs.contains_key(&run.config) {
                let Some(row) = store.testgen_config(run.config)? else { continue };
                configs.insert(run.config, row.config);
            }
            if let Some(config) = configs.get(&run.config) {
                runs.push(Past { config: config.clone(), run });
            }
        }
        runs.reverse();
        rounds.drain(..rounds.len().saturating_sub(LAST));
        Ok(Self { runs, rounds, of_current })
    }
}
