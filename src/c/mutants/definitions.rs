//! Finds the definitions of functions in a unit, and copies their text under another name.

use super::edits::Edit;
use crate::c::cursor::{Cursor, Location, TranslationUnit};
use crate::digest::of_parts;
use crate::symbol::{Function, Linkage};
use clang_sys::{CXCursor_FunctionDecl, CXCursor_MacroDefinition, CXCursor_MacroExpansion};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The definitions of a unit, and its macros.
pub(super) struct Definitions<'t> {
    functions: BTreeMap<(String, usize), Cursor<'t>>,
    pub(super) expansions: Vec<(Location, Location)>,
    macros: BTreeSet<String>,
}

impl<'t> Definitions<'t> {
    pub(super) fn of(parsed: &'t TranslationUnit) -> Self {
        let items = parsed.items();
        let functions = items.iter().filter(|c| c.kind() == CXCursor_FunctionDecl && c.is_definition());
        let expansions = items.iter().filter(|c| c.kind() == CXCursor_MacroExpansion);
        let macros = items.iter().filter(|c| c.kind() == CXCursor_MacroDefinition);
        Self {
            functions: functions.map(|c| ((c.name(), c.start().offset), *c)).collect(),
            expansions: expansions.map(|c| (c.start(), c.end())).collect(),
            macros: macros.map(|c| c.name()).collect(),
        }
    }

    /// The definition of a function and the range of its name in its text; else the reason why it cannot be
    /// copied.
    pub fn find(&self, function: &Function) -> std::result::Result<(Cursor<'t>, Range<usize>), &'static str> {
        let definition = self
            .functions
            .get(&(function.c_name.clone(), function.place.start))
            .ok_or("its definition has moved: run `cargo implfuzz init`")?;
        let at = definition.at().offset.checked_sub(definition.start().offset);
        let name = at.map(|at| at..at + function.c_name.len());
        let name = name
            .filter(|name| function.text.get(name.clone()) == Some(function.c_name.as_str()))
            .ok_or("its name comes out of a macro")?;
        Ok((*definition, name))
    }

    pub fn is_macro(&self, name: &str) -> bool {
        self.macros.contains(name)
    }
}

/// An id for each edit that does not change when other code changes.
pub(super) fn ids(function: &Function, edits: &[Edit]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let id = |edit: &Edit| {
        let line = function.text[..edit.range.start].rfind('\n').map_or(0, |at| at + 1);
        let line = function.text[line..].lines().next().unwrap_or_default().trim();
        let what = of_parts([line, edit.what.as_str()]);
        let nth = seen.entry(what.clone()).or_default();
        *nth += 1;
        of_parts([what.as_str(), &nth.to_string()])[..8].to_owned()
    };
    edits.iter().map(id).collect()
}

/// The text of a function under another name, with an optional edit.
pub(super) fn renamed(function: &Function, name: &Range<usize>, by: &str, edit: Option<&Edit>) -> String {
    let mut text = function.text.clone();
    // The body comes after the name, so edit it first: that keeps the name's range valid.
    if let Some(edit) = edit {
        text.replace_range(edit.range.clone(), &edit.by);
    }
    text.replace_range(name.clone(), by);
    format!("IMPLFUZZ_MUTANT {}{text}", storage(function, name))
}

/// The specifier that makes a function with this definition local to its unit.
pub(super) fn storage(function: &Function, name: &Range<usize>) -> &'static str {
    let specifiers = &function.text[..name.start];
    let has_storage =
        specifiers.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|w| w == "extern");
    if function.linkage == Linkage::External && !has_storage { "static " } else { "" }
}
