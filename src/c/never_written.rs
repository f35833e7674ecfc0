//! Static variables that no code can write to: constants in all but their type, such as `static const char *names[]`.

use super::constant_pointers::{Behind, is_constant};
use crate::symbol::{Function, Global, Linkage, SymbolKey};
use std::collections::{BTreeMap, BTreeSet};

/// Marks the variables that no function writes to, and whose address no function passes on (`lent`) and no initialiser has
/// (`behind`).
pub(super) fn mark(
    globals: &mut BTreeMap<SymbolKey, Global>,
    functions: &[Function],
    behind: &Behind,
    lent: &BTreeSet<SymbolKey>,
) {
    let written: BTreeSet<&SymbolKey> =
        functions.iter().flat_map(|function| &function.globals_written).collect();
    let pointed: BTreeSet<&SymbolKey> = behind.values().flatten().collect();
    for (key, global) in globals {
        let has_address = lent.contains(key) || pointed.contains(key);
        let is_own = global.linkage == Linkage::Static && !global.is_thread_local;
        global.never_written &= is_own && !has_address && !written.contains(key) && !is_constant(global);
    }
}
