//! Judging one port: the overlay, the build, the campaign, and what is stored of the outcome. Used by `verify` for
//! what stands in the tree and by `port` for candidates.

use crate::audit::{self, Allowed, AuditReport, Candidate, FfiNames};
use crate::contract::{file, types::Role};
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::{Builder, Built};
use crate::fuzz::overlay::Overlay;
use crate::fuzz::run::{Budget, Campaign};
use crate::harness::emit;
use crate::ported::Ported;
use crate::process::Interrupt;
use crate::project::{Planned, Project};
use crate::rust::hash::port_hash;
use crate::rust::signature::{ident, inner};
use crate::rust::splice::take_apart;
use crate::store::{Evidence, NewFinding, RunId, Side, Store};
use crate::symbol::{Function, Library, SymbolName};
use crate::verdict::{Finding, Grade, Verdict};
use crate::workspace::write_atomic;
use fs_err as fs;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A project with all that judging needs.
pub struct Judge<'p> {
    pub project: &'p Project,
    pub interrupt: &'p Interrupt,
}

impl<'p> Judge<'p> {
    /// Everything stays below `.implfuzz/`.
    pub fn new(project: &'p Project, interrupt: &'p Interrupt) -> Self {
        Self { project, interrupt }
    }

    /// Builds the tree, with some files of the port's crate replaced by candidates.
    pub fn build(&self, replaced: &[(PathBuf, String)]) -> Result<Built> {
        let workspace = &self.project.workspace;
        let overlay = Overlay::sync(&self.project.rust_dir(), &workspace.overlay(), replaced)?;
        // Deeper than the user's own directory, so that both can be used at the same time.
        let target_dir = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => Path::new(&dir).join("implfuzz"),
            None => workspace.cache().join("target"),
        };
        let builder = Builder {
            toolchain: &self.project.toolchain,
            root: workspace.root(),
            target_dir,
            bin_dir: workspace.cache().join("bin"),
        };
        builder.build(&overlay, self.interrupt)
    }

    /// The campaign of a symbol in a built binary.
    pub fn campaign<'a>(&self, binary: &'a Path, planned: &'a Planned) -> Campaign<'a> {
        let fuzz = &self.project.config.fuzz;
        let name = &planned.function.name;
        // Elements are wider than bytes; a contract may ask for more than the general limit.
        let longest =
            planned.judgeable.contract().into_iter().flat_map(|c| &c.params).map(|p| match p.role {
                Role::Buffer { max, .. } | Role::CString { max, .. } => max as u64 + 64,
                Role::FixedArray { len, .. } => len as u64 * 16,
                _ => 64,
            });
        Campaign {
            binary,
            target: name,
            work: self.project.workspace.cache().join("fuzz").join(name.as_str()),
            regressions: vec![self.seeds(name), self.private_seeds(name)],
            seed: fuzz.seed,
            max_len: fuzz.max_len.max(longest.sum()),
            call_timeout_ms: fuzz.call_timeout_ms,
            rss_limit_mb: fuzz.rss_limit_mb,
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
        let mut ported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for other in self.project.planned.iter().filter(|p| self.project.ported(&p.function) == Ported::Yes) {
            ported
                .entry(other.function.module.clone())
                .or_default()
                .insert(ident(&other.function).to_string());
        }
        let name = ident(&planned.function).to_string();
        let broken = |what: &str, error: syn::Error| {
            Error::new(ErrorKind::Build, format!("{what} is not Rust: {error}"))
                .help("run `cargo implfuzz init`")
        };
        let allowed = Allowed {
            ffi: FfiNames::read(&self.project.ffi).map_err(|error| broken("ffi.rs", error))?,
            callees: self
                .project
                .planned
                .iter()
                .filter(|p| !leads_back(&self.project.library, &planned.function, &p.function))
                .map(|p| ident(&p.function).to_string())
                .filter(|n| *n != name)
                .collect(),
            ported,
            globals: globals_of(&self.project.library, &planned.function),
            libc: planned.function.externs.iter().cloned().collect(),
            ..Allowed::new(inner(bound.function, bound.contract, bound.c))
        };
        let module = &planned.function.module;
        let allowed =
            allowed.in_module(module_text).map_err(|error| broken(&format!("src/{module}.rs"), error))?;
        Ok(audit::audit(&Candidate { module, name: &name, text: reply }, &allowed))
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

    /// Functions of the library that the port's text names, directly or through other ports, and that still run as C.
    pub fn callees_in_c(&self, planned: &Planned) -> Vec<SymbolName> {
        let mut seen = BTreeSet::from([&planned.function.key]);
        let (mut todo, mut names) = (vec![planned], BTreeSet::new());
        while let Some(next) = todo.pop() {
            let text = module_text(self.project, &next.function).unwrap_or_default();
            let (own, _) = take_apart(&text, &ident(&next.function).to_string());
            let words: BTreeSet<&str> = own.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            for other in &self.project.planned {
                if !words.contains(ident(&other.function).to_string().as_str())
                    || !seen.insert(&other.function.key)
                {
                    continue;
                }
                match self.project.ported(&other.function) {
                    Ported::Yes => todo.push(other),
                    _ => drop(names.insert(other.function.name.clone())),
                }
            }
        }
        names.into_iter().collect()
    }

    /// Hashes of everything that a verdict on `planned` is about.
    pub fn hashes(&self, planned: &Planned, module_text: &str) -> Result<Hashes> {
        let bound = planned.bound();
        let contract = planned.judgeable.contract();
        let harness = match contract {
            Some(contract) => emit::harness(&bound, contract, &self.project.crate_name())?,
            None => String::new(),
        };
        let rust = port_hash(module_text, &ident(&planned.function).to_string());
        Ok(Hashes {
            c: sha256(&c_text(self.project, &planned.function)),
            contract: sha256(&contract.map(file::render).unwrap_or_default()),
            harness: sha256(&(harness + RUNTIME)),
            rust: rust.map(|hash| hash.as_str().to_owned()).unwrap_or_default(),
        })
    }

    /// Stores the outcome of a run on the text of a module.
    pub fn record(
        &self,
        store: &mut Store,
        planned: &Planned,
        module_text: &str,
        (verdict, provenance): (&Verdict, &str),
    ) -> Result<()> {
        let hashes = self.hashes(planned, module_text)?;
        let (grade, stats) = match verdict {
            Verdict::Unrefuted(stats) => (Grade::Unrefuted, stats),
            Verdict::Refuted { stats, .. } => (Grade::Refuted, stats),
            Verdict::Vacuous { stats, .. } => (Grade::Unverifiable, stats),
        };
        store.put_evidence(&Evidence {
            c_hash: hashes.c,
            contract_hash: hashes.contract,
            harness_hash: hashes.harness,
            rust_hash: hashes.rust,
            callees_in_c: self.callees_in_c(planned),
            provenance: provenance.to_owned(),
            ..Evidence::of_run(planned.function.key.clone(), grade, stats)
        })
    }

    /// Stores a finding and keeps its input as a seed in `dir`.
    pub fn record_finding(
        &self,
        store: &mut Store,
        run: RunId,
        planned: &Planned,
        (finding, candidate): (&Finding, &str),
        dir: &Path,
    ) -> Result<()> {
        let new = NewFinding {
            symbol: &planned.function.key,
            side: Side::Port,
            finding,
            run: Some(run),
            candidate_sha256: Some(candidate.to_owned()),
        };
        store.add_finding(&new)?;
        if !finding.input.is_empty() {
            fs::create_dir_all(dir)?;
            write_atomic(&dir.join(&sha256_bytes(&finding.input)[..16]), &finding.input)?;
        }
        Ok(())
    }

    /// Moves the counterexamples to candidates into the tree, where they are committed with the accepted port.
    pub fn publish_seeds(&self, name: &SymbolName) -> Result<()> {
        let (from, to) = (self.private_seeds(name), self.seeds(name));
        if from.is_dir() {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&from)? {
                let path = entry?.path();
                write_atomic(&to.join(path.file_name().unwrap_or_default()), &fs::read(&path)?)?;
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// Whether `other` is a way back to the C original of `function`: its C text calls `function`, which does not itself
/// call `other`.
fn leads_back(library: &Library, function: &Function, other: &Function) -> bool {
    !function.calls.contains(&other.key) && with_callees(library, other).iter().any(|f| f.key == function.key)
}

/// The variables of C that a port may use: constants, and what its original or a callee of it reads or writes. In
/// another variable it could keep notes that no comparison sees.
fn globals_of(library: &Library, function: &Function) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for next in with_callees(library, function) {
        used.extend(next.globals_read.iter().chain(&next.globals_written));
    }
    let globals = library.globals.iter().filter(|g| g.is_const || used.contains(&g.key));
    globals.map(|g| g.name.to_string()).collect()
}

/// A function and all that it calls by name, directly or not.
fn with_callees<'l>(library: &'l Library, function: &'l Function) -> Vec<&'l Function> {
    let (mut seen, mut all, mut at) = (BTreeSet::from([&function.key]), vec![function], 0);
    while let Some(next) = all.get(at).copied() {
        let called = next.calls.iter().filter_map(|key| library.function(key));
        all.extend(called.filter(|f| seen.insert(&f.key)));
        at += 1;
    }
    all
}

/// What a verdict is about; when one changes, the verdict is stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    pub c: String,
    pub contract: String,
    pub harness: String,
    pub rust: String,
}

/// The harness runtime decides as well.
const RUNTIME: &str = concat!(
    include_str!("../templates/fuzz/runtime/codec.rs"),
    include_str!("../templates/fuzz/runtime/driver.rs"),
    include_str!("../templates/fuzz/runtime/guard.rs"),
    include_str!("../templates/fuzz/runtime/memory.rs"),
    include_str!("../templates/fuzz/guard.c"),
);

/// The C text that decides what a function does: its own, what it calls, the macros and globals they use; without
/// comments and layout.
fn c_text(project: &Project, function: &Function) -> String {
    let library = &project.library;
    let (mut seen, mut todo) = (BTreeSet::from([&function.key]), vec![function]);
    let mut parts = BTreeSet::new();
    while let Some(next) = todo.pop() {
        parts.insert(squeeze(&next.text));
        let macros = library.macros.iter().filter(|m| next.macros.contains(&m.name));
        parts.extend(macros.map(|m| squeeze(&m.text)));
        for global in
            next.globals_read.iter().chain(&next.globals_written).filter_map(|key| library.global(key))
        {
            let path = project.workspace.root().join(global.place.file.0.as_str());
            let text = fs::read(path).unwrap_or_default();
            let range = global.place.start.min(text.len())..global.place.end.min(text.len());
            parts.insert(squeeze(&String::from_utf8_lossy(&text[range])));
        }
        todo.extend(
            next.calls.iter().filter_map(|key| library.function(key)).filter(|f| seen.insert(&f.key)),
        );
    }
    let own = squeeze(&function.text);
    std::iter::once(own).chain(parts).collect::<Vec<_>>().join("\n")
}

/// C text without comments, with runs of white space as one blank; strings and character constants stay as they are.
fn squeeze(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].find("*/").map_or(bytes.len(), |n| at + 4 + n);
                at = end;
                if out.last() != Some(&b' ') {
                    out.push(b' ');
                }
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                let start = at;
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                out.extend_from_slice(&bytes[start..at]);
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                if out.last() != Some(&b' ') {
                    out.push(b' ');
                }
            }
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).trim().to_owned()
}

/// SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    sha256_bytes(text.as_bytes())
}

fn sha256_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The module's text, as it stands in the tree.
pub fn module_text(project: &Project, function: &Function) -> Result<String> {
    let path = project.module_path(&function.module);
    fs::read_to_string(&path).map_err(|error| {
        Error::new(ErrorKind::Io, error.to_string())
            .help("run `cargo implfuzz init` to write what is missing")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_layout_do_not_change_c_but_strings_do() {
        let a = squeeze("int f(void)  /* c */ {\n\treturn '\"'; // x\n}");
        assert_eq!(a, squeeze("int f(void) {\n return '\"';\n}"));
        assert_ne!(squeeze("f(\"a  b\")"), squeeze("f(\"a b\")"));
        assert_eq!(squeeze("\"/* no comment */\""), "\"/* no comment */\"");
    }
}
