//! What can be wrong with a function, and every sentence that `check`, `status` and the hook say about it. `symbols` decides
//! which of them holds.

use crate::error::Code;
use crate::evidence::fingerprint::Fingerprint;
use crate::evidence::lock::LOCK_FILE;
use serde::Serialize;

/// What is wrong with a symbol, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Trouble {
    /// Its evidence holds, and `check.least` asks for a better grade: `check` alone says so.
    BelowLeast,
    /// Written, and the lock has no record of it.
    Unjudged,
    /// What it was judged on has changed.
    Stale,
    /// It was ported and is a stub now.
    Stub,
    /// It was ported and is not there any more.
    Missing,
    /// The C original disagrees.
    Refuted,
    /// The audit rejects it.
    Audit,
}

impl Trouble {
    /// One word, as in text.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The code that explains it.
    pub fn code(self) -> Code {
        match self {
            Self::BelowLeast => Code::BelowLeast,
            Self::Unjudged => Code::Unjudged,
            Self::Stale => Code::Stale,
            Self::Stub => Code::Stub,
            Self::Missing => Code::Missing,
            Self::Refuted => Code::Refuted,
            Self::Audit => Code::Audit,
        }
    }

    /// Whether `verify --stale` judges the port.
    pub fn asks_for_verify(self) -> bool {
        matches!(self, Self::Unjudged | Self::Stale | Self::Audit)
    }

    /// The command that mends it.
    pub fn help(self, name: &str) -> String {
        let verify = format!("cargo implfuzz verify {name}");
        match self {
            Self::Unjudged | Self::Stale => verify,
            Self::BelowLeast => below_least(name, "check"),
            Self::Stub => {
                format!("write it again, or cargo implfuzz port {name}; if it is to stay a stub: {verify}")
            }
            Self::Missing => format!(
                "cargo implfuzz init brings its stub back: then write it again, or cargo implfuzz port {name}; if its C function \
                 is gone, too, cargo implfuzz verify --stale removes its evidence"
            ),
            Self::Refuted | Self::Audit => format!("correct it, then {verify}"),
        }
    }
}

/// How to get a better grade, or to accept this one; `table` of the settings has the lowest grade.
pub fn below_least(name: &str, table: &str) -> String {
    format!(
        "cargo implfuzz contract --check {name} lists the mutants that its harness does not kill, and cargo implfuzz drivers \
         --check {name} those that drivers do not; `least` under [{table}] in implfuzz.toml sets the lowest accepted grade"
    )
}

/// What is wrong with a symbol, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub trouble: Trouble,
    /// The line of the Rust file, where it is another one than the function's.
    pub line: Option<usize>,
    pub reason: String,
}

impl Problem {
    fn new(trouble: Trouble, reason: impl Into<String>) -> Self {
        Self { trouble, line: None, reason: reason.into() }
    }

    pub(super) fn unjudged() -> Self {
        Self::new(Trouble::Unjudged, format!("{LOCK_FILE} has no evidence for it"))
    }

    pub(super) fn stub() -> Self {
        Self::new(Trouble::Stub, format!("{LOCK_FILE} lists it as ported, but it is a stub now"))
    }

    pub(super) fn missing() -> Self {
        Self::new(Trouble::Missing, format!("{LOCK_FILE} lists it as ported, but it does not exist any more"))
    }

    pub(super) fn stale(reason: &str) -> Self {
        Self::new(Trouble::Stale, reason)
    }

    /// `c` names the C text that changed, and `drivers` are those that judged the port.
    pub(super) fn changed(
        (was, now): (&Fingerprint, &Fingerprint),
        c: impl FnOnce() -> String,
        drivers: &[String],
    ) -> Option<Self> {
        let driver = match drivers {
            [one] => format!("the driver {one} or a file that it includes"),
            all => format!("one of the drivers {} or a file that they include", all.join(", ")),
        };
        let others = [
            ("the contract", was.contract != now.contract),
            ("the harness or the crate's manifest", was.harness != now.harness),
            ("the Rust text", was.rust != now.rust),
            ("a port that it calls or a constant that it names", was.rust_calls != now.rust_calls),
            ("its inputs in `fuzz/seeds/`", was.seeds != now.seeds),
            (driver.as_str(), was.drivers != now.drivers),
        ];
        let others =
            others.into_iter().filter(|(_, changed)| *changed).map(|(what, _)| format!("{what} changed"));
        let changed: Vec<String> = (was.c != now.c).then(c).into_iter().chain(others).collect();
        let reason = (!changed.is_empty()).then(|| format!("since it was judged, {}", changed.join(", ")))?;
        Some(Self::new(Trouble::Stale, reason))
    }

    /// `line` is the place of what the audit rejects, where it is known.
    pub(super) fn audit(line: Option<usize>, reason: &str) -> Self {
        Self { line, ..Self::new(Trouble::Audit, format!("the audit rejects it: {reason}")) }
    }

    pub(super) fn refuted(shortcomings: &[String]) -> Self {
        let reason = match shortcomings {
            [] => "a run or the linkage proof refuted it".to_owned(),
            some => some.join("; "),
        };
        Self::new(Trouble::Refuted, reason)
    }
}
