//! Judges one port: overlay, build, campaign, and storing the outcome. `verify` uses it for ports in the tree,
//! `port` for candidates.

pub mod coverage;
pub mod findings;
pub mod in_place;
pub mod mutation_score;
pub mod proofs;
pub mod verify;
mod build;
mod built_texts;
mod c_links;
mod c_side;
mod compile_errors;
mod engine;
mod left_out;
mod length_literals;
mod outcome;
mod port_audit;
mod ratchet;
mod record;
mod seeds;
pub mod c_reach;
mod wrong_targets;

pub use compile_errors::{compiler_stopped, does_not_compile};

pub use build::LaterBuild;
pub use engine::PortRun;
use length_literals::literals;
pub use outcome::Outcome;

use crate::audit::{FfiNames, Problem};
use crate::contract::file;
use crate::contract::state::{argument_bytes, input_bytes};
use crate::digest::{of_parts, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::evidence::fingerprint::Constants;
use crate::fuzz::build::cache;
use crate::fuzz::campaign::{Budget, Campaign, Subject};
use crate::harness::{emit, files};
use crate::libc_facts::asks_system;
use crate::platform::process::Interrupt;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::globals::identifier;
use crate::store::{RunId, Store};
use crate::symbol::{Function, LibraryIndex, SymbolKey, SymbolName};
use built_texts::BuiltTexts;
use c_side::CSide;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// A project with everything that judging needs.
pub struct Judge<'p> {
    pub project: &'p Project,
    pub interrupt: &'p Interrupt,
    c_side: OnceCell<CSide>,
    names: OnceCell<Names<'p>>,
    constants: OnceCell<Constants>,
    open_items: OnceCell<Vec<Problem>>,
    /// Functions that may ask the operating system for more than memory.
    asking: OnceCell<BTreeSet<&'p SymbolKey>>,
    /// Texts of harnesses, by position in the project: those of functions on handles are parts of each other.
    harnesses: RefCell<BTreeMap<usize, Rc<str>>>,
    built: RefCell<BuiltTexts>,
    /// C as it stood the last time that it was not what the analysis had read, with a hash of its files.
    changed_c: RefCell<Option<(String, Rc<CSide>)>>,
}

/// A judge at work: the store that keeps its verdicts, and the reporter of its progress.
pub struct Judging<'a, 'p> {
    pub judge: &'a Judge<'p>,
    pub store: &'a mut Store,
    pub reporter: &'a mut dyn Reporter,
    /// The run to which verdicts and findings belong.
    pub run: Option<RunId>,
}

/// Facts by name, collected once, because every audit of a candidate needs them.
struct Names<'p> {
    ffi: Arc<FfiNames>,
    functions: BTreeMap<String, &'p FunctionPlan>,
    by_module: BTreeMap<&'p str, Vec<&'p FunctionPlan>>,
    /// Functions of the system that programs can replace.
    replaceable: Arc<BTreeSet<String>>,
    /// The state that a call of each function may leave behind for the next call.
    kept: BTreeMap<&'p SymbolKey, BTreeSet<String>>,
}

impl<'p> Judge<'p> {
    /// All files are kept below `.implfuzz/`.
    pub fn new(project: &'p Project, interrupt: &'p Interrupt) -> Self {
        Self {
            project,
            interrupt,
            c_side: OnceCell::new(),
            names: OnceCell::new(),
            constants: OnceCell::new(),
            open_items: OnceCell::new(),
            asking: OnceCell::new(),
            harnesses: RefCell::default(),
            built: RefCell::default(),
            changed_c: RefCell::default(),
        }
    }

    /// The beginning of a build. A user's first build takes longer and says why.
    fn building(&self, what: &str) -> Result<Event> {
        let first = match cache::is_empty(&self.project.workspace.cache())? {
            true => "; once for all repositories, this also compiles libFuzzer, the harness runtime and libc",
            false => "",
        };
        Ok(Event::StepStarted { step: format!("building {what}{first}"), total: None })
    }

    /// The campaign of a symbol in a built binary.
    pub fn campaign(&self, binary: &Path, planned: &FunctionPlan) -> Campaign {
        let fuzz = &self.project.config.fuzz;
        let name = &planned.function.name;
        // A contract may need more than the general limit.
        let params = planned.judgeable.contract().into_iter().flat_map(|contract| &contract.params);
        let longest = params.map(|param| argument_bytes(&self.project.library, &planned.function, param));
        let globals = planned.judgeable.contract().into_iter().flat_map(|c| &c.globals);
        let compared = globals.clone().map(|used| identifier(used.name.as_str())).collect();
        let globals = globals.map(|used| input_bytes(&self.project.library, used));
        Campaign {
            binary: binary.to_owned(),
            target: name.clone(),
            work: self.project.workspace.cache().join("fuzz").join(name.as_str()),
            regressions: vec![self.seeds(name), self.private_seeds(name)],
            seed: fuzz.seed,
            max_len: fuzz.max_len.max(longest.chain(globals).sum()),
            literals: literals(None, planned),
            call_timeout_ms: fuzz.call_timeout_ms,
            rss_limit_mb: fuzz.rss_limit_mb,
            subject: Subject::Port,
            compared,
            asks_system: self.asks_system(planned),
            held_back: None,
            known_breaks: None,
            shipped: None,
        }
    }

