//! What is said about a port, and how strongly. Values only; who arrives at them lives in `fuzz` and `verify`.

mod call_in_place;

pub use call_in_place::{Answered, CallInPlace, OtherAnswer, condition};

use crate::error::Code;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state of a symbol. What leads to which is in `grade`.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Grade {
    /// The Rust body is still the generated stub.
    Stub,
    /// Written, but no run has judged this text yet.
    #[default]
    Unjudged,
    /// Judged once, but the C text, the contract or the Rust text has changed since.
    Stale,
    /// The C original disagrees.
    Refuted,
    /// No harness can judge it yet: the reason is stored beside.
    Unverifiable,
    /// No difference from the C original was found, but a proof is missing or short of its threshold: which is stored beside.
    Weak,
    /// No difference was found, and every proof is there.
    Verified,
    /// Every input that the contract admits was tried, by a harness that tells mutants from the original.
    Exhaustive,
}

impl Grade {
    /// One word, as in tables and JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Whether nothing refutes the port and a run judged it, so that other ports may be built on it.
    pub fn holds(self) -> bool {
        matches!(self, Self::Weak | Self::Verified | Self::Exhaustive)
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub reached: u64,
    pub total: u64,
}

impl Share {
    /// 0 to 1; zero of zero is zero, never a pass.
    pub fn ratio(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.reached as f64 / self.total as f64 }
    }
}

/// A proof that was made, or why it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured<T> {
    Yes(T),
    No(String),
}

impl<T> Default for Measured<T> {
    fn default() -> Self {
        Self::No("unmeasured".into())
    }
}

impl<T> Measured<T> {
    /// What was measured.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Yes(value) => Some(value),
            Self::No(_) => None,
        }
    }
}

/// What is known of a port beyond that no input refuted it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proofs {
    /// Mutants of the C function that its harness tells from it.
    pub kills: Measured<Share>,
    /// Inputs on which both sides agree from processes of their own, of those that C accepts.
    pub apart: Measured<Share>,
    /// Branches of the C function that the inputs of the run reached.
    pub branches: Measured<Share>,
}

/// Classes of findings.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FindingClass {
    /// Both sides returned, with different effects.
    Mismatch,
    /// The port panicked.
    Panic,
    /// The port aborted, or died by a signal.
    Abort,
    /// The port ran past the time limit of one call.
    Timeout,
    /// The port ran past the memory limit.
    OutOfMemory,
    /// The port wrote outside of the memory it was given.
    OutOfBounds,
    /// The port kept memory, call after call, that the C original gives back.
    Leak,
    /// The port asked the operating system for something that its C function does not ask for.
    SystemCall,
    /// The port changed a variable of its own, which can keep something for later calls.
    State,
    /// The fuzz process ended without reporting, as a port that exits the process makes it.
    SilentExit,
    // What the sanitizers say of the C original.
    HeapBufferOverflow,
    StackBufferOverflow,
    GlobalBufferOverflow,
    UseAfterFree,
    DoubleFree,
    NullDeref,
    /// Overflow, shift, division, or conversion of numbers for which C has no answer.
    IntegerUb,
    /// The C original disagrees with itself.
    NonDeterminism,
}

impl FindingClass {
    /// The code that explains it.
    pub fn code(self) -> Code {
        match self {
            Self::Mismatch => Code::Mismatch,
            Self::Panic => Code::Panic,
            Self::Abort => Code::Abort,
            Self::Timeout => Code::Timeout,
            Self::OutOfMemory => Code::OutOfMemory,
            Self::OutOfBounds => Code::OutOfBounds,
            Self::Leak => Code::Leak,
            Self::SystemCall => Code::SystemCall,
            Self::State => Code::State,
            Self::SilentExit => Code::SilentExit,
            Self::HeapBufferOverflow
            | Self::StackBufferOverflow
            | Self::GlobalBufferOverflow
            | Self::UseAfterFree
            | Self::DoubleFree
            | Self::NullDeref
            | Self::IntegerUb => Code::Sanitizer,
            Self::NonDeterminism => Code::NonDeterminism,
        }
    }

    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// One input on which the port and the C original disagree, minimised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub class: FindingClass,
    /// What differs, in one line: `return value`, `buffer dst[3]`, the panic message.
    pub what: String,
    /// The fuzz input.
    pub input: Vec<u8>,
    /// Decoded arguments, name and value, in order.
    pub args: Vec<(String, String)>,
    /// What the C original made of it, part by part.
    pub oracle: Vec<(String, String)>,
    /// What the port made of it; empty where it did not return.
    pub subject: Vec<(String, String)>,
    /// Where it was found, if not by a harness: then the input is the driver's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CallInPlace>,
}

/// What the C original does alone on an input that the contract admits, so that no port can be blamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum CFaultKind {
    /// It breaks: a bug of C, or an input that it must not be given. Which of both, nothing here decides: this is where whoever
    /// reads reports and callers joins.
    #[serde(rename = "c-breaks")]
    #[strum(serialize = "c-breaks")]
    Breaks,
    /// It does not return in time: a precondition, or a bug.
    #[serde(rename = "c-hangs")]
    #[strum(serialize = "c-hangs")]
    Hangs,
    /// Two runs of it disagree.
    #[serde(rename = "c-differs")]
    #[strum(serialize = "c-differs")]
    Differs,
}

