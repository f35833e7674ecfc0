//! Who came through, of those that tried.

/// How many of those that tried came through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passes {
    pub passed: u64,
    /// Those that came to an end.
    pub attempted: u64,
    /// The others: what would have become of them nobody knows.
    pub interrupted: u64,
}

/// What became of one that tried.
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
    /// Counts each of these.
    pub(super) fn of(all: impl IntoIterator<Item = Fate>) -> Self {
        all.into_iter().fold(Self::default(), |sum, fate| Self {
            passed: sum.passed + u64::from(fate == Fate::Passed),
            attempted: sum.attempted + u64::from(fate != Fate::Interrupted),
            interrupted: sum.interrupted + u64::from(fate == Fate::Interrupted),
        })
    }

    /// All that were begun.
    pub fn begun(self) -> u64 {
        self.attempted + self.interrupted
    }

    /// From 0 to 1; none where nobody tried.
    pub fn rate(self) -> Option<f64> {
        (self.attempted > 0).then(|| self.passed as f64 / self.attempted as f64)
    }
}
