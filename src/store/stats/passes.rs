//! Pass rates over finished attempts.

/// Counts of passed, attempted and interrupted tries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passes {
    pub passed: u64,
    /// Finished tries.
    pub attempted: u64,
    /// Unfinished tries, with an unknown result.
    pub interrupted: u64,
}

/// The result of one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Passed,
    Failed,
    Interrupted,
}

impl Fate {
    pub fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

impl Passes {
    /// Counts these results.
    pub(super) fn of(all: impl IntoIterator<Item = Fate>) -> Self {
        all.into_iter().fold(Self::default(), |sum, fate| Self {
            passed: sum.passed + u64::from(fate == Fate::Passed),
            attempted: sum.attempted + u64::from(fate != Fate::Interrupted),
            interrupted: sum.interrupted + u64::from(fate == Fate::Interrupted),
        })
    }

    /// All started tries.
    pub fn begun(self) -> u64 {
        self.attempted + self.interrupted
    }

    /// From 0 to 1; `None` without a finished try.
    pub fn rate(self) -> Option<f64> {
        (self.attempted > 0).then(|| self.passed as f64 / self.attempted as f64)
    }
}
