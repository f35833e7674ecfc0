//! The Rust half of a check: the modules of the port, parsed once, and the audit of what stands in them. The modules are
//! shared out to threads.

use super::c_side::Callers;
use crate::audit::{Allowed, Around, Candidate, FfiNames, audit_items};
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::{Crate, port_hash};
use crate::lock::{Entry, Lock};
use crate::ported::{PortModule, Ported};
use crate::rust::item::fn_start;
use crate::rust::open;
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Modules that are generated, and hold no ports.
const GENERATED: [&str; 5] = ["lib", "ffi", "globals", "callee", "capi"];

/// The functions of the library as they stand in Rust, by their Rust names.
pub(super) struct RustSide {
    /// `rust/src`, relative to the root.
    folder: String,
    pub functions: HashMap<String, Facts>,
    /// Where and why no port can be judged, whichever it is.
    pub open: Option<String>,
}

/// What stands in the tree of one function.
pub(super) struct Facts {
    pub module: String,
    pub line: usize,
    pub state: Ported,
    /// The hash of a port.
    pub hash: Option<String>,
    /// For a port with evidence.
    pub files: Option<Files>,
}

/// Hashes of the files of a port, and where and why the audit rejects it.
pub(super) struct Files {
    pub contract: String,
    pub harness: String,
    pub seeds: String,
    pub rejected: Option<(usize, String)>,
}

/// What each thread may look at.
struct Shared<'a> {
    root: &'a Path,
    folder: String,
    files: &'a Crate,
    /// Names and texts of the modules.
    modules: Vec<(String, String)>,
}

/// What the lock and all modules together say.
struct Known<'l> {
    lock: &'l Lock,
    callers: Callers<'l>,
    ffi: Arc<FfiNames>,
    callees: Arc<BTreeSet<String>>,
    ported: Arc<BTreeMap<String, BTreeSet<String>>>,
    constants: Arc<BTreeSet<String>>,
}

/// The functions of each module, and which have a body.
type States = Vec<(String, BTreeMap<String, Ported>)>;

/// What stands in one module.
struct Seen {
    module: String,
    facts: Vec<(String, Facts)>,
    states: BTreeMap<String, Ported>,
    /// The line of an item that concerns every port.
    open: Option<usize>,
}

/// The symbol behind a Rust name: `type_` is how `type` must be written.
pub(super) fn symbol<'n>(lock: &Lock, rust: &'n str) -> &'n str {
    let plain = rust.strip_suffix('_').filter(|_| !lock.symbols.contains_key(rust));
    plain.filter(|plain| lock.symbols.contains_key(*plain)).unwrap_or(rust)
}

impl RustSide {
    /// Each module is parsed, audited and forgotten, so that few syntax trees are in memory at a time. What the audit must
    /// know of other modules is guessed before; where the guess was wrong all is done again.
    pub fn read(root: &Path, dir: &str, files: &Crate, lock: &Lock) -> Result<Self> {
        let folder = format!("{}/src", dir.trim_end_matches('/'));
        let mut shared = Shared { root, folder, files, modules: Vec::new() };
        for name in module_names(&root.join(&shared.folder))? {
            let text = shared.text(&name)?;
            shared.modules.push((name, text));
        }
        let guesses = shared.modules.iter().map(|(name, text)| (name.clone(), guess(text))).collect();
        let mut known = Known::of(lock, shared.names_of_c()?, guesses, &shared.text("globals")?);
        let mut seen = shared.all(&known)?;
        let states: States = seen.iter().map(|seen| (seen.module.clone(), seen.states.clone())).collect();
        if !known.fits(states.clone()) {
            known.learn(states);
            seen = shared.all(&known)?;
        }
        let open = seen.iter().find_map(|seen| Some((&seen.module, seen.open?)));
        let open = open.map(|(module, line)| open::reason(&format!("{}/{module}.rs:{line}", shared.folder)));
        let functions = seen.into_iter().flat_map(|seen| seen.facts).collect();
        Ok(Self { folder: shared.folder, functions, open })
    }

    /// The file of a module, relative to the root.
    pub fn path(&self, module: &str) -> String {
        format!("{}/{module}.rs", self.folder)
    }
}