impl CFaultKind {
    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The same for people, with what this tool leaves open.
    pub fn told(self) -> &'static str {
        match self {
            Self::Breaks => {
                "the C original crashes on an input that the contract allows: a bug in C or a missing precondition"
            }
            Self::Hangs => {
                "the C original does not return in time on an input that the contract allows: a bug in C or a missing precondition"
            }
            Self::Differs => {
                "two runs of the C original on the same input disagree: its result depends on something besides the input, such as an address or uninitialised memory"
            }
        }
    }
}

/// Whether callers can bring a C fault about, as a model says it; nothing has checked it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reachability {
    /// Callers can, within the function's own promises: C has a bug.
    pub feasible: bool,
    /// It happens in real use; absent where the model did not say.
    #[serde(default)]
    pub reachable: Option<bool>,
    /// It matters for security; absent where the model did not say.
    #[serde(default)]
    pub security: Option<bool>,
    /// Where the text of the library shows it, as `file:line`.
    #[serde(default)]
    pub evidence: Vec<String>,
}

impl Reachability {
    /// In one line.
    pub fn text(&self) -> String {
        let mut words = vec![if self.feasible { "feasible" } else { "infeasible" }.to_owned()];
        words.extend(self.reachable.map(|yes| if yes { "reachable" } else { "not reachable" }.to_owned()));
        words.extend(self.security.map(|yes| if yes { "security" } else { "no security" }.to_owned()));
        words.extend(self.evidence.iter().cloned());
        words.join(", ")
    }
}

/// What a finding is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// C answers the input, always the same, and the port does not.
    Port,
    CFault(CFaultKind),
}

/// One input on which the C original alone breaks, hangs or disagrees with itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CFault {
    #[serde(rename = "fault")]
    pub kind: CFaultKind,
    /// Where two runs disagree, both of them in the places of C and the port.
    pub finding: Finding,
    /// What the sanitizer says, with the stack; empty where it says nothing.
    pub report: String,
}

/// What a fuzzing run measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStats {
    /// Inputs tried, accepted or not.
    pub executions: u64,
    /// Calls of the C original that returned.
    pub oracle_calls: u64,
    /// Calls of the port that returned.
    pub subject_calls: u64,
    /// Inputs discarded because the C original broke on them, by reason and place.
    pub rejected: Vec<(String, u64)>,
    /// Wall time, milliseconds.
    pub millis: u64,
    /// Wall time of the isolated replay behind it, milliseconds, and how much of it went to the port as it ships.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replay_millis: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shipped_millis: u64,
    /// libFuzzer's edge count at the end; absent when it did not say.
    pub edges: Option<u64>,
    pub seed: u32,
    /// Calls inside of drivers' executions in which the port did what C does.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_place: u64,
    /// So many inputs has the contract, and every one of them was run; absent when they were not enumerated.
    pub space: Option<u64>,
    /// Inputs on which C broke, one for each way.
    #[serde(skip)]
    pub broken: BTreeMap<String, Vec<u8>>,
    /// What became of those, where they were looked at.
    #[serde(skip)]
    pub c_faults: Vec<CFault>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RunStats {
    /// Share of inputs that the C original accepted, 0 to 1; absent without executions.
    pub fn accept_rate(&self) -> Option<f64> {
        (self.executions > 0).then(|| {
            let rejected: u64 = self.rejected.iter().map(|(_, n)| n).sum();
            1.0 - rejected.min(self.executions) as f64 / self.executions as f64
        })
    }
}

/// The outcome of judging one port by fuzzing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// No difference in `stats`; both sides were called at least once.
    Unrefuted(RunStats),
    Refuted {
        finding: Box<Finding>,
        stats: RunStats,
    },
    /// An input told the two sides apart, and C alone is the reason.
    #[serde(rename = "OfC")]
    CFault {
        found: Box<CFault>,
        stats: RunStats,
    },
    /// The run says nothing: no execution, no accepted input, one side never called.
    Vacuous {
        reason: String,
        stats: RunStats,
    },
}

impl Verdict {
    /// What the run measured.
    pub fn stats(&self) -> &RunStats {
        match self {
            Self::Unrefuted(stats)
            | Self::Refuted { stats, .. }
            | Self::CFault { stats, .. }
            | Self::Vacuous { stats, .. } => stats,
        }
    }

    /// What the run found out about C.
    pub fn c_faults(&self) -> impl Iterator<Item = &CFault> {
        let decides = match self {
            Self::CFault { found, .. } => Some(&**found),
            Self::Unrefuted(_) | Self::Refuted { .. } | Self::Vacuous { .. } => None,
        };
        decides.into_iter().chain(&self.stats().c_faults)
    }

    /// The same statistics, to be completed.
    pub fn stats_mut(&mut self) -> &mut RunStats {
        match self {
            Self::Unrefuted(stats)
            | Self::Refuted { stats, .. }
            | Self::CFault { stats, .. }
            | Self::Vacuous { stats, .. } => stats,
        }
    }
}
