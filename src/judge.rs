//! Judging one port: the overlay, the build, the campaign, and what is stored of the outcome. Used by `verify` for
//! what stands in the tree and by `port` for candidates.

mod build;
mod c_links;
mod committed;
mod engine;
mod outcome;
mod ratchet;
pub mod ways;

pub use build::LaterBuild;
pub use committed::About;
pub use outcome::Outcome;

use crate::audit::{self, Allowed, AuditReport, Candidate, FfiNames, Problem, Rule};
use crate::contract::state::{self, input_bytes, is_variable};
use crate::contract::{file, types::Role};
use crate::digest::{of_parts, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::Diagnostic;
use crate::fuzz::run::{Budget, Campaign, Subject};
use crate::harness::{emit, files};
use crate::ported::{PortModule, Ported};
use crate::process::Interrupt;
use crate::project::{Planned, Project};
use crate::rust::open;
use crate::rust::signature::{ident, inner};
use crate::rust::splice::take_apart;
use crate::store::{Evidence, FindingId, NewFinding, RunId, Side, Store};
use crate::symbol::{LibraryIndex, SymbolKey, SymbolName};
use crate::verdict::Finding;
use crate::workspace::write_atomic;
use committed::CSide;
use fs_err as fs;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ways::{variables_of, ways_back};

/// A project with all that judging needs.
pub struct Judge<'p> {
    pub project: &'p Project,
    pub interrupt: &'p Interrupt,
    c_side: OnceCell<CSide>,
    names: OnceCell<Names<'p>>,
    open_items: OnceCell<Vec<Problem>>,
}

/// What is known by name, gathered once: the audit asks for it with every candidate.
struct Names<'p> {
    ffi: Arc<FfiNames>,
    functions: BTreeMap<String, &'p Planned>,
    by_module: BTreeMap<&'p str, Vec<&'p Planned>>,
    /// What a call of each function may leave behind for the next one.
    kept: BTreeMap<&'p SymbolKey, BTreeSet<String>>,
}

impl<'p> Judge<'p> {
    /// Everything stays below `.implfuzz/`.
    pub fn new(project: &'p Project, interrupt: &'p Interrupt) -> Self {
        Self {
            project,
            interrupt,
            c_side: OnceCell::new(),
            names: OnceCell::new(),
            open_items: OnceCell::new(),
        }
    }

    /// The campaign of a symbol in a built binary.
    pub fn campaign(&self, binary: &Path, planned: &Planned) -> Campaign {
        let fuzz = &self.project.config.fuzz;
        let name = &planned.function.name;
        // Elements are wider than bytes; a contract may ask for more than the general limit.
        let longest =
            planned.judgeable.contract().into_iter().flat_map(|c| &c.params).map(|p| match p.role {
                Role::Buffer { max, .. } | Role::CString { max, .. } => max as u64 + 64,
                Role::FixedArray { len, .. } => len as u64 * 16,
                Role::Elements { max, .. } => max as u64 * 16 + 64,
                Role::Room { len, .. } => len as u64 * 8,
                Role::Given { max, .. } => max as u64 + 8,
                Role::Lent { .. } => 1024,
                Role::Callback { .. } => 128,
                _ => 64,
            });
        let globals = planned.judgeable.contract().into_iter().flat_map(|c| &c.globals);
        let globals = globals.map(|used| input_bytes(&self.project.library, used));
        Campaign {
            binary: binary.to_owned(),
            target: name.clone(),
            work: self.project.workspace.cache().join("fuzz").join(name.as_str()),
            regressions: vec![self.seeds(name), self.private_seeds(name)],
            seed: fuzz.seed,
            max_len: fuzz.max_len.max(longest.chain(globals).sum()),
            call_timeout_ms: fuzz.call_timeout_ms,
            rss_limit_mb: fuzz.rss_limit_mb,
            subject: Subject::Port,
            held_back: None,
            known_breaks: None,
        }
    }