impl Shared<'_> {
    fn text(&self, module: &str) -> Result<String> {
        fs::read_to_string(self.root.join(&self.folder).join(format!("{module}.rs")))
            .map_err(|error| Error::from(error).help("run `cargo implfuzz init` to write what is missing"))
    }

    fn not_rust(&self, module: &str, error: &syn::Error) -> Error {
        let at = error.span().start();
        let what = format!("{}/{module}.rs:{}:{}: not Rust: {error}", self.folder, at.line, at.column + 1);
        Error::new(ErrorKind::Build, what).help("correct it, or take the file as it was committed")
    }

    fn names_of_c(&self) -> Result<FfiNames> {
        FfiNames::read(&self.text("ffi")?).map_err(|error| self.not_rust("ffi", &error))
    }

    /// What stands in all modules, read by several threads.
    fn all(&self, known: &Known<'_>) -> Result<Vec<Seen>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
        let taken = AtomicUsize::new(0);
        let work = || -> Result<Vec<_>> {
            let next = || self.modules.get(taken.fetch_add(1, Ordering::Relaxed));
            std::iter::from_fn(next).map(|(name, text)| self.module(name, text, known)).collect()
        };
        let found: Result<Vec<_>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        let mut found: Vec<_> = found?.into_iter().flatten().collect();
        // Where two modules have a function of one name, it is the same one that counts each time.
        found.sort_by(|a, b| a.module.cmp(&b.module));
        Ok(found)
    }

    /// What stands in a module, and which of its functions have a body.
    fn module(&self, name: &str, text: &str, known: &Known<'_>) -> Result<Seen> {
        let port = PortModule::parse(text.to_owned()).map_err(|error| self.not_rust(name, &error))?;
        let states = port.public().map(|function| (function.to_owned(), port.state_of(function))).collect();
        let around = Around::of(&port.items().items.iter().collect::<Vec<_>>());
        let own = port.public().filter(|function| known.ffi.is_foreign(function));
        let facts =
            own.map(|function| (function.to_owned(), self.facts(function, (name, &port, &around), known)));
        let open = port.open_lines().into_iter().next();
        Ok(Seen { module: name.to_owned(), facts: facts.collect(), states, open })
    }

    fn facts(
        &self,
        name: &str,
        (module, port, around): (&str, &PortModule, &Around),
        known: &Known<'_>,
    ) -> Facts {
        let state = port.state_of(name);
        let symbol = symbol(known.lock, name);
        let entry = known.lock.symbols.get(symbol).filter(|_| state == Ported::Yes);
        let files = entry.map(|entry| {
            let contract = self.files.contract_again(symbol, &entry.hashes.contract, &entry.contract_text);
            // The signature must be the recorded one where the contract is.
            let signature =
                syn::parse_str(&entry.signature).ok().filter(|_| contract == entry.hashes.contract);
            let audited = Audited { name, module, port, around, entry, signature };
            let rejected = audited.rejected(known, known.callers.ways_back(entry));
            Files { contract, harness: self.files.harness(symbol), seeds: self.files.seeds(symbol), rejected }
        });
        let line = port.function(name).map_or(1, |item| fn_start(item).start().line);
        Facts { module: module.to_owned(), line, state, hash: port_hash(port, name), files }
    }
}

impl<'l> Known<'l> {
    fn of(lock: &'l Lock, ffi: FfiNames, states: States, globals: &str) -> Self {
        let (callees, ported) = spread(states, &ffi);
        Self {
            lock,
            callers: Callers::of(lock),
            ffi: Arc::new(ffi),
            callees: Arc::new(callees),
            ported: Arc::new(ported),
            constants: Arc::new(constants(globals)),
        }
    }

    /// Whether it would be the same with these states.
    fn fits(&self, states: States) -> bool {
        let (callees, ported) = spread(states, &self.ffi);
        callees == *self.callees && ported == *self.ported
    }

    fn learn(&mut self, states: States) {
        let (callees, ported) = spread(states, &self.ffi);
        (self.callees, self.ported) = (Arc::new(callees), Arc::new(ported));
    }
}

/// The functions of the library that are there, and by module those that have a body.
fn spread(states: States, ffi: &FfiNames) -> (BTreeSet<String>, BTreeMap<String, BTreeSet<String>>) {
    let mut callees = BTreeSet::new();
    let mut ported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, functions) in states {
        let own = ported.entry(module).or_default();
        for (name, state) in functions.into_iter().filter(|(name, _)| ffi.is_foreign(name)) {
            callees.insert(name.clone());
            own.extend((state == Ported::Yes).then_some(name));
        }
    }
    (callees, ported)
}

/// The functions of a module, and which are stubs, by the look of its lines.
fn guess(text: &str) -> BTreeMap<String, Ported> {
    let mut functions = BTreeMap::new();
    let mut last = None;
    for line in text.lines() {
        let head = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub unsafe fn "));
        if let Some(name) = head.and_then(|head| head.split(['(', '<']).next()) {
            functions.insert(name.to_owned(), Ported::Yes);
            last = Some(name);
        } else if let Some(name) = last.filter(|_| line.contains("unimplemented!")) {
            functions.insert(name.to_owned(), Ported::Stub);
        }
    }
    functions
}

/// A port that is audited again.
struct Audited<'a> {
    name: &'a str,
    module: &'a str,
    port: &'a PortModule,
    around: &'a Around,
    entry: &'a Entry,
    signature: Option<syn::Signature>,
}

impl Audited<'_> {
    /// Where and why the audit rejects it.
    fn rejected(self, known: &Known<'_>, mut ways_back: BTreeSet<String>) -> Option<(usize, String)> {
        ways_back.insert(self.name.to_owned());
        let own = self.port.function(self.name)?;
        let allowed = Allowed {
            ffi: Arc::clone(&known.ffi),
            callees: Arc::clone(&known.callees),
            ways_back,
            ported: Arc::clone(&known.ported),
            globals: self.entry.globals.iter().cloned().collect(),
            constants: Arc::clone(&known.constants),
            libc: self.entry.libc.iter().cloned().collect(),
            around: self.around.clone(),
            ..Allowed::new(self.signature.unwrap_or_else(|| own.sig.clone()))
        };
        let items = self.port.own_items(self.name);
        let candidate = Candidate { module: self.module, name: self.name, text: self.port.text() };
        let problems = audit_items(&candidate, &items, &allowed).problems;
        let line = problems.first()?.line;
        let reasons: Vec<String> = problems.into_iter().map(|problem| problem.reason).collect();
        Some((line, reasons.join("; ")))
    }
}

/// The modules that may hold ports.
fn module_names(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(".rs"));
        names.extend(name.filter(|name| !GENERATED.contains(name)).map(str::to_owned));
    }
    Ok(names)
}

/// The constants of `globals.rs`; tables are long, so its lines are read and not its syntax.
fn constants(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub static ")?.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).filter(|name| !name.starts_with("mut ")).collect()
}
