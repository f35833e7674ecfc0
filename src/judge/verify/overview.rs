//! The state of the port of a whole library: what is ported, on which evidence, how much of it is `unsafe`, and what is
//! missing before the library needs no C.

use super::Judgement;
use crate::contract::types::Signature;
use crate::error::Result;
use crate::project::Project;
use crate::project::ported::Ported;
use crate::rust::signature::ident;
use crate::rust::unsafe_code::UnsafeCode;
use crate::symbol::{Function, SymbolName};
use crate::verdict::Grade;
use serde::Serialize;
use std::cmp::Reverse;
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
    pub missing: Vec<Missing>,
}

/// Functions without a port, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub why: String,
    pub functions: Vec<SymbolName>,
}

impl Overview {
    /// The overview of a library, of which `all` has the status of each function with a stub or a port.
    ///
    /// # Errors
    /// `Io` where a module cannot be read.
    pub fn of(project: &Project, all: &[Judgement]) -> Result<Self> {
        let functions = &project.library.functions;
        let mut overview = Self { functions: functions.len(), ..Self::default() };
        let mut missing: BTreeMap<String, Vec<SymbolName>> = BTreeMap::new();
        let planned: BTreeSet<&SymbolName> = project.planned.iter().map(|one| &one.function.name).collect();
        let none = "it has no stub";
        for function in functions.iter().filter(|function| !planned.contains(&function.name)) {
            let why = function.unsupported.as_deref().unwrap_or(none).to_owned();
            missing.entry(why).or_default().push(function.name.clone());
        }
        let status: BTreeMap<&SymbolName, &Judgement> = all.iter().map(|one| (&one.symbol, one)).collect();
        for one in &project.planned {
            let Some(judgement) = status.get(&one.function.name) else { continue };
            if project.ported(&one.function) == Ported::Yes {
                let contract = one.judgeable.contract();
                let is_safe = contract.is_some_and(|contract| contract.signature == Signature::Safe);
                overview.add(judgement, is_safe, unsafe_code(project, &one.function)?);
            } else {
                missing.entry(why(judgement)).or_default().push(one.function.name.clone());
            }
        }
        overview.missing = missing.into_iter().map(|(why, functions)| Missing { why, functions }).collect();
        overview.missing.sort_by_key(|one| Reverse(one.functions.len()));
        Ok(overview)
    }

    fn add(&mut self, judgement: &Judgement, is_safe: bool, code: UnsafeCode) {
        self.ported += 1;
        *self.grades.entry(judgement.grade).or_default() += 1;
        let is_some = |count: Option<u64>| count.is_some_and(|count| count > 0);
        match (is_some(judgement.executions), is_some(judgement.in_place)) {
            (true, true) => self.by_both += 1,
            (true, false) => self.by_harness += 1,
            (false, true) => self.by_drivers += 1,
            (false, false) => {}
        }
        self.safe_signatures += usize::from(is_safe);
        self.unsafe_count += code.count;
        self.with_unsafe += usize::from(code.count > 0);
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

/// Why a function has no port: how the last run left it, else why nothing can judge it.
fn why(judgement: &Judgement) -> String {
    let text = judgement.last_run.as_deref().or(judgement.reason.as_deref()).unwrap_or("not tried yet");
    text.lines().next().unwrap_or_default().to_owned()
}
