//! `[grade]`: the thresholds below which a port is weak, and the grades that a user can ask for.

use serde::{Deserialize, Serialize};

/// `[grade]`: what a port must show to be called verified.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grades {
    /// The least grade that commands are content with.
    pub least: Least,
    /// Measure harness and coverage where nothing is known of them; without, ports stay weak.
    pub measure: bool,
    /// Share of inputs that C accepts, 0 to 1.
    pub accept_rate: f64,
    /// Executions of the run that accepted the port.
    pub executions: u64,
    /// Share of C mutants that the harness kills, 0 to 1.
    pub kills: f64,
    /// Share of the C function's branches that the run reached, 0 to 1.
    pub branches: f64,
    /// Time for the mutants of one function, seconds.
    pub mutant_seconds: u64,
}

impl Default for Grades {
    fn default() -> Self {
        Self {
            least: Least::default(),
            measure: true,
            accept_rate: 0.5,
            executions: 10_000,
            kills: 0.8,
            branches: 0.9,
            mutant_seconds: 10,
        }
    }
}

/// The lowest grade to be content with.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Least {
    /// Ports that no harness can judge will do, too.
    Unverifiable,
    /// A run judged the port and did not refute it.
    Weak,
    #[default]
    Verified,
}

impl Least {
    /// As it is written in the file.
    pub fn word(self) -> &'static str {
        self.into()
    }
}
