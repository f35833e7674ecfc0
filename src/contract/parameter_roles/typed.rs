//! A C type, and what it leads to.

use crate::contract::flat::flat;
use crate::symbol::{CType, Library, TypeKind};

/// A type of the library.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'a> {
    pub library: &'a Library,
    pub ty: &'a CType,
}

impl<'a> Typed<'a> {
    /// What a pointer, or a parameter that is declared as an array, leads to.
    pub fn target(&self) -> Option<&'a CType> {
        self.ty.target()
    }

    /// Whether it is an integer or an enum.
    pub fn is_integer(&self) -> bool {
        matches!(self.ty.kind, TypeKind::Int { .. } | TypeKind::Enum { .. })
    }

    /// Whether it is a number, or a struct of numbers.
    pub fn is_flat(&self) -> bool {
        self.target().is_none() && flat(self.library, self.ty)
    }

    /// Whether it leads to numbers or to structs of numbers; what `void *` leads to is bytes.
    pub fn leads_to_numbers(&self) -> bool {
        self.target().is_some_and(|to| to.kind == TypeKind::Void || flat(self.library, to))
    }

    /// Whether it leads to bytes that have a sign or none.
    pub fn leads_to_bytes(&self) -> bool {
        self.target().is_some_and(|to| matches!(to.kind, TypeKind::Int { bits: 8, .. }))
    }
}
