//! The copies of functions that are appended to their unit: an unchanged one, one for each mutant, and the
//! planted cheats.

use super::callees::{Over, over_callees};
use super::definitions::{Definitions, ids, renamed};
use super::edits::{Edit, edits};
use super::saturating::{SATURATING, saturating};
use super::{Mutant, Plant, spread};
use crate::c::cursor::TranslationUnit;
use crate::c::flags::clang_arguments;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{Function, Library, SymbolName, Unit};
use camino::Utf8Path;
use std::ops::Range;

/// A copy of a function, appended to its unit.
pub(super) struct Copy {
    pub symbol: SymbolName,
    /// `None` for the unchanged text.
    pub mutant: Option<Mutant>,
    pub name: String,
    pub text: String,
    /// Set if a callee is changed instead of the function itself.
    pub over: Option<Over>,
}

/// The copies of each function, the unchanged one first. The inner error is the reason why there are none.
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
