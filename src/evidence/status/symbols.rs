//! The status of each function: what stands in the tree, the record in the lock, and what is wrong between both.

use super::audit::symbol;
use super::c_side::CSide;
use super::rust_side::{Facts, RustSide};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::evidence::fingerprint::{CTree, Crate, Fingerprint};
use crate::evidence::lock::{Entry, LOCK_FILE, Lock};
use crate::project::ported::Ported;
use crate::rust::signature::rust_name;
use crate::verdict::Grade;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

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

    /// Whether `verify --stale` judges the port.
    pub fn asks_for_verify(self) -> bool {
        matches!(self, Self::Unjudged | Self::Stale | Self::Audit)
    }

    /// The command that mends it.
    pub fn help(self, name: &str) -> String {
        let verify = format!("cargo implfuzz verify {name}");
        match self {
            Self::Unjudged | Self::Stale => verify,
            Self::BelowLeast => format!(
                "cargo implfuzz contract {name}; `least` under [check] in implfuzz.toml says what is accepted"
            ),
            Self::Stub => {
                format!("write it again, or cargo implfuzz port {name}; if it is to stay a stub: {verify}")
            }
            Self::Missing => {
                "cargo implfuzz init, which brings stubs back; then cargo implfuzz verify --stale".into()
            }
            Self::Refuted | Self::Audit => format!("correct it, then {verify}"),
        }
    }
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
}

/// What is known of one function.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolStatus {
    /// The Rust file, relative to the root.
    pub file: String,
    /// The function's line in it.
    pub line: usize,
    pub state: Ported,
    /// The record of the last verdict.
    pub entry: Option<Entry>,
    pub problem: Option<Problem>,
}

impl SymbolStatus {
    /// The grade that counts now.
    pub fn grade(&self) -> Grade {
        match (&self.problem, &self.entry) {
            (None, _) | (_, None) if self.state != Ported::Yes => Grade::Stub,
            (None, Some(entry)) => entry.grade,
            (Some(problem), entry) => match problem.trouble {
                Trouble::BelowLeast => entry.as_ref().map_or(Grade::Unjudged, |entry| entry.grade),
                Trouble::Unjudged => Grade::Unjudged,
                Trouble::Stale => Grade::Stale,
                Trouble::Stub | Trouble::Missing => Grade::Stub,
                Trouble::Refuted | Trouble::Audit => Grade::Refuted,
            },
            (None, None) => Grade::Unjudged,
        }
    }

    /// Whether `verify --stale` judges it.
    pub fn is_stale(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.trouble.asks_for_verify())
    }

    /// Why the grade is not better, where that is known.
    pub fn reason(&self) -> Option<String> {
        let shortcomings = || self.entry.as_ref().map(|entry| entry.shortcomings.join("; "));
        match &self.problem {
            Some(problem) => Some(problem.reason.clone()),
            None if self.state == Ported::Yes => shortcomings().filter(|text| !text.is_empty()),
            None => None,
        }
    }
}

/// The status of all functions of the library that have a Rust function or a record, by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Status {
    pub symbols: BTreeMap<String, SymbolStatus>,
}

impl Status {
    /// Of a symbol by its C name.
    pub fn of(&self, name: &str) -> Option<&SymbolStatus> {
        self.symbols.get(name).or_else(|| self.symbols.get(&rust_name(name)))
    }
}

const NO_PANIC: &str = "reading C text does not panic";

/// The status of the repository at `root`. What is in the file `notes` saves time, and is brought up to date.
///
/// # Errors
/// Files that are missing or cannot be read, among them a lock of another version.
pub fn status(root: &Path, config: &Config, notes: Option<&Path>) -> Result<Status> {
    let files = Crate::new(root.join(&config.rust.dir));
    let lock = OnceLock::new();
    let sides = std::thread::scope(|scope| {
        let tree = scope.spawn(|| files.units(&config.c).map(|units| CTree::read(root, &units)));
        let (read, text) = Lock::load_text(root)?.unwrap_or_default();
        let lock = lock.get_or_init(|| read);
        let c = scope.spawn(move || Ok(CSide::of(tree.join().expect(NO_PANIC)?, lock)));
        let rust = RustSide::read((root, &config.rust.dir), &files, (lock, &text), notes);
        let c: Result<CSide> = c.join().expect(NO_PANIC);
        Ok::<_, Error>(Sides { lock, c: c?, rust: rust? })
    })?;
    let symbols = sides.names().into_iter().map(|(name, module)| {
        let one = sides.one(&name, &module);
        (name, one)
    });
    Ok(Status { symbols: symbols.collect() })
}

