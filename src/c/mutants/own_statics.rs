//! The static variables inside a function: its copies use those of the original.

use super::edit::Edit;
use crate::c::cursor::Cursor;
use crate::c::expr::initialiser;
use crate::symbol::{Function, Global, TypeKind};
use clang_sys::{CX_SC_Static, CXCursor_VarDecl};
use std::collections::BTreeSet;
use std::ops::Range;

/// Only clang gives such a variable a name for the linker that is known beforehand.
const WITH_CLANG: &str =
    "#ifndef __clang__\n#error \"only clang's names of static variables are known\"\n#endif\n";

/// The changes that make declarations of a function's `statics` name those of the original; or why there are none.
pub(super) fn shared(
    definition: Cursor<'_>,
    function: &Function,
    statics: &[&Global],
) -> std::result::Result<Vec<Edit>, String> {
    let (mut found, start) = (Vec::new(), definition.start().offset);
    declarations(definition, &mut found);
    let (mut edits, mut seen) = (Vec::new(), BTreeSet::new());
    for global in statics {
        let failed = || format!("its copies cannot share its static variable `{}`", global.c_name);
        let symbol = global.local_symbol().ok_or_else(failed)?;
        let of_name: Vec<_> = found.iter().filter(|(_, one)| one.name() == global.c_name).collect();
        let [declaration] = of_name[..] else { return Err(failed()) };
        // What stays the copy's own cannot be in one statement with what is shared.
        let mut beside = found.iter().filter(|(statement, _)| *statement == declaration.0);
        if beside.any(|(_, other)| !statics.iter().any(|one| one.c_name == other.name())) {
            return Err(failed());
        }
        let place = Place::of(*declaration, start, &function.text).ok_or_else(failed)?;
        let edit = |range, by: &str| Edit::new(0, range, by.to_owned(), ("", ""));
        if seen.insert(place.word.start) {
            edits.push(edit(place.word, "extern"));
        }
        if let (Some(at), TypeKind::Array { len: Some(len), .. }) = (place.extent, &global.ty.kind) {
            edits.push(edit(at..at, &len.to_string()));
        }
        edits.push(edit(place.label..place.label, &format!(" __asm__(\"{symbol}\")")));
        edits.push(edit(place.value, ""));
    }
    Ok(edits)
}

/// The text of a function with several changes.
pub(super) fn applied(text: &str, edits: &[&Edit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| edit.range.start);
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.range.clone(), &edit.by);
    }
    text
}

/// The text of a copy that uses variables of the original.
pub(super) fn with_clang(text: String, uses: bool) -> String {
    if uses { format!("{WITH_CLANG}{text}") } else { text }
}

pub(super) fn overlap(a: &Edit, b: &Edit) -> bool {
    a.range.start < b.range.end && b.range.start < a.range.end
}

/// The static variables below a node, each with the statement that declares it, perhaps with others.
fn declarations<'tu>(node: Cursor<'tu>, found: &mut Vec<(Cursor<'tu>, Cursor<'tu>)>) {
    for child in node.children() {
        if child.kind() == CXCursor_VarDecl && child.storage() == CX_SC_Static {
            found.push((node, child));
        }
        declarations(child, found);
    }
}

/// Places in a declaration.
struct Place {
    /// The word `static`.
    word: Range<usize>,
    /// Between the brackets of an array without a size.
    extent: Option<usize>,
    /// Behind the declarator, before any attributes.
    label: usize,
    /// The initial value, with `=`.
    value: Range<usize>,
}

impl Place {
    /// `None` if it is not in the function's text as it is, because of a macro.
    fn of((statement, declaration): (Cursor<'_>, Cursor<'_>), start: usize, text: &str) -> Option<Self> {
        let at = |offset: usize| offset.checked_sub(start);
        let (first, name) = (at(statement.start().offset)?, at(declaration.at().offset)?);
        let end = at(declaration.end().offset)?;
        let word = first + text.get(first..name)?.find("static")?;
        let own = declaration.name();
        let is_here = text.get(name..)?.starts_with(&own);
        let value = match initialiser(declaration) {
            Some(value) => {
                let value = at(value.start().offset)?;
                name + text.get(name..value)?.rfind('=')?
            }
            None => end,
        };
        if !is_here || value > end || end > text.len() {
            return None;
        }
        let declarator = text.get(name..value)?;
        let label = name + declarator.find("__attribute__").unwrap_or(declarator.len());
        let behind = &text[name + own.len()..value];
        let is_open =
            behind.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(']'));
        let extent = behind.find('[').filter(|_| is_open).map(|bracket| name + own.len() + bracket + 1);
        Some(Self { word: word..word + "static".len(), extent, label, value: value..end })
    }
}