    /// The budget of a run inside the loop.
    pub fn loop_budget(&self) -> Budget {
        let fuzz = &self.project.config.fuzz;
        Budget { seconds: fuzz.loop_seconds, executions: Some(fuzz.loop_executions) }
    }

    /// The budget of the run that accepts a port.
    pub fn acceptance_budget(&self) -> Budget {
        let fuzz = &self.project.config.fuzz;
        Budget { seconds: fuzz.accept_seconds, executions: fuzz.accept_executions }
    }

    /// The audit of a reply: the function and its helpers, for the module with this text.
    pub fn audit_reply(&self, planned: &Planned, reply: &str, module_text: &str) -> Result<AuditReport> {
        let bound = planned.bound();
        let name = ident(&planned.function).to_string();
        let names = self.names()?;
        let library = &self.project.library;
        let ways_back = ways_back(library, &planned.function);
        // In state that its original has not, a port could keep notes that no comparison sees.
        let kept = &names.kept[&planned.function.key];
        let keeps_more = |other: &Planned| !names.kept[&other.function.key].is_subset(kept);
        let may_call = |(other, p): &(&String, &&Planned)| {
            **other != name && !ways_back.contains(&p.function.key) && !keeps_more(p)
        };
        let callees = names.functions.iter().filter(may_call);
        let ported = |(module, all): (&&str, &Vec<&'p Planned>)| {
            self.ported_in(module, all.iter().filter(|p| !keeps_more(p)))
        };
        let constants = library.globals.iter().filter(|g| !is_variable(g)).map(|g| g.name.to_string());
        let allowed = Allowed {
            ffi: Arc::clone(&names.ffi),
            callees: Arc::new(callees.map(|(other, _)| other.clone()).collect()),
            ported: Arc::new(names.by_module.iter().map(ported).collect()),
            globals: constants.chain(variables_of(library, planned)).collect(),
            libc: planned.function.externs.iter().cloned().collect(),
            ..Allowed::new(inner(bound.function, bound.contract, bound.c))
        };
        let module = &planned.function.module;
        let allowed =
            allowed.in_module(module_text).map_err(|error| not_rust(&format!("src/{module}.rs"), &error))?;
        let mut report = audit::audit(&Candidate { module, name: &name, text: reply }, &allowed);
        report.problems.extend(self.open_items()?.iter().cloned());
        Ok(report)
    }

    /// What stands in any module of the port and can be meant without a name: nobody reads it with the port that runs it.
    fn open_items(&self) -> Result<&[Problem]> {
        if let Some(known) = self.open_items.get() {
            return Ok(known);
        }
        let mut all = Vec::new();
        for module in self.names()?.by_module.keys() {
            let file = format!("{}/src/{module}.rs", self.project.config.rust.dir);
            let module = self.project.module(module)?;
            all.extend(module.open_lines().into_iter().map(|line| Problem {
                rule: Rule::Item,
                // Of another module as a rule; the reason says where.
                line: 1,
                column: 1,
                excerpt: String::new(),
                reason: open::reason(&format!("{file}:{line}")),
            }));
        }
        Ok(self.open_items.get_or_init(|| all))
    }

