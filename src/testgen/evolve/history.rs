//! The history shown to a model: the last runs, and the outcomes of the last proposals.

use crate::error::Result;
use crate::store::{EvolutionRow, Store};
use crate::test_record::{ConfigId, RunId, TestGenConfig, TestGenRun};
use std::collections::BTreeSet;

/// Number of runs and of rounds that are shown.
pub const LAST: usize = 5;
/// Number of recent runs to choose from.
const LOOKED_AT: usize = 500;

/// A run with its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    pub run: TestGenRun,
    /// Name of the function, because a model does not know symbol keys.
    pub name: String,
    pub config: TestGenConfig,
}

/// Runs and rounds, oldest first, at most five of each. Runs of rejected candidates are left out: their rounds have
/// the result, and they say nothing about the current configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    pub runs: Vec<Past>,
    pub rounds: Vec<EvolutionRow>,
    /// The last run of the current configuration.
    pub of_current: Option<RunId>,
}

impl History {
    /// Reads the history of the current configuration from the store.
    pub fn read(store: &Store, current: ConfigId) -> Result<Self> {
        let mut rounds = store.testgen_evolution()?;
        let won: BTreeSet<ConfigId> =
            rounds.iter().filter(|row| row.accepted).filter_map(|row| row.to).collect();
        // A round that was interrupted or not measured is no evidence against its candidate.
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
