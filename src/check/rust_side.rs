//! The Rust half of a check: the modules of the port, parsed once, and the audit of what stands in them. The modules are
//! shared out to threads, which tell each other what is ported before they audit.

use super::c_side::Callers;
use crate::audit::{Allowed, Around, Candidate, FfiNames, audit_items};
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::{Crate, port_hash};
use crate::lock::{Entry, Lock};
use crate::ported::{PortModule, Ported};
use crate::rust::item::fn_start;
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// Modules that are generated, and hold no ports.
const GENERATED: [&str; 5] = ["lib", "ffi", "globals", "callee", "capi"];

/// The functions of the library as they stand in Rust, by their Rust names.
pub(super) struct RustSide {
    /// `rust/src`, relative to the root.
    folder: String,
    pub functions: HashMap<String, Facts>,
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
    names: Vec<String>,
    /// How many of them were taken.
    taken: AtomicUsize,
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

/// The functions of a module, and which have a body.
type States = Vec<(String, Vec<(String, Ported)>)>;

/// The symbol behind a Rust name: `type_` is how `type` must be written.
pub(super) fn symbol<'n>(lock: &Lock, rust: &'n str) -> &'n str {
    let plain = rust.strip_suffix('_').filter(|_| !lock.symbols.contains_key(rust));
    plain.filter(|plain| lock.symbols.contains_key(*plain)).unwrap_or(rust)
}

/// A thread that reads modules, and the ways to and from it.
struct Worker<'scope, 'l> {
    thread: ScopedJoinHandle<'scope, Result<Vec<(String, Facts)>>>,
    told: Receiver<States>,
    say: SyncSender<Arc<Known<'l>>>,
}

/// Threads that read the modules of the port while others read what they will be compared with.
pub(super) struct Reading<'scope, 'l> {
    shared: Arc<Shared<'l>>,
    workers: Vec<Worker<'scope, 'l>>,
}

impl<'scope, 'l: 'scope> Reading<'scope, 'l> {
    pub fn start(
        scope: &'scope Scope<'scope, 'l>,
        root: &'l Path,
        dir: &str,
        files: &'l Crate,
    ) -> Result<Self> {
        let folder = format!("{}/src", dir.trim_end_matches('/'));
        let names = module_names(&root.join(&folder))?.into_iter().collect();
        let shared = Arc::new(Shared { root, folder, files, names, taken: AtomicUsize::new(0) });
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
        let worker = |_| {
            let ((tell, told), (say, said)) = (sync_channel(1), sync_channel(1));
            let shared = Arc::clone(&shared);
            Worker { thread: scope.spawn(move || shared.work(&tell, &said)), told, say }
        };
        Ok(Self { workers: (0..threads).map(worker).collect(), shared })
    }

    /// Has the threads audit what they read, and waits for them.
    pub fn finish(self, lock: &'l Lock) -> Result<RustSide> {
        let ffi = self.shared.names_of_c();
        // A thread that failed says nothing here, and why below.
        let states: States = self.workers.iter().filter_map(|w| w.told.recv().ok()).flatten().collect();
        let known = ffi.and_then(|ffi| Ok(Known::of(lock, ffi, states, &self.shared.text("globals")?)));
        let known = known.map(Arc::new);
        if let Ok(known) = &known {
            self.workers.iter().for_each(|worker| drop(worker.say.send(Arc::clone(known))));
        }
        let results = self.workers.into_iter().map(|worker| {
            drop(worker.say);
            worker.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let results: Result<Vec<_>> = results.collect();
        let functions = known.and(results)?.into_iter().flatten().collect();
        Ok(RustSide { folder: self.shared.folder.clone(), functions })
    }
}

impl RustSide {
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

    /// One thread: parses modules until none is left, tells what is ported in its own, and looks at each function of them
    /// once it has heard the same of all others.
    fn work(
        &self,
        tell: &SyncSender<States>,
        said: &Receiver<Arc<Known<'_>>>,
    ) -> Result<Vec<(String, Facts)>> {
        let mut modules = Vec::new();
        while let Some(name) = self.names.get(self.taken.fetch_add(1, Ordering::Relaxed)) {
            let port = PortModule::parse(self.text(name)?).map_err(|error| self.not_rust(name, &error))?;
            modules.push((name, port));
        }
        let states = modules.iter().map(|(name, port)| {
            let functions = port.public().map(|function| (function.to_owned(), port.state_of(function)));
            ((*name).clone(), functions.collect())
        });
        // Nobody listens where another thread failed, and then nobody wants to hear more.
        let heard = tell.send(states.collect()).ok().and_then(|()| said.recv().ok());
        let Some(known) = heard else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (name, port) in &modules {
            let around = Around::of(&port.items().items.iter().collect::<Vec<_>>());
            let own = port.public().filter(|function| known.ffi.is_foreign(function));
            all.extend(
                own.map(|function| {
                    (function.to_owned(), self.facts(function, (name, port, &around), &known))
                }),
            );
        }
        // The process ends soon; to take these trees apart would cost a tenth of all the time.
        std::mem::forget(modules);
        Ok(all)
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
        let mut callees = BTreeSet::new();
        let mut ported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, functions) in states {
            let own = ported.entry(module).or_default();
            for (name, state) in functions.into_iter().filter(|(name, _)| ffi.is_foreign(name)) {
                callees.insert(name.clone());
                own.extend((state == Ported::Yes).then_some(name));
            }
        }
        Self {
            lock,
            callers: Callers::of(lock),
            ffi: Arc::new(ffi),
            callees: Arc::new(callees),
            ported: Arc::new(ported),
            constants: Arc::new(constants(globals)),
        }
    }
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
