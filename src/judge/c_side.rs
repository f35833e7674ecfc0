//! The analysed C library as the lock stores it: chunks, their links, and the hash of each function.

use super::c_links;
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::allowed::Callers;
use crate::evidence::fingerprint::{CTree, Crate, DependencyGraph, Links, Root, short};
use crate::evidence::lock::{ChunkLine, Entry, roots};
use crate::project::{FunctionPlan, Project};
use crate::symbol::{Function, SymbolKey};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The C files of the tree, the links of their chunks, and the hash of each function.
#[derive(Debug)]
pub(super) struct CSide {
    pub tree: CTree,
    pub links: BTreeMap<String, Links>,
    pub chunks: BTreeMap<SymbolKey, Vec<String>>,
    /// Those of the functions that a harness also calls.
    pub also: BTreeMap<SymbolKey, Vec<String>>,
    hashes: BTreeMap<SymbolKey, String>,
}

impl CSide {
    /// Reads the files, which must be those that the analysis read: it tells where in them each function stands.
    ///
    /// # Errors
    /// `C` where one has changed since then.
    pub fn read(project: &Project) -> Result<Self> {
        let changed: Vec<&str> = project.c_files.changed(project.root()?).collect();
        match changed.as_slice() {
            [] => Self::as_it_stands(project),
            some => {
                let text = format!("{} changed after this command read the C code", some.join(", "));
                Err(Error::new(ErrorKind::C, text).help("start the same command again"))
            }
        }
    }

    /// The same, for files that may have changed: then only what did not move is found where the analysis says.
    pub fn as_it_stands(project: &Project) -> Result<Self> {
        let units = Crate::new(project.rust_dir()).units(&project.config.c)?;
        let tree = CTree::read(project.workspace.root(), &units);
        let links = c_links::links(&project.library, &tree);
        let functions = &project.library.functions;
        let at =
            |f: &Function| (f.key.clone(), tree.at(f.place.file.0.as_str(), &(f.place.start..f.place.end)));
        let chunks: BTreeMap<SymbolKey, Vec<String>> = functions.iter().map(at).collect();
        let also = |planned: &FunctionPlan| {
            let others = project.partners(planned).filter_map(|other| chunks.get(&other.function.key));
            let all: BTreeSet<String> = others.flatten().cloned().collect();
            (planned.function.key.clone(), all.into_iter().collect())
        };
        let also: BTreeMap<SymbolKey, Vec<String>> = project.planned.iter().map(also).collect();
        let of = |key: &SymbolKey| also.get(key).map_or(&[][..], Vec::as_slice);
        let roots: Vec<Root> = functions
            .iter()
            .map(|f| Root { chunks: &chunks[&f.key], also: of(&f.key), unit: unit_of(project, f) })
            .collect();
        let digests = DependencyGraph::of(&tree, &|id| links.get(id), &roots).digests();
        let hashes = functions.iter().map(|f| f.key.clone()).zip(digests).collect();
        Ok(Self { tree, links, chunks, also, hashes })
    }

    /// The lines of all chunks that an entry reaches. Chunks that only other entries reach keep their lines, which
    /// show later what changed since those were judged.
    pub fn lines(&self, entry: &Entry) -> Vec<(String, ChunkLine)> {
        let graph = DependencyGraph::of(&self.tree, &|id| self.links.get(id), &roots([entry]));
        let line = |(name, hash): (String, String)| {
            let links = self.links.get(&name).cloned().unwrap_or_default();
            (name, ChunkLine { hash: short(&hash).to_owned(), links })
        };
        graph.closure(0).into_iter().map(line).collect()
    }

    /// The hash of all C text that determines the behaviour of `function`.
    pub fn hash(&self, function: &Function) -> String {
        self.hashes.get(&function.key).cloned().unwrap_or_else(|| sha256(&function.text))
    }

    /// Functions whose C text depends on that of `function`, by key.
    pub fn ways_back(&self, function: &Function) -> BTreeSet<&SymbolKey> {
        let Some(own) = self.chunks.get(&function.key) else { return BTreeSet::new() };
        let back = Callers::of(self.links.iter()).ways_back(own);
        let leads_back = |chunks: &Vec<String>| chunks.iter().any(|id| back.contains(id.as_str()));
        self.chunks.iter().filter(|(_, chunks)| leads_back(chunks)).map(|(key, _)| key).collect()
    }

    /// Functions whose C text leads to that of `function` in any way: by calls, addresses, or tables; by key. With itself.
    pub fn leading_to(&self, function: &Function) -> BTreeSet<&SymbolKey> {
        let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
        for (user, links) in &self.links {
            links.calls.iter().chain(&links.uses).for_each(|used| users.entry(used).or_default().push(user));
        }
        let own = self.chunks.get(&function.key).into_iter().flatten().map(String::as_str);
        let mut open: Vec<&str> = own.collect();
        let mut found: BTreeSet<&str> = open.iter().copied().collect();
        while let Some(next) = open.pop() {
            open.extend(users.get(next).into_iter().flatten().filter(|user| found.insert(user)));
        }
        let leads = |chunks: &Vec<String>| chunks.iter().any(|id| found.contains(id.as_str()));
        self.chunks.iter().filter(|(_, chunks)| leads(chunks)).map(|(key, _)| key).collect()
    }
}

/// The file of the unit that defines a function.
pub(super) fn unit_of<'p>(project: &'p Project, function: &'p Function) -> &'p str {
    let unit = project.library.unit_of.get(&function.key).unwrap_or(&function.place.file);
    unit.0.as_str()
}
