//! The copies of functions behind their unit: the text as it is, with one small change each, and what else tests are measured by.

use super::callees::{Over, over_callees};
use super::edits::{Edit, edits};
use super::saturating::{SATURATING, saturating};
use super::{Mutant, Plant, spread};
use crate::c::cursor::{Cursor, Location, TranslationUnit};
use crate::c::flags::clang_arguments;
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{Function, Library, Linkage, SymbolName, Unit};
use camino::Utf8Path;
use clang_sys::{CXCursor_FunctionDecl, CXCursor_MacroDefinition, CXCursor_MacroExpansion};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A copy of a function behind its unit.
pub(super) struct Copy {
    pub symbol: SymbolName,
    /// None for the text as it is.
    pub mutant: Option<Mutant>,
    pub name: String,
    pub text: String,
    /// What of a callee it stands on, where it is that which is changed.
    pub over: Option<Over>,
}

/// The definitions of a unit, and its macros.
pub(super) struct Definitions<'t> {
    functions: BTreeMap<(String, usize), Cursor<'t>>,
    expansions: Vec<(Location, Location)>,
    macros: BTreeSet<String>,
}

impl<'t> Definitions<'t> {
    fn of(parsed: &'t TranslationUnit) -> Self {
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

    /// Where a function is defined, and where in its text its name stands; else why nothing can be made of it.
    pub fn find(&self, function: &Function) -> std::result::Result<(Cursor<'t>, Range<usize>), &'static str> {
        let definition = self
            .functions
            .get(&(function.c_name.clone(), function.place.start))
            .ok_or("its definition is not where it was read: run `cargo implfuzz init`")?;
        let at = definition.at().offset.checked_sub(definition.start().offset);
        let name = at.map(|at| at..at + function.c_name.len());
        let name = name
            .filter(|name| function.text.get(name.clone()) == Some(function.c_name.as_str()))
            .ok_or("its name comes out of a macro")?;
        Ok((*definition, name))
    }

    /// Whether a macro has this name.
    pub fn is_macro(&self, name: &str) -> bool {
        self.macros.contains(name)
    }
}

/// The copies of each function, the plain one first; the inner error says why there are none.
pub(super) fn copies_of(
    (root, library, unit): (&Utf8Path, &Library, &Unit),
    functions: &[&Function],
    wanted: (usize, Plant),
) -> Result<Vec<std::result::Result<Vec<Copy>, String>>> {
    let parsed = TranslationUnit::parse(root.join(&unit.file.0).as_str(), &clang_arguments(root, unit));
    let parsed = parsed
        .ok_or_else(|| Error::new(ErrorKind::C, format!("{}: clang cannot parse it at all", unit.file)))?;
    let definitions = Definitions::of(&parsed);
    Ok(functions.iter().map(|function| of_one((library, &definitions), function, wanted)).collect())
}

fn of_one(
    (library, definitions): (&Library, &Definitions),
    function: &Function,
    (most, plant): (usize, Plant),
) -> std::result::Result<Vec<Copy>, String> {
    let (definition, name) = definitions.find(function)?;
    let edits = edits(definition, &function.text);
    let ids = ids(function, &edits);
    let mut edits = spread(edits.into_iter().zip(ids).collect(), most);
    if plant == Plant::ForTests {
        let cheat = saturating(definition, &function.text, &definitions.expansions);
        edits.extend(cheat.map(|edit| (edit, SATURATING.to_owned())));
    }
    let plain = copy(function, &name, 0, None);
    let mutants = edits.iter().enumerate().map(|(at, edit)| copy(function, &name, at + 1, Some(edit)));
    let mut all: Vec<Copy> = std::iter::once(plain).chain(mutants).collect();
    if plant == Plant::ForTests {
        let more = over_callees((library, definitions), function, most);
        let more = more.into_iter().zip(all.len()..).map(|(over, number)| {
            let plain = copy(function, &name, number, None);
            Copy {
                mutant: Some(over.mutant.clone()),
                text: over.around(&plain.text, number),
                over: Some(over.over(number)),
                ..plain
            }
        });
        all.extend(more.collect::<Vec<_>>());
    }
    Ok(all)
}

/// A name for each edit that stays when something else changes.
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

fn copy(function: &Function, name: &Range<usize>, number: usize, edit: Option<&(Edit, String)>) -> Copy {
    let copy_name = format!("implfuzz_mutant_{}_{number}", function.name);
    let mutant = edit.map(|(edit, id)| Mutant { id: id.clone(), line: edit.line, what: edit.what.clone() });
    Copy {
        symbol: function.name.clone(),
        mutant,
        text: renamed(function, name, &copy_name, edit.map(|(edit, _)| edit)),
        name: copy_name,
        over: None,
    }
}

/// The text of a function under another name, and with a change.
pub(super) fn renamed(function: &Function, name: &Range<usize>, by: &str, edit: Option<&Edit>) -> String {
    let mut text = function.text.clone();
    // The body stands behind the name, so the later place is changed first.
    if let Some(edit) = edit {
        text.replace_range(edit.range.clone(), &edit.by);
    }
    text.replace_range(name.clone(), by);
    format!("IMPLFUZZ_MUTANT {}{text}", storage(function, name))
}

/// What makes a function with this definition one of its unit alone.
pub(super) fn storage(function: &Function, name: &Range<usize>) -> &'static str {
    let specifiers = &function.text[..name.start];
    let has_storage =
        specifiers.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|w| w == "extern");
    if function.linkage == Linkage::External && !has_storage { "static " } else { "" }
}