    /// Whether the C function may ask the operating system for more than memory.
    fn asks_system(&self, planned: &FunctionPlan) -> bool {
        let asking = self.asking.get_or_init(|| {
            let library = &self.project.library;
            let index = LibraryIndex::of(library);
            let asks =
                |f: &&Function| index.reached(f).any(|f| f.externs.iter().any(|name| asks_system(name)));
            library.functions.iter().filter(asks).map(|f| &f.key).collect()
        });
        asking.contains(&planned.function.key)
    }

    /// The budget of a campaign before acceptance.
    pub fn loop_budget(&self) -> Budget {
        let fuzz = &self.project.config.fuzz;
        Budget { seconds: fuzz.loop_seconds, executions: Some(fuzz.loop_executions) }
    }

    /// The budget of the acceptance run.
    pub fn acceptance_budget(&self) -> Budget {
        let fuzz = &self.project.config.fuzz;
        Budget { seconds: fuzz.accept_seconds, executions: fuzz.accept_executions }
    }

    /// Functions of the library that the port's code mentions, directly or through other ports, and that still run
    /// as C. Empty where there is no port.
    pub fn callees_in_c(&self, planned: &FunctionPlan) -> Result<Vec<SymbolName>> {
        let all = &self.names()?.functions;
        let mut seen = BTreeSet::from([&planned.function.key]);
        let (mut todo, mut names) = (vec![planned], BTreeSet::new());
        while let Some(next) = todo.pop() {
            if next.function.unsupported.is_some() {
                names.insert(next.function.name.clone());
                continue;
            }
            let module = self.project.module(&next.function.module)?;
            if module.state(&next.function) != Ported::Yes {
                names.insert(next.function.name.clone());
                continue;
            }
            let mentioned = module.mentioned(&next.function);
            let others = mentioned.iter().filter_map(|name| all.get(name).copied());
            todo.extend(others.filter(|other| seen.insert(&other.function.key)));
        }
        names.remove(&planned.function.name);
        Ok(names.into_iter().collect())
    }

    /// The C text in the tree, analysed once.
    fn c_side(&self) -> Result<&CSide> {
        match self.c_side.get() {
            Some(side) => Ok(side),
            None => {
                let side = CSide::read(self.project)?;
                Ok(self.c_side.get_or_init(|| side))
            }
        }
    }

    /// The hash of all C text that determines what the function does, as it stands now: files may change meanwhile.
    fn c_now(&self, planned: &FunctionPlan) -> Result<String> {
        let side = self.c_side()?;
        Ok(match self.changed_c()? {
            Some((_, now)) => now.hash(&planned.function),
            None => side.hash(&planned.function),
        })
    }

    /// The text of a harness; nothing without a contract.
    fn harness_text(&self, planned: &FunctionPlan) -> Result<Rc<str>> {
        // A plan on trial is not the project's own.
        let own = self.project.planned.iter().position(|own| std::ptr::eq(own, planned));
        if let Some(text) = own.and_then(|at| self.harnesses.borrow().get(&at).cloned()) {
            return Ok(text);
        }
        let text = match planned.judgeable.contract() {
            Some(contract) => {
                let helpers: Vec<_> = self.project.helpers(planned).map(FunctionPlan::bound).collect();
                emit::harness(&planned.bound(), contract, (&self.project.crate_name(), &helpers))?
            }
            None => String::new(),
        };
        let text: Rc<str> = text.into();
        if let Some(at) = own {
            self.harnesses.borrow_mut().insert(at, text.clone());
        }
        Ok(text)
    }

    /// The hashes that determine the mutation score of a harness; the port is not among them.
    pub fn harness_hashes(&self, planned: &FunctionPlan) -> Result<HarnessHashes> {
        let contract = planned.judgeable.contract();
        let mut harness = String::new();
        // The harnesses of its partners matter, too.
        for one in std::iter::once(planned).chain(self.project.partners(planned)) {
            harness += &self.harness_text(one)?;
        }
        Ok(HarnessHashes {
            c: self.c_side()?.hash(&planned.function),
            contract: sha256(contract.map(|c| file::render(&c.without_reasons())).unwrap_or_default()),
            harness: of_parts(
                [harness.as_str(), files::shared_hash()].into_iter().chain(planned.target.as_deref()),
            ),
        })
    }
}

/// The hashes that determine the mutation score of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessHashes {
    pub c: String,
    pub contract: String,
    pub harness: String,
}

/// The error for a file that is not valid Rust.
pub fn not_rust(what: &str, error: &syn::Error) -> Error {
    Error::new(ErrorKind::Build, format!("{what} is not Rust: {error}")).help("run `cargo implfuzz init`")
}
