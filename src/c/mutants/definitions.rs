//! Finds the definitions of functions in a unit, and copies their text under another name.

use super::edit::Edit;
use super::own_statics::applied;
use super::walk::between;
use crate::c::cursor::{Cursor, Location, TranslationUnit};
use crate::digest::of_parts;
use crate::symbol::{Function, Linkage};
use clang_sys::{
    CX_SC_Extern, CXCursor_FunctionDecl, CXCursor_InclusionDirective, CXCursor_MacroDefinition,
    CXCursor_MacroExpansion, CXCursor_PreprocessingDirective, CXCursorKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Why a function cannot be copied.
pub(super) const NAMED_BY_MACRO: &str = "its name comes out of a macro";

/// Where a definition has its name, and whether it says `extern`, perhaps through a macro.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// In the function's text.
    pub range: Range<usize>,
    is_extern: bool,
}

/// The definitions of a unit, and its macros.
pub(super) struct Definitions<'t> {
    functions: BTreeMap<(String, usize), Cursor<'t>>,
    pub(super) expansions: Vec<(Location, Location)>,
    macros: BTreeSet<String>,
    /// The offsets of the lines of the unit's file that include functions of other files.
    included_at: BTreeMap<(String, usize), usize>,
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
            included_at: included_at(&items, &parsed.real_path()),
        }
    }

    /// The definition of a function and its name in its text; else the reason why it cannot be
    /// copied.
    pub fn find(&self, function: &Function) -> std::result::Result<(Cursor<'t>, Named), &'static str> {
        let definition = self
            .functions
            .get(&(function.c_name.clone(), function.place.start))
            .ok_or("its definition has moved: run `cargo implfuzz init`")?;
        let start = definition.start();
        let at = definition.at();
        let from = at.offset.checked_sub(start.offset);
        let plain = from.map(|from| from..from + function.c_name.len());
        let plain = plain.filter(|name| function.text.get(name.clone()) == Some(function.c_name.as_str()));
        // `PREFIX(name)(...)`, or `name(...)` where `name` is a macro.
        let used = self.expansions.iter().find(|(first, _)| *first == at);
        let used = used.and_then(|(first, last)| between(&function.text, &start, (first, last)));
        let is_name = |name: &Range<usize>| function.text[name.end..].trim_start().starts_with('(');
        let range = plain.or(used.filter(is_name)).ok_or(NAMED_BY_MACRO)?;
        Ok((*definition, Named { range, is_extern: definition.storage() == CX_SC_Extern }))
    }

    /// The offset of the line of the unit's file that includes the function, if exactly one can.
    pub fn included_at(&self, function: &Function) -> Option<usize> {
        self.included_at.get(&(function.c_name.clone(), function.place.start)).copied()
    }

    pub fn is_macro(&self, name: &str) -> bool {
        self.macros.contains(name)
    }
}

/// The name and the offset of a function, and its file.
type Elsewhere = ((String, usize), String);

/// For each function that is defined in another file than the unit's, where that is included: between the declarations
/// around it.
fn included_at(items: &[Cursor<'_>], unit: &str) -> BTreeMap<(String, usize), usize> {
    let lines = items.iter().filter(|c| c.kind() == CXCursor_InclusionDirective);
    let lines = lines.map(|c| (c.start(), c.included_file())).filter(|(at, _)| at.file == unit);
    let lines: Vec<(usize, String)> = lines.map(|(at, file)| (at.offset, file)).collect();
    let (mut found, mut open, mut last) = (BTreeMap::new(), Vec::<Elsewhere>::new(), 0);
    let mut close = |open: &mut Vec<Elsewhere>, from: usize, to: usize| {
        // A file that is included again begins again.
        let is_same = |a: &Elsewhere, b: &Elsewhere| a.1 == b.1 && a.0.1 < b.0.1;
        for times in open.chunk_by(is_same).collect::<Vec<_>>().chunk_by(|a, b| a[0].1 == b[0].1) {
            let fits = |(at, file): &&(usize, String)| (from..to).contains(at) && *file == times[0][0].1;
            let fitting: Vec<&(usize, String)> = lines.iter().filter(fits).collect();
            if fitting.len() == times.len() {
                let all = times
                    .iter()
                    .zip(fitting)
                    .flat_map(|(of, (at, _))| of.iter().map(|one| (one.0.clone(), *at)));
                found.extend(all);
            }
        }
        open.clear();
    };
    for item in items.iter().filter(|c| !is_preprocessing(c.kind())) {
        let start = item.start_in_code();
        if start.file == unit {
            close(&mut open, last, start.offset);
            last = item.end().offset;
        } else if item.kind() == CXCursor_FunctionDecl && item.is_definition() {
            open.push(((item.name(), item.start().offset), start.file));
        }
    }
    close(&mut open, last, usize::MAX);
    found
}

fn is_preprocessing(kind: CXCursorKind) -> bool {
    [
        CXCursor_PreprocessingDirective,
        CXCursor_MacroDefinition,
        CXCursor_MacroExpansion,
        CXCursor_InclusionDirective,
    ]
    .contains(&kind)
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

/// The text of a function under another name, with these edits of its body.
pub(super) fn renamed(function: &Function, name: &Named, by: &str, edits: &[&Edit]) -> String {
    // The body comes after the name, so edit it first: that keeps the name's range valid.
    let mut text = applied(&function.text, edits);
    text.replace_range(name.range.clone(), by);
    format!("IMPLFUZZ_MUTANT {}{text}", storage(function, name))
}

/// The specifier that makes a function with this definition local to its unit.
pub(super) fn storage(function: &Function, name: &Named) -> &'static str {
    if function.linkage == Linkage::External && !name.is_extern { "static " } else { "" }
}
