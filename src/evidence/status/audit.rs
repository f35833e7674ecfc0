//! What the audit of a port must know beside its module: what the lock says, what C has, and which functions stand in the other modules.

use crate::audit::{Around, Candidate, FfiNames, audit_items};
use crate::digest::of_parts;
use crate::evidence::allowed::{Callers, Original, Surroundings};
use crate::evidence::fingerprint::{Constants, FileHashes};
use crate::evidence::lock::{Entry, Lock};
use crate::project::ported::{PortModule, Ported};
use crate::rust::globals::replaceable;
use crate::rust::signature::rust_name;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What the lock and all modules together say.
pub(super) struct Known<'l> {
    pub lock: &'l Lock,
    callers: Callers<'l>,
    /// Which symbols with evidence a chunk of C belongs to.
    owners: HashMap<&'l str, Vec<&'l str>>,
    pub around: Surroundings,
    pub constants: Constants,
    /// The hash of the lock, of the generated modules, and of the tool.
    texts: Option<String>,
    /// The same with what is known of the modules together: what an audit follows from beside the text of its module.
    pub key: Option<String>,
}

/// The functions of each module, and which have a body.
pub(super) type States = Vec<(String, BTreeMap<String, Ported>)>;

/// The symbol behind a Rust name: `type_` is how `type` must be written.
pub(super) fn symbol<'n>(lock: &Lock, rust: &'n str) -> &'n str {
    let plain = rust.strip_suffix('_').filter(|_| !lock.symbols.contains_key(rust));
    // `foo_` may be a function of its own, beside `foo`.
    let is_written_so = |plain: &&str| lock.symbols.contains_key(*plain) && rust_name(plain) == rust;
    plain.filter(is_written_so).unwrap_or(rust)
}

impl<'l> Known<'l> {
    pub fn of(
        lock: &'l Lock,
        ffi: FfiNames,
        states: States,
        (globals, constants): (&str, Constants),
        texts: Option<String>,
    ) -> Self {
        let mut owners: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, entry) in &lock.symbols {
            entry.chunks.iter().for_each(|id| owners.entry(id).or_default().push(name));
        }
        let mut known = Self {
            lock,
            callers: Callers::of(lock.c.iter().map(|(id, line)| (id, &line.links))),
            owners,
            around: Surroundings {
                ffi: Arc::new(ffi),
                constants: Arc::new(constants.tables()),
                replaceable: Arc::new(replaceable(globals)),
                ..Surroundings::default()
            },
            constants,
            texts,
            key: None,
        };
        known.learn(states);
        known
    }

    /// The evidence of a function by its Rust name.
    pub fn evidence(&self, name: &str) -> Option<&'l Entry> {
        self.lock.symbols.get(symbol(self.lock, name))
    }

    /// The signature that a port must have: the recorded one where the contract is.
    fn signature(&self, entry: &Entry, files: &FileHashes) -> Option<syn::Signature> {
        syn::parse_str(&entry.signature).ok().filter(|_| files.contract == entry.fingerprint.contract)
    }

    /// Functions whose C text leads back to the original of an entry, by their Rust names. One without evidence goes by the name of its chunk.
    fn ways_back(&self, entry: &'l Entry) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for id in self.callers.ways_back(&entry.chunks) {
            match self.owners.get(id) {
                Some(owners) => names.extend(owners.iter().copied().map(rust_name)),
                None => names.extend(id.rsplit_once(':').map(|(_, name)| rust_name(name))),
            }
        }
        names
    }

    /// Whether all contracts are the recorded ones.
    pub fn fit(&self, files: &BTreeMap<String, FileHashes>) -> bool {
        files.iter().all(|(name, files)| {
            self.evidence(name).is_some_and(|entry| entry.fingerprint.contract == files.contract)
        })
    }

    /// Whether it would be the same with these states.
    pub fn fits(&self, states: States) -> bool {
        let (callees, ported) = spread(states, &self.around.ffi);
        callees == *self.around.callees && ported == *self.around.ported
    }

    pub fn learn(&mut self, states: States) {
        let (callees, ported) = spread(states, &self.around.ffi);
        let spread = format!("{callees:?}{ported:?}");
        self.key = self.texts.as_ref().map(|texts| of_parts([texts, &spread]));
        (self.around.callees, self.around.ported) = (Arc::new(callees), Arc::new(ported));
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
pub(super) fn guess(text: &str) -> BTreeMap<String, Ported> {
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
pub(super) struct Audited<'a> {
    pub name: &'a str,
    pub module: &'a str,
    pub port: &'a PortModule,
    pub around: &'a Around,
    pub entry: &'a Entry,
    pub files: &'a FileHashes,
}

impl<'a> Audited<'a> {
    /// Where and why the audit rejects it.
    pub fn rejected(self, known: &Known<'a>) -> Option<(usize, String)> {
        let own = self.port.function(self.name)?;
        let original = Original {
            signature: known.signature(self.entry, self.files).unwrap_or_else(|| own.sig.clone()),
            libc: self.entry.libc.iter().cloned().collect(),
            globals: self.entry.globals.iter().cloned().collect(),
            ways_back: known.ways_back(self.entry),
            keeps_more: BTreeSet::new(),
        };
        let allowed = known.around.allowed(original, self.around.clone());
        let items = self.port.own_items(self.name);
        let candidate = Candidate { module: self.module, name: self.name, text: self.port.text() };
        let problems = audit_items(&candidate, &items, &allowed).problems;
        let line = problems.first()?.line;
        let reasons: Vec<String> = problems.into_iter().map(|problem| problem.reason).collect();
        Some((line, reasons.join("; ")))
    }
}
