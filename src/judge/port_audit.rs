//! The audit of a port; its C original determines what the port may use.

use super::c_reach::variables_of;
use super::{Judge, Names, not_rust};
use crate::audit::{self, Around, AuditReport, Candidate, Problem, Rule};
use crate::contract::state;
use crate::error::Result;
use crate::evidence::allowed::{Original, Surroundings};
use crate::libc_facts as libc;
use crate::project::FunctionPlan;
use crate::project::ported::Ported;
use crate::rust::globals::{globals_file, identifier, replaceable};
use crate::rust::nonlocal_items;
use crate::rust::signature::{ident, inner};
use crate::rust::splice::take_apart;
use crate::symbol::LibraryIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether a test has switched the audit off, to show that the other walls hold without it. Only builds with debug
/// assertions allow it. The evidence then says that the audit was off.
pub(super) fn is_switched_off() -> bool {
    cfg!(debug_assertions) && std::env::var_os("IMPLFUZZ_TEST_WITHOUT_AUDIT").is_some()
}

impl<'p> Judge<'p> {
    /// Audits a function in a module, with the private items that it reaches. Line numbers are those of the file.
    pub fn audit(&self, planned: &FunctionPlan, module_text: &str) -> Result<AuditReport> {
        let (own, rest) = take_apart(module_text, &ident(&planned.function).to_string());
        self.audit_reply(planned, &own, &rest)
    }

    /// Audits a reply, that is, a function with its helpers, for the module with this text.
    pub fn audit_reply(&self, planned: &FunctionPlan, reply: &str, module_text: &str) -> Result<AuditReport> {
        let module = &planned.function.module;
        let allowed = self.surroundings()?.allowed(self.original(planned)?, Around::default());
        let allowed =
            allowed.in_module(module_text).map_err(|error| not_rust(&format!("src/{module}.rs"), &error))?;
        let name = ident(&planned.function).to_string();
        let mut report = audit::audit(&Candidate { module, name: &name, text: reply }, &allowed);
        report.problems.extend(self.open_items()?.iter().cloned());
        if is_switched_off() {
            report.problems.clear();
        }
        Ok(report)
    }

    /// What a port of `planned` may use, according to its C original.
    fn original(&self, planned: &FunctionPlan) -> Result<Original> {
        let names = self.names()?;
        let back = self.c_side()?.ways_back(&planned.function);
        // State that the original does not have could store data that no comparison sees.
        let kept = &names.kept[&planned.function.key];
        let those = |is: &dyn Fn(&FunctionPlan) -> bool| -> BTreeSet<String> {
            names.functions.iter().filter(|(_, other)| is(other)).map(|(name, _)| name.clone()).collect()
        };
        let bound = planned.bound();
        let externs = &planned.function.externs;
        // The libc crate lacks `getc`, which is `fgetc`.
        let same = externs.iter().filter_map(|name| libc::same_as(name)).map(str::to_owned);
        Ok(Original {
            signature: inner(bound.function, bound.contract, bound.c),
            libc: externs.iter().cloned().chain(same).collect(),
            globals: variables_of(&self.project.library, planned).into_iter().collect(),
            ways_back: those(&|other| back.contains(&other.function.key)),
            keeps_more: those(&|other| !names.kept[&other.function.key].is_subset(kept)),
        })
    }

    /// Functions that a port of `planned` may not run as C, by their Rust names.
    pub(super) fn closed(&self, planned: &FunctionPlan) -> Result<BTreeSet<String>> {
        let Original { mut ways_back, keeps_more, .. } = self.original(planned)?;
        ways_back.extend(keeps_more);
        Ok(ways_back)
    }

    /// Variables of the library that a port of `planned` may not use, by their names in `globals`.
    pub(super) fn variables_of_others(&self, planned: &FunctionPlan) -> BTreeSet<String> {
        let mut own: BTreeSet<String> = variables_of(&self.project.library, planned).into_iter().collect();
        // Ports that it calls, or whose addresses it passes on, may use theirs, and their code may stand in its own.
        for next in LibraryIndex::of(&self.project.library).reached(&planned.function) {
            let keys = next.globals_read.iter().chain(&next.globals_written);
            let globals = keys.filter_map(|key| self.project.library.global(key));
            own.extend(globals.map(|global| identifier(global.name.as_str())));
        }
        let all = self.project.library.globals.iter().filter(|global| global.is_variable());
        all.map(|global| identifier(global.name.as_str())).filter(|name| !own.contains(name)).collect()
    }

    /// Functions of the system that programs can replace through variables of the library.
    pub(super) fn replaceable(&self) -> Result<&BTreeSet<String>> {
        Ok(&self.names()?.replaceable)
    }

    /// The names and modules around all ports, as they are now.
    fn surroundings(&self) -> Result<Surroundings> {
        let names = self.names()?;
        let globals = &self.project.library.globals;
        let constants = globals.iter().filter(|global| !global.is_variable()).map(|g| g.name.to_string());
        let ported = names.by_module.iter().map(|(module, all)| self.ported_in(module, all));
        Ok(Surroundings {
            ffi: Arc::clone(&names.ffi),
            callees: Arc::new(names.functions.keys().cloned().collect()),
            ported: Arc::new(ported.collect()),
            constants: Arc::new(constants.collect()),
            replaceable: Arc::clone(&names.replaceable),
        })
    }

    /// Items of any module of the port crate that code can use without a name. The audit of one port would not see
    /// them in another module.
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
                // Usually the item is in another module; the reason names the place.
                line: 1,
                column: 1,
                excerpt: String::new(),
                reason: nonlocal_items::reason(&format!("{file}:{line}")),
            }));
        }
        Ok(self.open_items.get_or_init(|| all))
    }

    pub(super) fn names(&self) -> Result<&Names<'p>> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let project = self.project;
        let mut by_module: BTreeMap<&str, Vec<&FunctionPlan>> = BTreeMap::new();
        for planned in &project.planned {
            by_module.entry(&planned.function.module).or_default().push(planned);
        }
        let index = LibraryIndex::of(&project.library);
        let names = Names {
            ffi: project.ffi_names()?,
            functions: project.callable().map(|p| (ident(&p.function).to_string(), p)).collect(),
            by_module,
            replaceable: Arc::new(replaceable(&globals_file(&project.library, &project.values).0)),
            kept: project.callable().map(|p| (&p.function.key, state::kept(&index, &p.function))).collect(),
        };
        Ok(self.names.get_or_init(|| names))
    }

    /// The functions of a module that have a body now.
    fn ported_in(&self, module: &str, functions: &[&FunctionPlan]) -> (String, BTreeSet<String>) {
        let text = self.project.module(module).ok();
        let is_ported =
            |p: &&&FunctionPlan| text.as_ref().is_some_and(|m| m.state(&p.function) == Ported::Yes);
        let ported = functions.iter().filter(is_ported).map(|p| ident(&p.function).to_string());
        (module.to_owned(), ported.collect())
    }
}
