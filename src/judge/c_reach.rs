//! What a port may use: the functions that its original calls, and its original's C variables.

use crate::project::FunctionPlan;
use crate::symbol::{Function, Library};
use std::collections::BTreeSet;

/// The C variables that a port may use: those that its contract compares, else those that its original or a callee
/// of it reads or writes, and the streams of the system that its original names. Another variable could store data that
/// no comparison sees.
pub(super) fn variables_of(library: &Library, planned: &FunctionPlan) -> Vec<String> {
    let mut used = BTreeSet::new();
    match planned.judgeable.contract() {
        Some(contract) => used.extend(contract.globals.iter().map(|global| &global.name)),
        None => {
            for next in with_callees(library, &planned.function) {
                let keys = next.globals_read.iter().chain(&next.globals_written);
                used.extend(keys.filter_map(|key| library.global(key)).map(|global| &global.name));
            }
        }
    }
    let globals = library.globals.iter().filter(|g| g.is_variable() && used.contains(&g.name));
    let streams = planned.function.streams().cloned();
    globals.map(|g| g.name.to_string()).chain(streams).collect()
}

/// A function and all functions that it calls by name, directly or not.
pub fn with_callees<'l>(library: &'l Library, function: &'l Function) -> Vec<&'l Function> {
    let (mut seen, mut all, mut at) = (BTreeSet::from([&function.key]), vec![function], 0);
    while let Some(next) = all.get(at).copied() {
        let called = next.calls.iter().filter_map(|key| library.function(key));
        all.extend(called.filter(|f| seen.insert(&f.key)));
        at += 1;
    }
    all
}