    fn names(&self) -> Result<&Names<'p>> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let project = self.project;
        let mut by_module: BTreeMap<&str, Vec<&Planned>> = BTreeMap::new();
        for planned in &project.planned {
            by_module.entry(&planned.function.module).or_default().push(planned);
        }
        let index = LibraryIndex::of(&project.library);
        let names = Names {
            ffi: project.ffi_names()?,
            functions: project.planned.iter().map(|p| (ident(&p.function).to_string(), p)).collect(),
            by_module,
            kept: project
                .planned
                .iter()
                .map(|p| (&p.function.key, state::kept(&index, &p.function)))
                .collect(),
        };
        Ok(self.names.get_or_init(|| names))
    }

    /// The functions of a module that have a body, as the module stands now.
    fn ported_in<'a>(
        &self,
        module: &str,
        functions: impl Iterator<Item = &'a &'a Planned>,
    ) -> (String, BTreeSet<String>) {
        let text = self.project.module(module).ok();
        let is_ported = |p: &&&Planned| text.as_ref().is_some_and(|m| m.state(&p.function) == Ported::Yes);
        let ported = functions.filter(is_ported).map(|p| ident(&p.function).to_string());
        (module.to_owned(), ported.collect())
    }

    /// The audit of what stands in a module: the function and the private items that it reaches. Lines are the file's.
    pub fn audit(&self, planned: &Planned, module_text: &str) -> Result<AuditReport> {
        let (own, rest) = take_apart(module_text, &ident(&planned.function).to_string());
        self.audit_reply(planned, &own, &rest)
    }

    /// Where counterexamples of a symbol are kept; committed with the port.
    pub fn seeds(&self, name: &SymbolName) -> PathBuf {
        self.project.rust_dir().join("fuzz/seeds").join(format!("fuzz_{name}"))
    }

    /// Where counterexamples to candidates are kept until one is accepted.
    pub fn private_seeds(&self, name: &SymbolName) -> PathBuf {
        self.project.workspace.cache().join("seeds").join(name.as_str())
    }

    /// As [`Judge::private_seeds`], for those that no prompt may show.
    pub fn hidden_seeds(&self, name: &SymbolName) -> PathBuf {
        self.project.workspace.cache().join("hidden").join(name.as_str())
    }

    /// Functions of the library that the port's code names, directly or through other ports, and that still run as C.
    /// None where there is no port.
    pub fn callees_in_c(&self, planned: &Planned) -> Result<Vec<SymbolName>> {
        let all = &self.names()?.functions;
        let mut seen = BTreeSet::from([&planned.function.key]);
        let (mut todo, mut names) = (vec![planned], BTreeSet::new());
        while let Some(next) = todo.pop() {
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

    /// The C text as it stands in the tree.
    fn c_side(&self) -> Result<&CSide> {
        match self.c_side.get() {
            Some(side) => Ok(side),
            None => {
                let side = CSide::read(self.project)?;
                Ok(self.c_side.get_or_init(|| side))
            }
        }
    }

    /// Hashes of everything that a verdict on `planned`, as it stands in `module`, is about.
    pub fn hashes(&self, planned: &Planned, module: &PortModule) -> Result<Hashes> {
        let rust = module.hash(&planned.function);
        let rust = rust.map(|hash| hash.as_str().to_owned()).unwrap_or_default();
        Ok(Hashes { rust, ..self.harness_hashes(planned)? })
    }

    /// As [`Judge::hashes`], but for the port.
    pub fn harness_hashes(&self, planned: &Planned) -> Result<Hashes> {
        let contract = planned.judgeable.contract();
        // Where it is one step among others, or takes what others make, their harnesses decide too.
        let steps = contract.and_then(|c| c.sequence.as_ref()).into_iter().flat_map(|s| s.names());
        let makers = contract.into_iter().flat_map(|c| &c.params).flat_map(|param| &param.made_by);
        let steps = steps.chain(makers);
        let steps = steps.filter_map(|name| self.project.planned.iter().find(|p| p.function.name == *name));
        let mut harness = String::new();
        for one in std::iter::once(planned).chain(steps) {
            if let Some(contract) = one.judgeable.contract() {
                let helpers: Vec<_> = self.project.helpers(one).map(Planned::bound).collect();
                harness += &emit::harness(&one.bound(), contract, (&self.project.crate_name(), &helpers))?;
            }
        }
        Ok(Hashes {
            c: self.c_side()?.hash(&planned.function),
            contract: sha256(contract.map(|c| file::render(&c.without_reasons())).unwrap_or_default()),
            harness: of_parts(
                [harness.as_str(), files::shared_hash()].into_iter().chain(planned.target.as_deref()),
            ),
            rust: String::new(),
        })
    }

    /// Stores what a function of a module is worth, and by which run, and writes it into the lock. The module stands in the
    /// tree, and the seeds are in their place.
    pub fn record(
        &self,
        store: &mut Store,
        planned: &Planned,
        module: &PortModule,
        (outcome, provenance): (&Outcome, &str),
    ) -> Result<()> {
        let hashes = self.hashes(planned, module)?;
        let evidence = Evidence {
            shortcomings: outcome.shortcomings.clone(),
            proofs: outcome.proofs.clone(),
            c_hash: hashes.c,
            contract_hash: hashes.contract,
            harness_hash: hashes.harness,
            rust_hash: hashes.rust,
            callees_in_c: self.callees_in_c(planned)?,
            provenance: provenance.to_owned(),
            ..Evidence::of_run(planned.function.key.clone(), outcome.grade, &outcome.stats)
        };
        store.put_evidence(&evidence)?;
        self.commit(planned, module, &evidence)
    }

    /// Stores a finding and keeps its input as a seed in `dir`; its number comes back.
    pub fn record_finding(
        &self,
        store: &mut Store,
        run: RunId,
        planned: &Planned,
        (finding, candidate): (&Finding, &str),
        dir: &Path,
    ) -> Result<FindingId> {
        let new = NewFinding {
            symbol: &planned.function.key,
            side: Side::Port,
            finding,
            run: Some(run),
            candidate_sha256: Some(candidate.to_owned()),
            of_c: None,
        };
        let id = store.add_finding(&new)?;
        if !finding.input.is_empty() {
            fs::create_dir_all(dir)?;
            write_atomic(&dir.join(&sha256(&finding.input)[..16]), &finding.input)?;
        }
        Ok(id)
    }

    /// Moves the counterexamples to candidates into the tree, where they are committed with the accepted port.
    pub fn publish_seeds(&self, name: &SymbolName) -> Result<()> {
        let to = self.seeds(name);
        for from in [self.private_seeds(name), self.hidden_seeds(name)].iter().filter(|dir| dir.is_dir()) {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(from)? {
                let path = entry?.path();
                write_atomic(&to.join(path.file_name().unwrap_or_default()), &fs::read(&path)?)?;
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// What a verdict is about; when one changes, the verdict is stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    pub c: String,
    pub contract: String,
    pub harness: String,
    pub rust: String,
}

/// The tree does not compile: shown as rustc shows it.
pub fn does_not_compile(project: &Project, errors: &[Diagnostic]) -> Error {
    let dir = &project.config.rust.dir;
    let here = |e: &Diagnostic| {
        let text = e.rendered.trim_end().replace("--> src/", &format!("--> {dir}/src/"));
        text.replace("--> fuzz/targets/", &format!("--> {dir}/fuzz/targets/"))
    };
    let shown: Vec<String> = errors.iter().take(5).map(here).collect();
    let more = if errors.len() > 5 { format!("\n… and {} more", errors.len() - 5) } else { String::new() };
    if let Some(target) = errors.iter().find(|e| e.file.starts_with("fuzz/targets/")) {
        let file = format!("{dir}/{}", target.file);
        let text = format!("the fuzz target {file} does not compile:\n{}{more}", shown.join("\n"));
        return Error::new(ErrorKind::Build, text)
            .help(format!("correct it, or delete it and run `cargo implfuzz init`: rm {file}"));
    }
    if errors.iter().all(|e| e.file.starts_with("fuzz/")) {
        let text = format!("a generated harness does not compile:\n{}{more}", shown.join("\n"));
        return Error::new(ErrorKind::Internal, text)
            .help("this is a defect of cargo-implfuzz; `skip = true` under [symbols.<name>] goes round it");
    }
    Error::new(ErrorKind::Build, format!("the port in {dir}/ does not compile:\n{}{more}", shown.join("\n")))
        .help(format!("correct it, then try `cargo check --manifest-path {dir}/Cargo.toml`"))
}

/// A file that must be Rust and is not.
pub fn not_rust(what: &str, error: &syn::Error) -> Error {
    Error::new(ErrorKind::Build, format!("{what} is not Rust: {error}")).help("run `cargo implfuzz init`")
}
