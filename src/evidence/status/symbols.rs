//! The status of each function: what stands in the tree, the record in the lock, and what is wrong between both.

use super::audit::symbol;
use super::c_side::CSide;
use super::problem::{Problem, Trouble};
use super::rust_side::{Facts, RustSide};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::evidence::fingerprint::{CTree, Crate, Fingerprint, drivers_hash};
use crate::evidence::lock::{Entry, Lock};
use crate::project::ported::Ported;
use crate::rust::signature::rust_name;
use crate::verdict::Grade;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

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
        let rust = RustSide::read(root, &config.rust.dir, &files, lock, &text, notes);
        let c: Result<CSide> = c.join().expect(NO_PANIC);
        Ok::<_, Error>(Sides { root, config, lock, c: c?, rust: rust?, drivers: RefCell::default() })
    })?;
    let symbols = sides.names().into_iter().map(|(name, module)| {
        let one = sides.one(&name, &module);
        (name, one)
    });
    Ok(Status { symbols: symbols.collect() })
}

/// The two sides and the lock between them.
struct Sides<'l> {
    root: &'l Path,
    config: &'l Config,
    lock: &'l Lock,
    rust: RustSide,
    c: CSide<'l>,
    /// The hashes of drivers, which many ports have in common.
    drivers: RefCell<BTreeMap<Vec<String>, String>>,
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
            (Ported::Yes, None) => Some(Problem::unjudged()),
            (Ported::Yes, Some(entry)) => self.problem(name, facts, entry),
            (_, None) => None,
            (Ported::Stub, Some(_)) => Some(Problem::stub()),
            (Ported::Missing, Some(_)) => Some(Problem::missing()),
        };
        SymbolStatus {
            file: self.rust.path(module),
            line: facts.map_or(1, |facts| facts.text.line),
            state,
            entry: entry.cloned(),
            problem,
        }
    }

    /// What is wrong with a port that has a record.
    fn problem(&self, name: &str, facts: Option<&Facts>, entry: &Entry) -> Option<Problem> {
        let now = |facts| Some((facts, self.fingerprint(name, facts, &entry.driver_files)?));
        let Some((facts, now)) = facts.and_then(now) else {
            return Some(Problem::stale("nothing that its verdict depends on was found"));
        };
        if let Some(reason) = &self.rust.open {
            return Some(Problem::audit(None, reason));
        }
        let was = &entry.fingerprint;
        // What a port may use follows from C; where that is another now, only `verify` knows.
        if let Some((line, reason)) = facts.text.rejected.as_ref().filter(|_| was.c == now.c) {
            return Some(Problem::audit(Some(*line), reason));
        }
        let stale = || entry.mixed().map(Problem::stale);
        let changed = || Problem::changed((was, &now), || self.c.changed(entry), &entry.driver_files);
        let refuted = || (entry.grade == Grade::Refuted).then(|| Problem::refuted(&entry.shortcomings));
        let gone = entry.driver_files.iter().find(|file| !self.root.join(file).is_file());
        let gone =
            gone.map(|file| Problem::stale(&format!("the driver {file}, which judged it, is not there")));
        stale().or(gone).or_else(changed).or_else(refuted)
    }

    fn drivers_hash(&self, drivers: &[String]) -> String {
        let hash = || drivers_hash(self.root, self.config, self.c.library_flags(), drivers);
        self.drivers.borrow_mut().entry(drivers.to_vec()).or_insert_with(hash).clone()
    }

    /// What a verdict on a port would be about now.
    fn fingerprint(&self, name: &str, facts: &Facts, drivers: &[String]) -> Option<Fingerprint> {
        let functions = &self.rust.functions;
        let own = if functions.contains_key(name) { name.to_owned() } else { rust_name(name) };
        let hash_of = |name: &str| functions.get(name)?.text.hash.clone();
        let mentions_of = |name: &str| functions.get(name)?.text.mentions.as_ref();
        let drivers = self.drivers_hash(drivers);
        let (c, files, constants) = (self.c.hash(name), facts.files.clone()?, &self.rust.constants);
        let own = Fingerprint::of(&own, c, files, constants, (hash_of, mentions_of));
        Some(Fingerprint { drivers, ..own })
    }
}
