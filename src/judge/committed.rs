//! The evidence that is committed: an entry of `implfuzz.lock` for what was judged, written whenever the store gets it.

use super::ratchet::take_out;
use super::ways::variables_of;
use super::{Judge, Names};
use crate::digest::sha256;
use crate::error::Result;
use crate::evidence::{
    CTree, Crate, Root, Web, port_hash, port_mentions, ports_called, ports_hash, roots, short,
};
use crate::lock::{ChunkLine, Entry, Hashes, Links, Lock};
use crate::ported::PortModule;
use crate::project::{Planned, Project};
use crate::rust::signature::{ident, inner};
use crate::store::Evidence;
use crate::symbol::{Function, SymbolKey};
use crate::verdict::{Measured, Share};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The C files as they stand in the tree, what their chunks lead to, and the hash of each function.
pub(super) struct CSide {
    tree: CTree,
    links: BTreeMap<String, Links>,
    chunks: BTreeMap<SymbolKey, Vec<String>>,
    hashes: BTreeMap<SymbolKey, String>,
}

impl CSide {
    pub fn read(project: &Project) -> Result<Self> {
        let units = Crate::new(project.rust_dir()).units(&project.config.c)?;
        let tree = CTree::read(project.workspace.root(), &units);
        let links = super::c_links::links(&project.library, &tree);
        let functions = &project.library.functions;
        let at =
            |f: &Function| (f.key.clone(), tree.at(f.place.file.0.as_str(), &(f.place.start..f.place.end)));
        let chunks: BTreeMap<SymbolKey, Vec<String>> = functions.iter().map(at).collect();
        let roots: Vec<Root> =
            functions.iter().map(|f| Root { chunks: &chunks[&f.key], unit: unit_of(project, f) }).collect();
        let digests = Web::of(&tree, &|id| links.get(id), &roots).digests();
        let hashes = functions.iter().map(|f| f.key.clone()).zip(digests).collect();
        Ok(Self { tree, links, chunks, hashes })
    }

    /// The lines of all chunks that an entry leads to. What only others lead to keeps its line: it tells what changed since
    /// they were judged.
    fn lines(&self, entry: &Entry) -> Vec<(String, ChunkLine)> {
        let web = Web::of(&self.tree, &|id| self.links.get(id), &roots([entry]));
        let line = |(name, hash): (String, String)| {
            let links = self.links.get(&name).cloned().unwrap_or_default();
            (name, ChunkLine { hash: short(&hash).to_owned(), links })
        };
        web.closure(0).into_iter().map(line).collect()
    }

    /// The hash of everything that decides what `function` does.
    pub fn hash(&self, function: &Function) -> String {
        self.hashes.get(&function.key).cloned().unwrap_or_else(|| sha256(&function.text))
    }
}

/// What a verdict is about, as it stands in the tree at some time.
#[derive(Debug, PartialEq, Eq)]
pub struct About {
    stored: super::Hashes,
    committed: Hashes,
    /// Of the whole module: what was built is a copy of it.
    text: String,
}

impl About {
    /// Whether this file is a copy of the module.
    pub fn is_of(&self, copy: &std::path::Path) -> bool {
        fs_err::read_to_string(copy).is_ok_and(|text| sha256(text) == self.text)
    }
}

/// `19/20`, where it was measured.
fn share(measured: &Measured<Share>) -> Option<String> {
    measured.value().map(|share| format!("{}/{}", share.reached, share.total))
}

/// The file of the unit in which a function was read.
fn unit_of<'p>(project: &'p Project, function: &'p Function) -> &'p str {
    let unit = project.library.unit_of.get(&function.key).unwrap_or(&function.place.file);
    unit.0.as_str()
}

