//! What the audit of a port must know beside its module: what the lock says, what C has, and which functions stand in the other modules.

use super::c_side::Callers;
use crate::audit::{Allowed, Around, Candidate, FfiNames, audit_items};
use crate::digest::of_parts;
use crate::lock::{Entry, Lock};
use crate::ported::{PortModule, Ported};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the lock and all modules together say.
pub(super) struct Known<'l> {
    pub lock: &'l Lock,
    pub callers: Callers<'l>,
    pub ffi: Arc<FfiNames>,
    callees: Arc<BTreeSet<String>>,
    ported: Arc<BTreeMap<String, BTreeSet<String>>>,
    constants: Arc<BTreeSet<String>>,
    /// The hash of the lock, of the generated modules, and of the tool.
    texts: Option<String>,
    /// The same with what is known of the modules together: what an audit follows from beside the text of its module.
    pub around: Option<String>,
}

/// Hashes of the files of a port.
pub(super) struct Files {
    pub contract: String,
    pub harness: String,
    pub seeds: String,
}

/// The functions of each module, and which have a body.
pub(super) type States = Vec<(String, BTreeMap<String, Ported>)>;

/// The symbol behind a Rust name: `type_` is how `type` must be written.
pub(super) fn symbol<'n>(lock: &Lock, rust: &'n str) -> &'n str {
    let plain = rust.strip_suffix('_').filter(|_| !lock.symbols.contains_key(rust));
    plain.filter(|plain| lock.symbols.contains_key(*plain)).unwrap_or(rust)
}

impl<'l> Known<'l> {
    pub fn of(lock: &'l Lock, ffi: FfiNames, states: States, globals: &str, texts: Option<String>) -> Self {
        let mut known = Self {
            lock,
            callers: Callers::of(lock),
            ffi: Arc::new(ffi),
            callees: Arc::default(),
            ported: Arc::default(),
            constants: Arc::new(constants(globals)),
            texts,
            around: None,
        };
        known.learn(states);
        known
    }

    /// The evidence of a function by its Rust name.
    pub fn evidence(&self, name: &str) -> Option<&'l Entry> {
        self.lock.symbols.get(symbol(self.lock, name))
    }

    /// The signature that a port must have: the recorded one where the contract is.
    pub fn signature(&self, entry: &Entry, files: &Files) -> Option<syn::Signature> {
        syn::parse_str(&entry.signature).ok().filter(|_| files.contract == entry.hashes.contract)
    }

    /// Whether all contracts are the recorded ones.
    pub fn fit(&self, files: &BTreeMap<String, Files>) -> bool {
        files.iter().all(|(name, files)| {
            self.evidence(name).is_some_and(|entry| entry.hashes.contract == files.contract)
        })
    }

    /// Whether it would be the same with these states.
    pub fn fits(&self, states: States) -> bool {
        let (callees, ported) = spread(states, &self.ffi);
        callees == *self.callees && ported == *self.ported
    }

    pub fn learn(&mut self, states: States) {
        let (callees, ported) = spread(states, &self.ffi);
        let spread = format!("{callees:?}{ported:?}");
        self.around = self.texts.as_ref().map(|texts| of_parts([texts, &spread]));
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
    pub signature: Option<syn::Signature>,
}

impl Audited<'_> {
    /// Where and why the audit rejects it.
    pub fn rejected(self, known: &Known<'_>, mut ways_back: BTreeSet<String>) -> Option<(usize, String)> {
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

/// The constants of `globals.rs`; tables are long, so its lines are read and not its syntax.
fn constants(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub static ")?.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).filter(|name| !name.starts_with("mut ")).collect()
}
