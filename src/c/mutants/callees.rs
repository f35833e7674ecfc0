//! Mutants of callees: the unchanged function, calling copies of its callees of which one has a small change. They
//! measure tests of how functions work together.
//!
//! Only callees defined in the function's own unit are changed, and only direct calls. A macro of the callee's name
//! puts the copy in its place and is undefined after the function. The macro also replaces members, labels and
//! variables of that name (`s->update`): such a copy does not compile, and is dropped.
//!
//! Each changed callee also has an unchanged copy. If that one differs from C, copying itself has an effect (static
//! variables, addresses), and the mutants of this callee are ignored.

use super::definitions::{Definitions, ids, renamed, storage};
use super::edits::{Edit, edits};
use super::{Mutant, spread};
use crate::c::cursor::Cursor;
use crate::symbol::{Function, Library};
use clang_sys::CXCursor_CompoundStmt;
use std::collections::BTreeSet;
use std::ops::Range;

/// Callees that are changed, the nearest ones.
const CALLEES: usize = 8;

/// What of a callee a copy of its caller stands on.
pub(super) struct Over {
    /// The name of the callee.
    pub callee: String,
    /// The name of one more copy of it, which is only looked at.
    pub compared: String,
    /// That copy. It calls what the callee calls, itself among it, not copies of that: so those of a change and of none differ by the
    /// change alone.
    pub text: String,
    /// Whether nothing is changed there.
    pub is_plain: bool,
}

/// A callee with a change, or with none, and what stands between the function and it.
pub(super) struct Changed<'l> {
    pub mutant: Mutant,
    function: &'l Function,
    callee: Callee<'l>,
    /// None for the text as it is.
    edit: Option<Edit>,
    /// Callees from which the changed one can be reached.
    between: Vec<Callee<'l>>,
}

/// A function of which the unit has the text.
#[derive(Clone)]
struct Callee<'l> {
    function: &'l Function,
    name: Range<usize>,
    /// What stands before its body.
    head: &'l str,
}

impl Changed<'_> {
    /// The text of the caller with this number, between what makes its calls go to the changed callee.
    pub fn around(&self, caller: &str, number: usize) -> String {
        let all: Vec<&Callee> = self.between.iter().chain([&self.callee]).collect();
        let name = |callee: &Callee| self.name(callee, number);
        let lines = |line: &dyn Fn(&Callee) -> String| -> Vec<String> {
            all.iter().map(|callee| line(callee)).collect()
        };
        let texts = |callee: &Callee| {
            let edit = self.edit.as_ref().filter(|_| callee.function.key == self.callee.function.key);
            renamed(callee.function, &callee.name, &name(callee), edit)
        };
        [
            lines(&|callee| format!("#define {} {}", callee.function.c_name, name(callee))),
            lines(&|callee| format!("{}{};", storage(callee.function, &callee.name), callee.head.trim_end())),
            lines(&texts),
            vec![caller.to_owned()],
            lines(&|callee| format!("#undef {}", callee.function.c_name)),
        ]
        .concat()
        .join("\n")
    }

    fn name(&self, callee: &Callee, number: usize) -> String {
        format!("implfuzz_callee_{}_{number}_{}", self.function.name, callee.function.name)
    }

    /// What the copy with this number stands on.
    pub fn over(&self, number: usize) -> Over {
        let callee = &self.callee;
        let compared = format!("implfuzz_compared_{}_{number}", self.function.name);
        Over {
            callee: callee.function.name.to_string(),
            text: renamed(callee.function, &callee.name, &compared, self.edit.as_ref()),
            compared,
            is_plain: self.edit.is_none(),
        }
    }

    /// The same with nothing changed.
    fn unchanged(&self) -> Self {
        let name = &self.callee.function.name;
        Self {
            mutant: Mutant {
                id: format!("{name}:unchanged"),
                line: self.callee.function.place.line,
                what: format!("over a copy of `{name}`"),
            },
            edit: None,
            between: self.between.clone(),
            callee: self.callee.clone(),
            function: self.function,
        }
    }
}

/// At most `most` changes of what a function calls, spread evenly over all of it; in front of them each callee that is
/// changed as it is.
pub(super) fn over_callees<'l>(
    (library, definitions): (&'l Library, &Definitions),
    function: &'l Function,
    most: usize,
) -> Vec<Changed<'l>> {
    let near: Vec<(Callee, Cursor)> = reached(library, definitions, function);
    let mut all = Vec::new();
    for (callee, definition) in near.iter().take(CALLEES) {
        let leads_to = |other: &Callee| {
            other.function.key != callee.function.key
                && reached(library, definitions, other.function)
                    .iter()
                    .any(|(c, _)| c.function.key == callee.function.key)
        };
        let between: Vec<Callee> =
            near.iter().map(|(other, _)| other.clone()).filter(|other| leads_to(other)).collect();
        let edits = edits(*definition, &callee.function.text);
        let ids = ids(callee.function, &edits);
        all.extend(edits.into_iter().zip(ids).map(|(edit, id)| Changed {
            mutant: Mutant {
                id: format!("{}:{id}", callee.function.name),
                line: edit.line,
                what: format!("in `{}`: {}", callee.function.name, edit.what),
            },
            function,
            callee: callee.clone(),
            edit: Some(edit),
            between: between.clone(),
        }));
    }
    let chosen = spread(all, most);
    let of_callees = chosen.chunk_by(|a, b| a.callee.function.key == b.callee.function.key);
    let plain: Vec<Changed> = of_callees.filter_map(|of| Some(of.first()?.unchanged())).collect();
    plain.into_iter().chain(chosen).collect()
}

/// What a function leads to by calls within the unit, the nearest first.
fn reached<'l, 't>(
    library: &'l Library,
    definitions: &Definitions<'t>,
    function: &'l Function,
) -> Vec<(Callee<'l>, Cursor<'t>)> {
    let mut seen = BTreeSet::from([&function.key]);
    let mut found: Vec<(Callee, Cursor)> = Vec::new();
    let mut open = vec![function];
    while !open.is_empty() {
        let mut next = Vec::new();
        for key in open.iter().flat_map(|caller| &caller.calls) {
            if !seen.insert(key) {
                continue;
            }
            if let Some(of) = library.function(key).and_then(|callee| of_unit(definitions, callee)) {
                next.push(of.0.function);
                found.push(of);
            }
        }
        open = next;
    }
    found
}

/// A callee that a copy can stand in for: its text is in the unit, and no macro has its name.
fn of_unit<'l, 't>(
    definitions: &Definitions<'t>,
    function: &'l Function,
) -> Option<(Callee<'l>, Cursor<'t>)> {
    let (definition, name) = definitions.find(function).ok()?;
    let body = definition.children().into_iter().find(|c| c.kind() == CXCursor_CompoundStmt)?;
    let head = function.text.get(..body.start().offset.checked_sub(definition.start().offset)?)?;
    (!definitions.is_macro(&function.c_name)).then_some((Callee { function, name, head }, definition))
}
