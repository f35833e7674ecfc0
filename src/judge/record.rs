//! Records a verdict: an entry of `implfuzz.lock`, and a row of history in the store.

use super::c_reach::variables_of;
use super::c_side::unit_of;
use super::port_audit::is_switched_off;
use super::ratchet::take_out;
use super::{Judge, Names, Outcome};
use crate::error::Result;
use crate::evidence::fingerprint::{
    Constants, Crate, DependencyGraph, Fingerprint, KnownContract, port_hash, port_mentions, ports_called,
};
use crate::evidence::lock::{Entry, Lock, roots};
use crate::platform::process::support;
use crate::project::FunctionPlan;
use crate::project::ported::PortModule;
use crate::rust::signature::{ident, inner};
use crate::store::{LastVerdict, Store};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Judge<'_> {
    /// The fingerprint of the port of `planned` in the tree.
    pub fn fingerprint(&self, planned: &FunctionPlan) -> Result<Fingerprint> {
        self.fingerprint_with(planned, None)
    }

    /// The same with another text of its module.
    pub fn fingerprint_with(
        &self,
        planned: &FunctionPlan,
        module: Option<&Rc<PortModule>>,
    ) -> Result<Fingerprint> {
        let names = self.names()?;
        let module_of = |name: &str| {
            let own = names.functions.get(name)?.function.module == planned.function.module;
            module.filter(|_| own).cloned().or_else(|| self.module_of(names, name))
        };
        let c = self.c_now(planned)?;
        let files = Crate::new(self.project.rust_dir())
            .hashes(planned.function.name.as_str(), KnownContract::default());
        let hash_of = |name: &str| port_hash(module_of(name)?.as_ref(), name);
        let mentions_of = |name: &str| port_mentions(module_of(name)?.as_ref(), name);
        let own = ident(&planned.function).to_string();
        Ok(Fingerprint::of(&own, c, files, self.constants()?, (hash_of, mentions_of)))
    }

    /// The constants of the port crate, which `init` writes before anything is judged.
    fn constants(&self) -> Result<&Constants> {
        match self.constants.get() {
            Some(constants) => Ok(constants),
            None => {
                let constants = Constants::read(&self.project.rust_dir())?;
                Ok(self.constants.get_or_init(|| constants))
            }
        }
    }

    /// The ports that the port of `planned` in the tree calls, directly or through others, by their Rust names.
    pub fn ports_called(&self, planned: &FunctionPlan) -> Result<BTreeSet<String>> {
        let names = self.names()?;
        let own = ident(&planned.function).to_string();
        Ok(ports_called(&own, |name| port_mentions(self.module_of(names, name)?.as_ref(), name)))
    }

    /// The module of a function of the library, by its Rust name.
    fn module_of(&self, names: &Names, name: &str) -> Option<Rc<PortModule>> {
        self.project.module(&names.functions.get(name)?.function.module).ok()
    }

    /// Records an outcome and its provenance: in the lock, which counts, and in this machine's history. The module
    /// and the seeds must already be in the tree.
    pub fn record(
        &self,
        store: &mut Store,
        planned: &FunctionPlan,
        outcome: &Outcome,
        provenance: &str,
    ) -> Result<()> {
        let function = &planned.function;
        let module = self.project.module(&function.module)?;
        let fingerprint = Fingerprint { drivers: outcome.drivers.hash.clone(), ..self.fingerprint(planned)? };
        let mut last = LastVerdict {
            symbol: function.key.clone(),
            c_hash: fingerprint.c.clone(),
            contract_hash: fingerprint.contract.clone(),
            harness_hash: fingerprint.harness.clone(),
            rust_hash: fingerprint.rust.clone(),
            seal: String::new(),
            grade: outcome.grade,
            shortcomings: outcome.shortcomings.clone(),
        };
        let bound = planned.bound();
        let files = Crate::new(self.project.rust_dir());
        let mut lock = Lock::load(self.project.workspace.root())?.unwrap_or_default();
        let unsafe_count = self.audit(planned, module.text())?.unsafe_code.count;
        let entry = Entry {
            contract_text: files.contract_mark(function.name.as_str(), &fingerprint.contract),
            grade: outcome.grade,
            shortcomings: outcome.shortcomings.clone(),
            module: function.module.clone(),
            unit: unit_of(self.project, function).to_owned(),
            chunks: self.c_side()?.chunks.get(&function.key).cloned().unwrap_or_default(),
            harness_chunks: self.c_side()?.also.get(&function.key).cloned().unwrap_or_default(),
            signature: inner(bound.function, bound.contract, bound.c).to_token_stream().to_string(),
            fingerprint,
            callees_in_c: self.callees_in_c(planned)?.iter().map(ToString::to_string).collect(),
            libc: function.externs.clone(),
            globals: variables_of(&self.project.library, planned),
            driver_files: outcome.drivers.files.clone(),
            executions: outcome.stats.executions,
            in_place: (outcome.stats.in_place > 0).then_some(outcome.stats.in_place),
            accept_rate: outcome.stats.accept_rate(),
            unsafe_count,
            unsafe_least: self.unsafe_least(planned, &lock, outcome.grade, unsafe_count),
            provenance: provenance.to_owned(),
            tools: self.tools()?,
            date: crate::store::now().to_string(),
            ..Entry::default()
        }
        .with_proofs(&outcome.proofs)
        .sealed();
        last.seal.clone_from(&entry.seal);
        store.put_verdict(&last)?;
        lock.c.extend(self.c_side()?.lines(&entry));
        lock.symbols.insert(function.name.to_string(), entry);
        lock.unsafe_least.remove(function.name.as_str());
        self.save(lock)
    }

    /// Removes the entry of a symbol from the lock.
    pub fn forget(&self, planned: &FunctionPlan) -> Result<()> {
        let Some(mut lock) = Lock::load(self.project.workspace.root())? else { return Ok(()) };
        if take_out(&mut lock, planned.function.name.as_str()) { self.save(lock) } else { Ok(()) }
    }

    /// Removes the entries of functions that the library no longer has.
    pub fn forget_gone(&self) -> Result<()> {
        let Some(mut lock) = Lock::load(self.project.workspace.root())? else { return Ok(()) };
        // Functions in a file that cannot be read now are not gone.
        if self.project.library.left_out.iter().any(|file| file.broken) {
            return Ok(());
        }
        let known: BTreeSet<&str> = self.project.planned.iter().map(|p| p.function.name.as_str()).collect();
        let before = lock.symbols.len() + lock.unsafe_least.len();
        lock.symbols.retain(|name, _| known.contains(name.as_str()));
        lock.unsafe_least.retain(|name, _| known.contains(name.as_str()));
        if lock.symbols.len() + lock.unsafe_least.len() == before { Ok(()) } else { self.save(lock) }
    }

    /// Writes the lock.
    fn save(&self, mut lock: Lock) -> Result<()> {
        // Entries of another text of C may have come in meanwhile, with lines that this text does not lead to.
        if self.project.c_files.changed(self.project.root()?).next().is_some() {
            let needed = lock.c.keys().cloned().collect();
            return lock.save(self.project.workspace.root(), &needed);
        }
        let needed = {
            let roots = roots(lock.symbols.values());
            let graph = DependencyGraph::of(&self.c_side()?.tree, &|id| lock.links(id), &roots);
            (0..lock.symbols.len()).flat_map(|root| graph.closure(root).into_keys()).collect()
        };
        lock.save(self.project.workspace.root(), &needed)
    }

    /// What built and ran the port; recorded, not hashed.
    fn tools(&self) -> Result<String> {
        let tools = self.project.toolchain(self.interrupt)?;
        let (rustc, cc) = (&tools.rustc_version, &tools.cc);
        let lock = self.project.workspace.overlay().join("fuzz/Cargo.lock");
        let libc = version_of("libc", &fs_err::read_to_string(lock).unwrap_or_default());
        let libc = libc.map_or_else(String::new, |version| format!(", libc {version}"));
        let (own, sandbox) = (env!("CARGO_PKG_VERSION"), support().words());
        let audit = if is_switched_off() { ", without the audit" } else { "" };
        Ok(format!("cargo-implfuzz {own}, rustc {rustc}, {} {}{libc}, {sandbox}{audit}", cc.kind, cc.version))
    }
}

/// The version of a crate in the text of a `Cargo.lock`.
fn version_of(name: &str, lock: &str) -> Option<String> {
    let lock: toml::Table = lock.parse().ok()?;
    let is_it = |package: &&toml::Value| package.get("name").and_then(toml::Value::as_str) == Some(name);
    let package = lock.get("package")?.as_array()?.iter().find(is_it)?;
    Some(package.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn the_version_of_a_crate_is_in_its_lock() {
        let lock = "version = 4\n\n[[package]]\nname = \"cc\"\nversion = \"1.2\"\n\n[[package]]\nname = \"libc\"\nversion = \"0.2.7\"\n";
        assert_eq!(version_of("libc", lock).as_deref(), Some("0.2.7"));
        assert_eq!((version_of("lib", lock), version_of("libc", "")), (None, None));
    }
}
