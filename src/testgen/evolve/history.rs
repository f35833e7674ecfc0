//! What a model is told of the past: the last runs, and what became of the last proposals.

use crate::error::Result;
use crate::store::{EvolutionRow, Store};
use crate::test_record::{ConfigId, RunId, TestGenConfig, TestGenRun};
use std::collections::BTreeSet;

/// Runs, and rounds, that are told.
pub const LAST: usize = 5;
/// Runs that are looked through for them.
const LOOKED_AT: usize = 500;

/// A run with the configuration that it had.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    pub run: TestGenRun,
    /// Of the function: the key of a run's symbol is nothing that a model knows.
    pub name: String,
    pub config: TestGenConfig,
}

/// Runs and rounds, oldest first, at most five of each. Runs of candidates that lost are not among them: what they say is in
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
        // A round that was broken off, or not measured, says nothing against its candidate.
        let compared = rounds.iter().filter(|row| row.actual_improvement.is_some());
        let tried = compared.filter_map(|row| row.to);
        let lost: BTreeSet<ConfigId> = tried.filter(|id| *id != current && !won.contains(id)).collect();
        let recent = store.recent_testgen_runs(LOOKED_AT, None)?;
        let of_current = recent.iter().find(|run| run.config == current).map(|run| run.run_id.clone());
        let told = recent.into_iter().filter(|run| !lost.contains(&run.config)).take(LAST);
        let names = store.names()?;
        let mut runs = Vec::new();
        for run in told {
            if let Some(row) = store.testgen_config(run.config)? {
                let name = names.get(&run.symbol).map_or_else(|| run.symbol.0.clone(), ToString::to_string);
                runs.push(Past { name, config: row.config, run });
            }
        }
        runs.reverse();
        rounds.drain(..rounds.len().saturating_sub(LAST));
        Ok(Self { runs, rounds, of_current })
    }
}
