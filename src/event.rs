//! Events of a running command. Code emits them; the reporters in `report` display them.

use crate::symbol::SymbolName;
use crate::test_record::{EvolutionRound, TestGenEvent};
use crate::verdict::{Finding, Grade, RunStats};

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A long step begins; `total` is known where progress can be measured.
    StepStarted { step: String, total: Option<u64> },
    /// So much of the running step, of which `total` is known, is done.
    StepProgress { done: u64, total: u64 },
    /// The running step ended.
    StepFinished { message: String },
    /// A file was written, changed or left alone on purpose.
    Note { text: String },
    /// Something that the user should know, and that stops nothing.
    Warning { text: String, help: Option<String> },
    /// Work on a symbol begins: number `index` (from 1) of `total`, which are numbered apart for each kind of `work`.
    SymbolStarted { symbol: SymbolName, work: &'static str, index: usize, total: usize },
    /// A step of the loop was taken, with the reason.
    SymbolStep { symbol: SymbolName, attempt: u32, step: String },
    /// The fuzzer is running.
    Fuzzing { symbol: SymbolName, stats: RunStats },
    /// The C original disagrees.
    Found { symbol: SymbolName, finding: Box<Finding> },
    /// The C original is at fault on an input: the number and the words of the stored finding.
    CFault { symbol: SymbolName, id: i64, what: String },
    /// Tests of a symbol are generated.
    TestGen { symbol: SymbolName, event: TestGenEvent },
    /// A round of evolution of TestGen's configuration ended; there are `rounds` of them.
    Evolved { round: Box<EvolutionRound>, rounds: u32 },
    /// Work on a symbol ended, with a grade where its port was judged.
    SymbolFinished { symbol: SymbolName, ok: bool, grade: Option<Grade>, summary: String },
}

/// Where events go. The two implementors are the terminal and the JSON reporter.
pub trait Reporter {
    /// Takes note of an event; must not fail.
    fn event(&mut self, event: Event);
}
