//! `check`: compares the tree with `implfuzz.lock`. It needs files and nothing else: no compiler, no libclang, no database,
//! no lock of the workspace. What it read of modules it may note for the next time, in a file of its own.
//!
//! The audit is repeated on what stands in the tree. What a port may use follows from `ffi.rs`, `globals.rs` and the other
//! modules; the lock adds what only the analysis of C knows: the signature, the functions of the system and the variables
//! that the original uses, and which functions lead back to it.

mod c_side;
mod known;
mod notes;
mod rust_side;

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::{CTree, Crate, ports_called, ports_hash};
use crate::lock::{Entry, Hashes, LOCK_FILE, Lock};
use crate::ported::Ported;
use crate::rust::signature::rust_name;
use crate::verdict::Grade;
use c_side::CSide;
use known::symbol;
use rust_side::{Facts, RustSide};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// What is wrong with a symbol, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// Written, and the lock knows nothing of it.
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
        match self {
            Self::Unjudged => "unjudged",
            Self::Stale => "stale",
            Self::Stub => "stub",
            Self::Missing => "missing",
            Self::Refuted => "refuted",
            Self::Audit => "audit",
        }
    }

    /// Whether a run of `verify` is what it asks for.
    pub fn asks_for_verify(self) -> bool {
        matches!(self, Self::Unjudged | Self::Stale | Self::Audit)
    }
}

/// A symbol that needs somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Complaint {
    pub symbol: String,
    /// Relative to the root.
    pub file: String,
    pub line: usize,
    pub trouble: Trouble,
    pub reason: String,
    /// The command that mends it.
    pub help: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// By file and line.
    pub symbols: Vec<Complaint>,
    /// Ports whose evidence holds, by grade.
    pub holds: BTreeMap<String, usize>,
    /// Functions that were never ported.
    pub stubs: usize,
}

const NO_PANIC: &str = "reading C text does not panic";

/// Where a repository has the notes of its checks, relative to its root.
pub const NOTES: &str = ".implfuzz/cache/check.json";

/// Checks the repository at `root`, or what `only` names of it: symbols, Rust files, C files. What is in the file `notes` saves
/// time, and is brought up to date.
pub fn check(root: &Path, config: &Config, only: &[String], notes: Option<&Path>) -> Result<Checked> {
    let files = Crate::new(root.join(&config.rust.dir));
    let lock = OnceLock::new();
    let check = std::thread::scope(|scope| {
        let tree = scope.spawn(|| files.units(&config.c).map(|units| CTree::read(root, &units)));
        let (read, text) = Lock::load_text(root)?.unwrap_or_default();
        let lock = lock.get_or_init(|| read);
        let c = scope.spawn(move || Ok(CSide::of(tree.join().expect(NO_PANIC)?, lock)));
        let rust = RustSide::read((root, &config.rust.dir), &files, (lock, &text), notes);
        let c: Result<CSide> = c.join().expect(NO_PANIC);
        Ok::<_, Error>(Check { lock, c: c?, rust: rust? })
    })?;
    let lock = check.lock;
    let mut checked = Checked::default();
    let mut known = Vec::new();
    for (name, module) in check.symbols() {
        known.push((name.clone(), module.clone()));
        if is_asked_for(only, &name, &check.rust.path(&module), lock.symbols.get(&name)) {
            check.one(&name, &module, &mut checked);
        }
    }
    let unknown = |wanted: &&String| {
        let asked = |(name, module): &(String, String)| {
            is_asked_for(&[(*wanted).clone()], name, &check.rust.path(module), lock.symbols.get(name))
        };
        !known.iter().any(asked)
    };
    if let Some(wanted) = only.iter().find(unknown) {
        let text = format!("`{wanted}` is neither a function of the port nor a file with one");
        return Err(
            Error::new(ErrorKind::Usage, text).help("`cargo implfuzz check` without a name looks at all")
        );
    }
    checked.symbols.sort_by(|a, b| (&a.file, a.line, &a.symbol).cmp(&(&b.file, b.line, &b.symbol)));
    Ok(checked)
}

fn is_asked_for(only: &[String], name: &str, path: &str, entry: Option<&Entry>) -> bool {
    let is = |wanted: &String| {
        let wanted = wanted.trim_start_matches("./");
        wanted == name || wanted == path || entry.is_some_and(|entry| entry.unit == wanted)
    };
    only.is_empty() || only.iter().any(is)
}

/// The two sides and the lock between them.
struct Check<'l> {
    lock: &'l Lock,
    rust: RustSide,
    c: CSide<'l>,
}

