//! Atomic operations that macros hide. libclang shows them as nodes without a name, whose text is that of the macro.

use crate::symbol::Macro;
use std::collections::BTreeSet;

/// Beginnings of the names of atomic operations: the compilers', and those of `<stdatomic.h>`.
const OPERATIONS: &[&str] = &[
    "__atomic_", "__sync_", "__c11_atomic_", "atomic_load", "atomic_store", "atomic_exchange",
    "atomic_compare_exchange", "atomic_fetch_", "atomic_flag_", "atomic_thread_fence", "atomic_signal_fence",
];

/// The macros that lead to an atomic operation.
pub(super) fn macros(macros: &[Macro]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    loop {
        let leads =
            |own: &&Macro| words(&own.text).skip(1).any(|word| is_operation(word) || found.contains(word));
        let new: Vec<&str> = macros
            .iter()
            .filter(|own| !found.contains(own.name.as_str()))
            .filter(leads)
            .map(|own| own.name.as_str())
            .collect();
        if new.is_empty() {
            return found;
        }
        found.extend(new);
    }
}

pub(super) fn is_operation(name: &str) -> bool {
    OPERATIONS.iter().any(|operation| name.starts_with(operation))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}
