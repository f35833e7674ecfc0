//! Globals, types and macros of a library, for `list --kind`. Functions have rows of their own.

use super::Kind;
use crate::symbol::{Global, Library, Macro, RelPath, SourceRange, SymbolKey, TypeDefinition, TypeForm};
use serde::Serialize;

/// A symbol other than a function that the library's own files define.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    /// clang's USR, with the file.
    pub key: SymbolKey,
    pub file: RelPath,
    pub line: u32,
    pub end_line: u32,
    /// A type or macro as written; the type of a global.
    pub text: String,
    pub comment: String,
}

/// All definitions of these kinds, in the order of their positions.
pub fn definitions(library: &Library, kinds: &[Kind]) -> Vec<Definition> {
    let globals = library.globals.iter().map(of_global);
    let types = library.types.iter().map(of_type);
    let macros = library.macros.iter().map(of_macro);
    let mut all: Vec<Definition> =
        globals.chain(types).chain(macros).filter(|found| kinds.contains(&found.kind)).collect();
    all.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    all
}

fn of_global(global: &Global) -> Definition {
    let text = global.ty.spelling.clone();
    of(&global.key, global.name.to_string(), Kind::Global, &global.place, text, String::new())
}

fn of_type(ty: &TypeDefinition) -> Definition {
    let kind = match ty.form {
        TypeForm::Struct => Kind::Struct,
        TypeForm::Union => Kind::Union,
        TypeForm::Enum => Kind::Enum,
        TypeForm::Typedef => Kind::Typedef,
    };
    of(&ty.key, ty.name.clone(), kind, &ty.place, ty.text.clone(), ty.comment.clone())
}

fn of_macro(found: &Macro) -> Definition {
    let (text, comment) = (found.text.clone(), found.comment.clone());
    of(&found.key, found.name.clone(), Kind::Macro, &found.place, text, comment)
}

fn of(
    key: &SymbolKey,
    name: String,
    kind: Kind,
    place: &SourceRange,
    text: String,
    comment: String,
) -> Definition {
    Definition {
        name,
        kind,
        key: key.clone(),
        file: place.file.clone(),
        line: place.line,
        end_line: place.end_line,
        text,
        comment,
    }
}
