//! What a port may reach: which functions lead back to its original, and which variables of C are its own.

use crate::contract::state::is_variable;
use crate::project::Planned;
use crate::symbol::{Function, Library, SymbolKey};
use std::collections::{BTreeMap, BTreeSet};

/// Functions whose C text leads back to the C original of `function`: its callers, directly or not, but for those that it
/// calls itself.
pub(super) fn ways_back<'l>(library: &'l Library, function: &'l Function) -> BTreeSet<&'l SymbolKey> {
    let mut callers: BTreeMap<&SymbolKey, Vec<&SymbolKey>> = BTreeMap::new();
    for caller in &library.functions {
        for callee in &caller.calls {
            callers.entry(callee).or_default().push(&caller.key);
        }
    }
    let (mut found, mut todo) = (BTreeSet::new(), vec![&function.key]);
    while let Some(next) = todo.pop() {
        let more = callers.get(next).into_iter().flatten().copied();
        todo.extend(more.filter(|key| found.insert(*key)));
    }
    found.retain(|key| !function.calls.contains(key));
    found
}

/// The variables of C that a port may use: what its contract compares, else what its original or a callee of it reads or
/// writes. In another variable it could keep notes that no comparison sees.
pub(super) fn variables_of(library: &Library, planned: &Planned) -> Vec<String> {
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
    let globals = library.globals.iter().filter(|g| is_variable(g) && used.contains(&g.name));
    globals.map(|g| g.name.to_string()).collect()
}

/// A function and all that it calls by name, directly or not.
pub fn with_callees<'l>(library: &'l Library, function: &'l Function) -> Vec<&'l Function> {
    let (mut seen, mut all, mut at) = (BTreeSet::from([&function.key]), vec![function], 0);
    while let Some(next) = all.get(at).copied() {
        let called = next.calls.iter().filter_map(|key| library.function(key));
        all.extend(called.filter(|f| seen.insert(&f.key)));
        at += 1;
    }
    all
}
