//! Mutants of callees: the unchanged function, calling copies of its callees of which one is mutated. They
//! measure tests of how functions work together.
//!
//! Only callees defined in the function's own unit are changed, and only direct calls. A macro of the callee's name
//! puts the copy in its place and is undefined after the function. The macro also replaces members, labels and
//! variables of that name (`s->update`): such a copy does not compile, and is dropped.
//!
//! Each changed callee also has an unchanged copy. If that one differs from C, copying itself has an effect (static
//! variables, addresses), and the mutants of this callee are ignored.

use super::definitions::{Definitions, Named, ids, renamed, storage};
use super::edit::Edit;
use super::edits::edits;
use super::{Mutant, spread};
use crate::c::cursor::Cursor;
use crate::symbol::{Function, Library};
use clang_sys::CXCursor_CompoundStmt;
use std::collections::BTreeSet;

/// Maximum number of callees that are mutated; the nearest are chosen.
const CALLEES: usize = 8;

/// The callee over which a copy of the function is built.
pub(super) struct Over {
    /// The name of the callee.
    pub callee: String,
    /// The name of a second copy of the callee, which is compiled for comparison only and never runs.
    pub compared: String,
    /// The text of that second copy. It calls the original callees, and the original callee itself if it is
    /// recursive. The mutated and the unchanged second copy therefore differ by the mutation alone.
    pub text: String,
    /// Whether the callee is unchanged.
    pub is_plain: bool,
}

/// A callee, mutated or unchanged, with the callees between the function and it.
pub(super) struct Changed<'l> {
    pub mutant: Mutant,
    function: &'l Function,
    callee: Callee<'l>,
    /// `None` for the unchanged text.
    edit: Option<Edit>,
    /// Callees that call the changed one, directly or not.
    between: Vec<Callee<'l>>,
}

/// A function whose text is in the unit.
#[derive(Clone)]
struct Callee<'l> {
    function: &'l Function,
    name: Named,
    /// The text before its body.
    head: &'l str,
}

impl Changed<'_> {
    /// The text of the caller with this number, between definitions that redirect its calls to the changed
    /// callee.
    pub fn around(&self, caller: &str, number: usize) -> String {
        let all: Vec<&Callee> = self.between.iter().chain([&self.callee]).collect();
        let name = |callee: &Callee| self.name(callee, number);
        let lines = |line: &dyn Fn(&Callee) -> String| -> Vec<String> {
            all.iter().map(|callee| line(callee)).collect()
        };
        let texts = |callee: &Callee| {
            let edit = self.edit.as_ref().filter(|_| callee.function.key == self.callee.function.key);
            renamed(callee.function, &callee.name, &name(callee), edit.as_slice())
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

    /// The callee, and those between the function and it.
    pub fn callees(&self) -> impl Iterator<Item = &Function> {
        self.between.iter().chain([&self.callee]).map(|callee| callee.function)
    }

    fn name(&self, callee: &Callee, number: usize) -> String {
        format!("implfuzz_callee_{}_{number}_{}", self.function.name, callee.function.name)
    }

    /// The callee over which the copy with this number is built.
    pub fn over(&self, number: usize) -> Over {
        let callee = &self.callee;
        let compared = format!("implfuzz_compared_{}_{number}", self.function.name);
        Over {
            callee: callee.function.name.to_string(),
            text: renamed(callee.function, &callee.name, &compared, self.edit.as_ref().as_slice()),
            compared,
            is_plain: self.edit.is_none(),
        }
    }

    /// The same callee, unchanged.
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

/// At most `most` mutants of the callees of a function, spread evenly over all of them; before them, each of
/// these callees once unchanged.
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

/// The functions of the unit that a function calls, directly or not, the nearest first.
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

/// The callee, if a copy can replace it: its text is in the unit, and no macro has its name.
fn of_unit<'l, 't>(
    definitions: &Definitions<'t>,
    function: &'l Function,
) -> Option<(Callee<'l>, Cursor<'t>)> {
    let (definition, name) = definitions.find(function).ok()?;
    let body = definition.children().into_iter().find(|c| c.kind() == CXCursor_CompoundStmt)?;
    let head = function.text.get(..body.start().offset.checked_sub(definition.start().offset)?)?;
    (!definitions.is_macro(&function.c_name)).then_some((Callee { function, name, head }, definition))
}