impl Judge<'_> {
    /// Hashes of everything that a verdict on the port of `planned` in the tree is about.
    pub fn committed_hashes(&self, planned: &Planned, module: &PortModule) -> Result<Hashes> {
        let name = planned.function.name.as_str();
        let files = Crate::new(self.project.rust_dir());
        let names = self.names()?;
        let calls: Vec<String> = self.ports_called(planned)?.into_iter().collect();
        Ok(Hashes {
            c: self.c_side()?.hash(&planned.function),
            contract: files.contract(name),
            harness: files.harness(name),
            rust: module.hash(&planned.function).map(|hash| hash.as_str().to_owned()).unwrap_or_default(),
            rust_calls: ports_hash(&calls, &|name| port_hash(self.module_of(names, name)?.as_ref(), name)),
            seeds: files.seeds(name),
        })
    }

    /// The ports that the port of `planned` calls as the tree stands, directly or through others, by their Rust names.
    pub fn ports_called(&self, planned: &Planned) -> Result<BTreeSet<String>> {
        let names = self.names()?;
        let own = ident(&planned.function).to_string();
        Ok(ports_called(&own, |name| port_mentions(self.module_of(names, name)?.as_ref(), name)))
    }

    /// The module of a function of the library, by its Rust name.
    fn module_of(&self, names: &Names, name: &str) -> Option<Rc<PortModule>> {
        self.project.module(&names.functions.get(name)?.function.module).ok()
    }

    /// What a verdict on the port of `planned` is about; inputs that a verdict may add to are left out.
    pub fn about(&self, planned: &Planned, module: &PortModule) -> Result<About> {
        let committed = Hashes { seeds: String::new(), ..self.committed_hashes(planned, module)? };
        Ok(About { stored: self.hashes(planned, module)?, committed, text: sha256(module.text()) })
    }

    /// Writes what the store knows of a port into the lock. Seeds must be in their place.
    pub(super) fn commit(&self, planned: &Planned, module: &PortModule, evidence: &Evidence) -> Result<()> {
        let hashes = self.committed_hashes(planned, module)?;
        let function = &planned.function;
        let bound = planned.bound();
        let files = Crate::new(self.project.rust_dir());
        let mut lock = Lock::load(self.project.workspace.root())?.unwrap_or_default();
        let unsafe_count = self.audit(planned, module.text())?.unsafe_count;
        let entry = Entry {
            contract_text: files.contract_mark(function.name.as_str(), &hashes.contract),
            grade: evidence.grade,
            shortcomings: evidence.shortcomings.clone(),
            module: function.module.clone(),
            unit: unit_of(self.project, function).to_owned(),
            chunks: self.c_side()?.chunks.get(&function.key).cloned().unwrap_or_default(),
            signature: inner(bound.function, bound.contract, bound.c).to_token_stream().to_string(),
            hashes,
            callees_in_c: evidence.callees_in_c.iter().map(ToString::to_string).collect(),
            libc: function.externs.clone(),
            globals: variables_of(&self.project.library, planned),
            executions: evidence.executions,
            accept_rate: evidence.accept_rate,
            kills: share(&evidence.proofs.kills),
            branches: share(&evidence.proofs.branches),
            unsafe_count,
            unsafe_least: self.unsafe_least(planned, &lock, (evidence.grade, unsafe_count)),
            provenance: evidence.provenance.clone(),
            tools: self.tools()?,
            date: evidence.date.to_string(),
            seal: String::new(),
        }
        .sealed();
        lock.c.extend(self.c_side()?.lines(&entry));
        lock.symbols.insert(function.name.to_string(), entry);
        lock.unsafe_least.remove(function.name.as_str());
        self.save(lock)
    }

    /// Takes a symbol out of the lock: nothing is said of it any more.
    pub fn forget(&self, planned: &Planned) -> Result<()> {
        let Some(mut lock) = Lock::load(self.project.workspace.root())? else { return Ok(()) };
        if take_out(&mut lock, planned.function.name.as_str()) { self.save(lock) } else { Ok(()) }
    }

    /// Writes the lock, without functions that the library does not have any more.
    fn save(&self, mut lock: Lock) -> Result<()> {
        let known: BTreeSet<&str> = self.project.planned.iter().map(|p| p.function.name.as_str()).collect();
        // What a file holds that cannot be read now is not gone.
        if !self.project.library.left_out.iter().any(|file| file.broken) {
            lock.symbols.retain(|name, _| known.contains(name.as_str()));
            lock.unsafe_least.retain(|name, _| known.contains(name.as_str()));
        }
        let needed = {
            let web = Web::of(&self.c_side()?.tree, &|id| lock.links(id), &roots(lock.symbols.values()));
            (0..lock.symbols.len()).flat_map(|root| web.closure(root).into_keys()).collect()
        };
        lock.save(self.project.workspace.root(), &needed)
    }

    /// What built and ran it; recorded, not hashed.
    fn tools(&self) -> Result<String> {
        let tools = self.project.toolchain(self.interrupt)?;
        let (rustc, cc) = (&tools.rustc_version, &tools.cc);
        Ok(format!("cargo-implfuzz {}, rustc {rustc}, {} {}", env!("CARGO_PKG_VERSION"), cc.kind, cc.version))
    }
}
