//! Variables behind constant pointers: `static int *const at = &count;`, or a constant table of such pointers. A function
//! that uses the constant can read and write the variable, although its body does not name it.

use super::cursor::Cursor;
use super::expr::initialiser;
use crate::symbol::{CType, Function, Global, SymbolKey, TypeKind};
use clang_sys::*;
use std::collections::{BTreeMap, BTreeSet};

/// The globals that initialisers of globals name.
pub(super) type Behind = BTreeMap<SymbolKey, BTreeSet<SymbolKey>>;

/// The globals that the initialiser of `global` names, if any. `key` gives their keys.
pub(super) fn targets(
    global: Cursor<'_>,
    key: &dyn Fn(Cursor<'_>) -> SymbolKey,
) -> Option<BTreeSet<SymbolKey>> {
    let mut found = BTreeSet::new();
    collect(initialiser(global)?, key, &mut found);
    (!found.is_empty()).then_some(found)
}

fn collect(node: Cursor<'_>, key: &dyn Fn(Cursor<'_>) -> SymbolKey, found: &mut BTreeSet<SymbolKey>) {
    // `sizeof names / sizeof *names`
    if node.kind() == CXCursor_UnaryExpr {
        return;
    }
    let variable = node.referenced().filter(|of| of.kind() == CXCursor_VarDecl);
    found.extend(variable.filter(|_| node.kind() == CXCursor_DeclRefExpr).map(key));
    node.children().into_iter().for_each(|child| collect(child, key, found));
}

/// Adds to each function the variables behind the constants that it uses.
pub(super) fn follow(functions: &mut [Function], globals: &BTreeMap<SymbolKey, Global>, behind: &Behind) {
    for function in functions {
        let mentioned = function.globals_read.iter().chain(&function.globals_written).cloned().collect();
        let (read, written) = reached(mentioned, globals, behind);
        extend(&mut function.globals_read, read);
        extend(&mut function.globals_written, written);
    }
}

/// The variables behind these globals that can be read, and those that can be written.
fn reached(
    mut open: Vec<SymbolKey>,
    globals: &BTreeMap<SymbolKey, Global>,
    behind: &Behind,
) -> (BTreeSet<SymbolKey>, BTreeSet<SymbolKey>) {
    let (mut seen, mut read, mut written) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    while let Some(key) = open.pop() {
        let Some(constant) = globals.get(&key).filter(|global| is_constant(global)) else { continue };
        let targets = behind.get(&key).into_iter().flatten().filter(|_| seen.insert(key.clone()));
        for target in targets {
            open.push(target.clone());
            if globals.get(target).is_some_and(|target| !is_constant(target)) {
                read.insert(target.clone());
                written.extend((!leads_to_constants(&constant.ty)).then(|| target.clone()));
            }
        }
    }
    (read, written)
}

fn extend(keys: &mut Vec<SymbolKey>, new: BTreeSet<SymbolKey>) {
    if !new.is_empty() {
        let all: BTreeSet<SymbolKey> = keys.drain(..).chain(new).collect();
        keys.extend(all);
    }
}

pub(super) fn is_constant(global: &Global) -> bool {
    global.is_const || global.ty.element().is_const
}

/// Whether these are pointers through which nothing can be written.
fn leads_to_constants(ty: &CType) -> bool {
    matches!(&ty.element().kind, TypeKind::Pointer(target) if target.is_const)
}
