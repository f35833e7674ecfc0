//! Definitions of structs, unions, enums and typedefs as symbols. `types` reads their layouts and their
//! meaning in signatures.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::Cursor;
use super::types::tag_name;
use crate::symbol::TypeForm;
use clang_sys::*;

/// A type that is a symbol.
pub(super) struct Found {
    pub form: TypeForm,
    pub name: String,
    pub complete: bool,
}

/// The type that `item` declares. `None` for anything else, for a typedef that only repeats or provides the
/// name of a record or enum, and for a forward declaration of a type that the unit defines.
pub(super) fn found(item: Cursor<'_>) -> Option<Found> {
    let form = match item.kind() {
        CXCursor_StructDecl => TypeForm::Struct,
        CXCursor_UnionDecl => TypeForm::Union,
        CXCursor_EnumDecl => TypeForm::Enum,
        CXCursor_TypedefDecl => {
            let name = item.name();
            let target = item.underlying().canonical().declaration().filter(|d| is_tagged(*d));
            let repeats = target.is_some_and(|d| tag_name(d) == name && !is_pointer_like(item));
            return (!repeats).then_some(Found { form: TypeForm::Typedef, name, complete: true });
        }
        _ => return None,
    };
    let definition = item.definition();
    if definition.is_some_and(|_| !item.is_definition()) {
        return None;
    }
    let name = match tag_name(item) {
        name if !name.is_empty() => name,
        _ if form == TypeForm::Enum => first_enumerator(item)?,
        // A record without any name belongs to the type that holds it.
        _ => return None,
    };
    Some(Found { form, name, complete: definition.is_some() })
}

fn is_tagged(declaration: Cursor<'_>) -> bool {
    matches!(declaration.kind(), CXCursor_StructDecl | CXCursor_UnionDecl | CXCursor_EnumDecl)
}

/// Whether it is like `typedef struct s *s;`, which names another type than the struct.
fn is_pointer_like(typedef: Cursor<'_>) -> bool {
    !matches!(typedef.underlying().canonical().kind(), CXType_Record | CXType_Enum)
}

/// An enum without a name is identified by its first value.
fn first_enumerator(item: Cursor<'_>) -> Option<String> {
    let first = item.children().into_iter().find(|c| c.kind() == CXCursor_EnumConstantDecl)?;
    Some(format!("enum {{ {}, … }}", first.name()))
}

/// Tagged types that are declared inside `item`: in C their scope is the whole file.
pub(super) fn nested<'tu>(item: Cursor<'tu>) -> Vec<Cursor<'tu>> {
    let mut all = Vec::new();
    let mut open = vec![item];
    while let Some(next) = open.pop() {
        if matches!(next.kind(), CXCursor_StructDecl | CXCursor_UnionDecl) {
            let inner: Vec<_> = next.children().into_iter().filter(|c| is_tagged(*c)).collect();
            all.extend(inner.iter().copied());
            open.extend(inner);
        }
    }
    all
}
