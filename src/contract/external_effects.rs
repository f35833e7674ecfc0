//! Which functions reach out of the library, to sockets, threads, files or the terminal, directly or through a
//! callee. `contract::tier` decides what follows from it.

use crate::libc_facts::{self as libc, Effect};
use crate::symbol::{Function, Library, SymbolKey};
use std::collections::HashMap;

/// What kind of outside a function reaches; the worse kind is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Realm {
    /// Files, standard streams, the environment: a harness can set them up, but only with instructions.
    Files,
    /// Sockets, threads, processes, signals.
    System,
}

/// A call that leaves the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach<'a> {
    pub realm: Realm,
    /// The name of the called function outside the library.
    pub calls: &'a str,
    /// The library function that calls it.
    pub from: &'a Function,
}

/// What each function reaches. Callees usually come first, so the work grows with the number of calls.
pub(super) fn outside(library: &Library) -> HashMap<&SymbolKey, Reach<'_>> {
    let mut reached: HashMap<&SymbolKey, Reach> = HashMap::new();
    loop {
        let mut changed = false;
        for function in &library.functions {
            let own = function
                .externs
                .iter()
                .filter_map(|name| Some(Reach { realm: realm(name)?, calls: name, from: function }));
            let callees = function.calls.iter().chain(&function.address_taken);
            let through = callees.filter_map(|key| reached.get(key).copied());
            // The first of the worst; the function's own calls come before those of its callees.
            let worst =
                own.chain(through).reduce(|best, next| if next.realm > best.realm { next } else { best });
            let before = reached.get(&function.key).map(|reach| reach.realm);
            if let Some(worst) = worst.filter(|worst| Some(worst.realm) > before) {
                reached.insert(&function.key, worst);
                changed = true;
            }
        }
        // Only call cycles need a second pass.
        if !changed {
            return reached;
        }
    }
}

fn realm(name: &str) -> Option<Realm> {
    match libc::effect(name)? {
        Effect::Computes | Effect::State | Effect::Random | Effect::Clock => None,
        Effect::Environment | Effect::Descriptors | Effect::Files | Effect::Stdio => Some(Realm::Files),
        Effect::Network | Effect::Threads | Effect::Processes | Effect::Signals | Effect::Loader => {
            Some(Realm::System)
        }
    }
}
