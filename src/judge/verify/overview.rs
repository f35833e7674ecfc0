//! The state of the port of a whole library: what is ported, on which evidence, how much of it is `unsafe`, and what is
//! missing before the library needs no C.

use super::Judgement;
use crate::contract::types::Signature;
use crate::error::Result;
use crate::project::Project;
use crate::project::listing::{Cause, causes};
use crate::project::ported::Ported;
use crate::rust::signature::ident;
use crate::rust::unsafe_code::UnsafeCode;
use crate::store::Store;
use crate::symbol::{Function, SymbolName};
use crate::verdict::Grade;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The state of the port of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// All functions of the library, those without a stub included.
    pub functions: usize,
    pub ported: usize,
    /// How many ports have each grade.
    pub grades: BTreeMap<Grade, usize>,
    /// Ports that a harness alone, drivers alone, or both have judged.
    pub by_harness: usize,
    pub by_drivers: usize,
    pub by_both: usize,
    /// Ports with a safe signature.
    pub safe_signatures: usize,
    /// `unsafe` blocks and functions in all ports, and the number of ports that have some.
    pub unsafe_count: usize,
    pub with_unsafe: usize,
    /// Functions without a port that holds, for each reason.
    pub missing: Vec<Cause>,
}

impl Overview {
    /// The overview of a library, of which `all` has the status of each function with a stub or a port.
    ///
    /// # Errors
    /// `Io` where a module cannot be read, and those of the store.
    pub fn of(project: &Project, store: &Store, all: &[Judgement]) -> Result<Self> {
        let functions = &project.library.functions;
        let mut overview = Self { functions: functions.len(), ..Self::default() };
        let (mut why, mut ported) = (Vec::new(), Vec::new());
        let planned: BTreeSet<&SymbolName> = project.planned.iter().map(|one| &one.function.name).collect();
        for function in functions.iter().filter(|function| !planned.contains(&function.name)) {
            let text = function.unsupported.clone().unwrap_or_else(|| "it has no stub".to_owned());
            why.push((&function.name, text));
        }
        let status: BTreeMap<&SymbolName, &Judgement> = all.iter().map(|one| (&one.symbol, one)).collect();
        let ends = store.ends()?;
        for one in &project.planned {
            let Some(judgement) = status.get(&one.function.name) else { continue };
            let name = &one.function.name;
            if project.ported(&one.function) == Ported::Yes {
                let contract = one.judgeable.contract();
                overview
                    .add(judgement, contract.is_some_and(|contract| contract.signature == Signature::Safe));
                ported.push(&one.function);
                if !judgement.grade.holds() {
                    why.push((name, format!("ported, but {}", judgement.grade)));
                }
            } else {
                let end = ends.get(&one.function.key).map(|end| format!("last run: {}", end.word));
                let text = end.or(judgement.reason.clone()).unwrap_or_else(|| "not tried yet".to_owned());
                why.push((name, text));
            }
        }
        overview.missing = causes(why.iter().map(|(name, text)| (*name, text.as_str())));
        overview.count_unsafe(project, &ported)?;
        Ok(overview)
    }

    fn add(&mut self, judgement: &Judgement, is_safe: bool) {
        self.ported += 1;
        *self.grades.entry(judgement.grade).or_default() += 1;
        self.safe_signatures += usize::from(is_safe);
        let is_some = |count: Option<u64>| judgement.grade.holds() && count.is_some_and(|count| count > 0);
        match (is_some(judgement.executions), is_some(judgement.in_place)) {
            (true, true) => self.by_both += 1,
            (true, false) => self.by_harness += 1,
            (false, true) => self.by_drivers += 1,
            (false, false) => {}
        }
    }

    /// Counts each item once, however many ports share it.
    fn count_unsafe(&mut self, project: &Project, ported: &[&Function]) -> Result<()> {
        let mut by_module: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in ported {
            by_module.entry(&function.module).or_default().push(function);
        }
        for (module, functions) in by_module {
            let module = project.module(module)?;
            let (mut seen, mut items) = (BTreeSet::new(), Vec::new());
            for function in functions {
                let own = module.own_items(&ident(function).to_string());
                self.with_unsafe += usize::from(UnsafeCode::of(own.iter().copied()).count > 0);
                items.extend(own.into_iter().filter(|item| seen.insert(std::ptr::from_ref(*item))));
            }
            self.unsafe_count += UnsafeCode::of(items).count;
        }
        Ok(())
    }
}

/// The `unsafe` code of a port, with the private items that it reaches.
///
/// # Errors
/// `Io` where the module cannot be read.
pub fn unsafe_code(project: &Project, function: &Function) -> Result<UnsafeCode> {
    let module = project.module(&function.module)?;
    Ok(UnsafeCode::of(module.own_items(&ident(function).to_string())))
}