impl Check<'_> {
    /// All functions of the library that have a Rust function or evidence, each with its module.
    fn symbols(&self) -> BTreeMap<String, String> {
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

    /// The hash of the ports that a symbol calls as the tree stands: what ran as C when it was judged may be a port by now.
    fn rust_calls(&self, symbol: &str) -> String {
        let functions = &self.rust.functions;
        let own = if functions.contains_key(symbol) { symbol.to_owned() } else { rust_name(symbol) };
        let calls = ports_called(&own, |name| functions.get(name)?.mentions.as_ref());
        ports_hash(&calls.into_iter().collect::<Vec<_>>(), &|name| functions.get(name)?.hash.clone())
    }

    fn one(&self, name: &str, module: &str, checked: &mut Checked) {
        let facts = self.facts(name);
        let entry = self.lock.symbols.get(name);
        let state = facts.map_or(Ported::Missing, |facts| facts.state);
        let complain = |trouble: Trouble, line: Option<usize>, reason: String, help: String| Complaint {
            symbol: name.to_owned(),
            file: self.rust.path(module),
            line: line.or(facts.map(|facts| facts.line)).unwrap_or(1),
            trouble,
            reason,
            help,
        };
        let verify = format!("cargo implfuzz verify {name}");
        let complaint = match (state, entry) {
            (Ported::Yes, None) => {
                complain(Trouble::Unjudged, None, format!("{LOCK_FILE} has no evidence of it"), verify)
            }
            (Ported::Yes, Some(entry)) => match self.judged(name, facts, entry) {
                None => {
                    *checked.holds.entry(entry.grade.word().to_owned()).or_default() += 1;
                    return;
                }
                Some((trouble @ (Trouble::Audit | Trouble::Refuted), line, reason)) => {
                    complain(trouble, line, reason, format!("correct it, then {verify}"))
                }
                Some((trouble, line, reason)) => complain(trouble, line, reason, verify),
            },
            (_, None) => {
                checked.stubs += 1;
                return;
            }
            (Ported::Stub, Some(_)) => complain(
                Trouble::Stub,
                None,
                format!("it was ported, says {LOCK_FILE}, and is a stub now"),
                format!("write it again, or cargo implfuzz port {name}; if it is to stay a stub: {verify}"),
            ),
            (Ported::Missing, Some(_)) => complain(
                Trouble::Missing,
                None,
                format!("it was ported, says {LOCK_FILE}, and is not there any more"),
                "cargo implfuzz init, which brings stubs back; then cargo implfuzz verify --stale".into(),
            ),
        };
        checked.symbols.push(complaint);
    }

    /// What is wrong with a port that has evidence, where and why.
    fn judged(
        &self,
        name: &str,
        facts: Option<&Facts>,
        entry: &Entry,
    ) -> Option<(Trouble, Option<usize>, String)> {
        let Some((facts, files)) = facts.and_then(|facts| Some((facts, facts.files.as_ref()?))) else {
            return Some((Trouble::Stale, None, "nothing that it was judged on was found".to_owned()));
        };
        let was = &entry.hashes;
        let now = Hashes {
            c: self.c.hash(name),
            contract: files.contract.clone(),
            harness: files.harness.clone(),
            rust: facts.hash.clone().unwrap_or_default(),
            rust_calls: self.rust_calls(name),
            seeds: files.seeds.clone(),
        };
        if let Some(reason) = &self.rust.open {
            return Some((Trouble::Audit, None, format!("the audit rejects it: {reason}")));
        }
        // What a port may use follows from C; where that is another now, only `verify` knows.
        if let Some((line, reason)) = facts.rejected.as_ref().filter(|_| was.c == now.c) {
            return Some((Trouble::Audit, Some(*line), format!("the audit rejects it: {reason}")));
        }
        if let Some(reason) = entry.mixed() {
            return Some((Trouble::Stale, None, reason.to_owned()));
        }
        let changed: Vec<String> = [
            (was.c != now.c).then(|| self.c.changed(entry)),
            (was.contract != now.contract).then(|| "the contract changed".to_owned()),
            (was.harness != now.harness).then(|| "the harness changed".to_owned()),
            (was.rust != now.rust).then(|| "the Rust text changed".to_owned()),
            (was.rust_calls != now.rust_calls).then(|| "a port that it calls changed".to_owned()),
            (was.seeds != now.seeds).then(|| "the committed inputs changed".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !changed.is_empty() {
            return Some((Trouble::Stale, None, format!("since it was judged, {}", changed.join(", "))));
        }
        let refuted = entry.grade == Grade::Refuted;
        refuted.then(|| (Trouble::Refuted, None, "the C original disagrees, or the linkage does".to_owned()))
    }
}
