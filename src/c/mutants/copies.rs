//! The copies of functions that are added to their unit: an unchanged one, one for each mutant, and the planted
//! cheats.

use super::callees::{Over, over_callees};
use super::definitions::{Definitions, NAMED_BY_MACRO, Named, ids, renamed};
use super::edit::Edit;
use super::edits::edits;
use super::macro_edits::macro_edits;
use super::own_statics::{self, overlap, with_clang};
use super::saturating::{SATURATING, saturating};
use super::{Mutant, Plant, spread};
use crate::c::cursor::TranslationUnit;
use crate::c::flags::clang_arguments;
use crate::c::unit_text::{Added, Inside, Spot};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{Function, Library, SymbolName, Unit};
use camino::Utf8Path;
use std::rc::Rc;

/// A copy of a function, added to its unit.
pub(super) struct Copy {
    pub symbol: SymbolName,
    /// `None` for the unchanged text.
    pub mutant: Option<Mutant>,
    pub name: String,
    pub text: String,
    /// Where it stands in the unit's text: where its macros are defined. `None` for behind the unit.
    pub at: Option<Spot>,
    /// Whether the function's name comes out of a macro, which must be there.
    pub is_named_by_macro: bool,
    /// Set if a callee is changed instead of the function itself.
    pub over: Option<Over>,
}

impl Copy {
    pub fn is_in_included_file(&self) -> bool {
        self.at.as_ref().is_some_and(|spot| spot.inside.is_some())
    }

    pub fn added(&self) -> Added {
        Added { text: self.text.clone(), at: self.at.clone() }
    }
}

/// The copies of each function, the unchanged one first. The inner error is the reason why there are none.
pub(super) fn copies_of(
    (root, library, unit): (&Utf8Path, &Library, &Unit),
    file: Option<&str>,
    functions: &[&Function],
    wanted: (usize, Plant),
) -> Result<Vec<std::result::Result<Vec<Copy>, String>>> {
    let parsed = TranslationUnit::parse(root.join(&unit.file.0).as_str(), &clang_arguments(root, unit));
    let parsed = parsed
        .ok_or_else(|| Error::new(ErrorKind::C, format!("{}: clang cannot parse it at all", unit.file)))?;
    let definitions = Definitions::of(&parsed);
    let end = |function: &Function| {
        let of_unit = end_in(file.filter(|_| function.place.file == unit.file)?, function);
        of_unit.map(Spot::of_unit)
    };
    let end =
        |function: &Function| end(function).or_else(|| included_spot(root, unit, &definitions, function));
    Ok(functions.iter().map(|function| of_one((library, &definitions), &end, function, wanted)).collect())
}

/// Where a function ends in the text of its file.
fn end_in(file: &str, function: &Function) -> Option<usize> {
    let end = function.place.start + function.text.len();
    (file.get(function.place.start..end)? == function.text).then_some(end)
}

/// Where a function ends in a file that its unit includes as a part of its code, with macros that belong to this
/// `#include` alone. Headers stay as they are.
fn included_spot(
    root: &Utf8Path,
    unit: &Unit,
    definitions: &Definitions,
    function: &Function,
) -> Option<Spot> {
    let file = &function.place.file.0;
    // What it includes itself is searched beside the unit.
    if file.extension() == Some("h") || file.parent() != unit.file.0.parent() {
        return None;
    }
    let at = definitions.included_at(function)?;
    let path = root.join(file);
    let text: Rc<str> = fs_err::read_to_string(&path).ok()?.into();
    let end = end_in(&text, function)?;
    Some(Spot { at, inside: Some(Inside { at: end, path, text }) })
}

fn of_one(
    (library, definitions): (&Library, &Definitions),
    end: &dyn Fn(&Function) -> Option<Spot>,
    function: &Function,
    (most, plant): (usize, Plant),
) -> std::result::Result<Vec<Copy>, String> {
    let (definition, name) = definitions.find(function)?;
    let statics = library.statics_of(function);
    let shared = own_statics::shared(definition, function, &statics)?;
    let is_named_by_macro = function.text[name.range.clone()] != function.c_name;
    // Behind the unit the macro may be gone, and what looks like a call of it is one of a function that is not there.
    if is_named_by_macro && end(function).is_none() {
        return Err(NAMED_BY_MACRO.to_owned());
    }
    let mut edits = edits(definition, &function.text);
    if edits.is_empty() {
        edits = macro_edits(definition, &function.text);
    }
    edits.retain(|edit| !shared.iter().any(|own| overlap(own, edit)));
    let ids = ids(function, &edits);
    let mut edits = spread(edits.into_iter().zip(ids).collect(), most);
    if plant == Plant::ForTests {
        let cheat = saturating(definition, &function.text, &definitions.expansions);
        edits.extend(cheat.map(|edit| (edit, SATURATING.to_owned())));
    }
    let copy = |number, edit| Copy {
        is_named_by_macro,
        ..copy(function, (&name, end(function)), number, (edit, &shared))
    };
    let plain = copy(0, None);
    let mutants = edits.iter().enumerate().map(|(at, edit)| copy(at + 1, Some(edit)));
    let mut all: Vec<Copy> = std::iter::once(plain).chain(mutants).collect();
    if plant == Plant::ForTests {
        let more = over_callees((library, definitions), function, most);
        let more = more.into_iter().zip(all.len()..).map(|(over, number)| {
            let plain = copy(number, None);
            let callees = over.callees().filter_map(end);
            Copy {
                mutant: Some(over.mutant.clone()),
                text: over.around(&plain.text, number),
                at: plain.at.clone().max(callees.max()).filter(|_| plain.at.is_some()),
                over: Some(over.over(number)),
                ..plain
            }
        });
        all.extend(more.collect::<Vec<_>>());
    }
    Ok(all)
}

fn copy(
    function: &Function,
    (name, at): (&Named, Option<Spot>),
    number: usize,
    (edit, shared): (Option<&(Edit, String)>, &[Edit]),
) -> Copy {
    let copy_name = format!("implfuzz_mutant_{}_{number}", function.name);
    let mutant = edit.map(|(edit, id)| Mutant { id: id.clone(), line: edit.line, what: edit.what.clone() });
    Copy {
        symbol: function.name.clone(),
        mutant,
        text: with_clang(
            renamed(
                function,
                name,
                &copy_name,
                &shared.iter().chain(edit.map(|(edit, _)| edit)).collect::<Vec<_>>(),
            ),
            !shared.is_empty(),
        ),
        name: copy_name,
        at,
        is_named_by_macro: false,
        over: None,
    }
}
