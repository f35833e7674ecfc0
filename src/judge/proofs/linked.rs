//! The linkage proof of the ports in a build.

use crate::audit::linkage::{CSymbols, Compiled, Linkage, Wanted};
use crate::error::Result;
use crate::fuzz::build::fuzz_binary::compiled_crate;
use crate::judge::{Judge, not_rust};
use crate::project::FunctionPlan;
use crate::rust::signature::ident;
use crate::symbol::{Function, LibraryIndex, SymbolName};
use std::collections::BTreeSet;
use std::path::Path;

/// The linkage proof of the ports in some builds of the same tree.
pub struct Linked<'j, 'p> {
    judge: &'j Judge<'p>,
    builds: Vec<Compiled>,
    c: CSymbols,
}

impl<'j, 'p> Linked<'j, 'p> {
    /// Reads the compiled port crates in these binaries of [`Judge::build`].
    ///
    /// # Errors
    /// `Io` or `Internal` if the build left no readable crate.
    pub fn read(judge: &'j Judge<'p>, binaries: &[&Path]) -> Result<Self> {
        let project = judge.project;
        let read =
            |binary: &&Path| Compiled::read(&fs_err::read(compiled_crate(binary))?, &project.crate_name());
        let c = CSymbols::read(&project.ffi).map_err(|error| not_rust("ffi.rs", &error))?;
        Ok(Self { judge, builds: binaries.iter().map(read).collect::<Result<_>>()?, c })
    }

    /// The symbols that the port of a function reaches in any of the builds.
    ///
    /// # Errors
    /// Where the library's files cannot be read.
    pub fn linkage(&self, planned: &FunctionPlan) -> Result<Linkage> {
        let (function, project) = (&planned.function, self.judge.project);
        // Those of which the address is taken, too: the port names their shims.
        let index = LibraryIndex::of(&project.library);
        let reached: Vec<&Function> = index.reached(function).collect();
        let mut closed = self.judge.closed(planned)?;
        // Ports that it calls may call these, and their code may stand in its own.
        for other in reached.iter().filter(|other| other.key != function.key) {
            closed.remove(&ident(other).to_string());
        }
        let wanted = Wanted {
            module: &function.module,
            ident: &ident(function).to_string(),
            externs: reached
                .iter()
                .flat_map(|f| f.externs.iter().chain(f.streams()))
                .map(String::as_str)
                .collect(),
            replaceable: self.judge.replaceable()?,
            closed,
            variadic: project
                .staying
                .iter()
                .filter(|other| other.function.is_variadic)
                .map(|other| ident(&other.function).to_string())
                .collect(),
            others: self.judge.variables_of_others(planned),
        };
        let all: Vec<Linkage> = self.builds.iter().map(|build| build.linkage(&wanted, &self.c)).collect();
        let once = |all: BTreeSet<_>| all.into_iter().collect();
        let mut linkage = Linkage {
            reaches_c: once(all.iter().flat_map(|one| one.reaches_c.iter().cloned()).collect()),
            forbidden: all
                .into_iter()
                .flat_map(|one| one.forbidden)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        };
        // A shim has its function's Rust name.
        for name in &mut linkage.reaches_c {
            let named = |p: &&FunctionPlan| ident(&p.function) == name.as_str();
            if let Some(planned) = project.callable().find(named) {
                *name = planned.function.name.clone();
            }
        }
        Ok(linkage)
    }
}

/// Why the linkage proof refutes a port; `None` if it does not.
pub fn refused(linkage: &Linkage) -> Option<String> {
    let list = linkage.forbidden.join("; ");
    (!list.is_empty()).then(|| format!("the linkage proof rejects it: its compiled code leads to {list}"))
}

/// The functions that a port still runs as C: those that its text names and those that its compiled code reaches.
pub fn still_c(named: Vec<SymbolName>, reached: &[SymbolName]) -> Vec<SymbolName> {
    let all: BTreeSet<SymbolName> = named.into_iter().chain(reached.iter().cloned()).collect();
    all.into_iter().collect()
}
