//! The lines after the `#include` in the alias unit of a source: a second name for every static, so that other units
//! can reach it, and a layout assertion for every record.
//!
//! `translate` finds out which lines a compiler accepts.

use super::layout_assertions;
use super::merge::Merged;
use crate::symbol::{Global, Library, Linkage, RelPath, SymbolKey};
use std::collections::{BTreeMap, BTreeSet};

/// The subject of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// A static function or variable.
    Static(SymbolKey),
    /// The key of a record.
    Record(String),
}

/// An entry of an alias unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub subject: Subject,
    pub text: String,
    /// The name of the static, for which another compiler may have a macro instead.
    unless_macro: Option<String>,
}

impl Line {
    /// The text for later builds, which may use another compiler.
    pub fn guarded(&self) -> String {
        match &self.unless_macro {
            Some(name) => format!("#ifndef {name}\n{}\n#endif", self.text),
            None => self.text.clone(),
        }
    }
}

/// The suffix of the second names.
pub(super) const ALIAS_END: &str = "__st";

pub(super) fn alias(module: &str, c_name: &str) -> String {
    format!("{module}__{c_name}{ALIAS_END}")
}

/// By which other units reach a static variable inside a function, in builds that have [`local_line`].
pub(super) fn local_alias(global: &Global) -> Option<String> {
    global.local_to.as_ref().map(|_| alias(&global.module, &global.full_name()))
}

/// What gives a static variable inside a function its second name: C cannot, so the assembler does. The compiler must not
/// optimise, because it would take such a variable apart.
pub(super) fn local_line(global: &Global) -> Option<String> {
    let (symbol, second) = (global.local_symbol()?, local_alias(global)?);
    global.unsupported.is_none().then(|| format!("__asm__(\".globl {second}\\n.set {second}, {symbol}\");"))
}

/// Static functions and variables that can be bound: key, C name, module.
pub(super) fn statics(library: &Library) -> impl Iterator<Item = (&SymbolKey, &str, &str)> {
    // Ports may call static functions that cannot be ported themselves.
    let functions = library.functions.iter().filter(|f| f.linkage == Linkage::Static);
    let is_bound =
        |g: &&Global| g.linkage == Linkage::Static && g.unsupported.is_none() && g.local_to.is_none();
    let globals = library.globals.iter().filter(is_bound);
    let functions = functions.map(|f| (&f.key, f.c_name.as_str(), f.module.as_str()));
    functions.chain(globals.map(|g| (&g.key, g.c_name.as_str(), g.module.as_str())))
}

/// The entries of each unit, by file; units without entries are absent.
pub(super) fn lines(merged: &Merged) -> BTreeMap<RelPath, Vec<Line>> {
    let mut lines: BTreeMap<RelPath, Vec<Line>> = BTreeMap::new();
    let macros: BTreeSet<&str> = merged.library.macros.iter().map(|m| m.name.as_str()).collect();
    for (key, c_name, module) in statics(&merged.library) {
        if let Some(unit) = merged.library.unit_of.get(key) {
            let second = alias(module, c_name);
            let text = format!("extern __typeof__({c_name}) {second} __attribute__((alias(\"{c_name}\")));");
            let unless_macro = (!macros.contains(c_name)).then(|| c_name.to_owned());
            let line = Line { subject: Subject::Static(key.clone()), text, unless_macro };
            lines.entry(unit.clone()).or_default().push(line);
        }
    }
    for (key, record) in &merged.library.records {
        if let (Some(unit), Some(text)) = (merged.record_units.get(key), layout_assertions::assertion(record))
        {
            let line = Line { subject: Subject::Record(key.clone()), text, unless_macro: None };
            lines.entry(unit.clone()).or_default().push(line);
        }
    }
    lines
}