/// The two sides and the lock between them.
struct Sides<'l> {
    lock: &'l Lock,
    rust: RustSide,
    c: CSide<'l>,
}

impl Sides<'_> {
    /// All functions of the library that have a Rust function or a record, each with its module.
    fn names(&self) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, String> =
            self.lock.symbols.iter().map(|(name, entry)| (name.clone(), entry.module.clone())).collect();
        let found = self.rust.functions.iter();
        all.extend(found.map(|(rust, facts)| (symbol(self.lock, rust).to_owned(), facts.module.clone())));
        all
    }

    /// What stands in Rust of a symbol.
    fn facts(&self, symbol: &str) -> Option<&Facts> {
        self.rust.functions.get(symbol).or_else(|| self.rust.functions.get(&rust_name(symbol)))
    }

    fn one(&self, name: &str, module: &str) -> SymbolStatus {
        let facts = self.facts(name);
        let entry = self.lock.symbols.get(name);
        let state = facts.map_or(Ported::Missing, |facts| facts.state);
        let problem = match (state, entry) {
            (Ported::Yes, None) => {
                Some(Problem::new(Trouble::Unjudged, format!("{LOCK_FILE} has no evidence of it")))
            }
            (Ported::Yes, Some(entry)) => self.problem(name, facts, entry),
            (_, None) => None,
            (Ported::Stub, Some(_)) => {
                let reason = format!("it was ported, says {LOCK_FILE}, and is a stub now");
                Some(Problem::new(Trouble::Stub, reason))
            }
            (Ported::Missing, Some(_)) => {
                let reason = format!("it was ported, says {LOCK_FILE}, and is not there any more");
                Some(Problem::new(Trouble::Missing, reason))
            }
        };
        SymbolStatus {
            file: self.rust.path(module),
            line: facts.map_or(1, |facts| facts.line),
            state,
            entry: entry.cloned(),
            problem,
        }
    }

    /// What is wrong with a port that has a record.
    fn problem(&self, name: &str, facts: Option<&Facts>, entry: &Entry) -> Option<Problem> {
        let Some((facts, now)) = facts.and_then(|facts| Some((facts, self.fingerprint(name, facts)?))) else {
            return Some(Problem::new(Trouble::Stale, "nothing that it was judged on was found"));
        };
        let audit = |reason: &str| Problem::new(Trouble::Audit, format!("the audit rejects it: {reason}"));
        if let Some(reason) = &self.rust.open {
            return Some(audit(reason));
        }
        let was = &entry.fingerprint;
        // What a port may use follows from C; where that is another now, only `verify` knows.
        if let Some((line, reason)) = facts.rejected.as_ref().filter(|_| was.c == now.c) {
            return Some(Problem { line: Some(*line), ..audit(reason) });
        }
        if let Some(reason) = entry.mixed() {
            return Some(Problem::new(Trouble::Stale, reason));
        }
        if let Some(reason) = was.changed(&now, || self.c.changed(entry)) {
            return Some(Problem::new(Trouble::Stale, reason));
        }
        let why = || match entry.shortcomings.is_empty() {
            true => "the C original disagrees, or the linkage does".to_owned(),
            false => entry.shortcomings.join("; "),
        };
        (entry.grade == Grade::Refuted).then(|| Problem::new(Trouble::Refuted, why()))
    }

    /// What a verdict on a port would be about now.
    fn fingerprint(&self, name: &str, facts: &Facts) -> Option<Fingerprint> {
        let functions = &self.rust.functions;
        let own = if functions.contains_key(name) { name.to_owned() } else { rust_name(name) };
        let hash_of = |name: &str| functions.get(name)?.hash.clone();
        let mentions_of = |name: &str| functions.get(name)?.mentions.as_ref();
        Some(Fingerprint::of(&own, self.c.hash(name), facts.files.clone()?, hash_of, mentions_of))
    }
}
