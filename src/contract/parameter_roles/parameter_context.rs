//! A parameter among the others of its function, for descriptions and generated tests.

use super::{Parameter, buffers_of};
use crate::symbol::CType;

/// A parameter, its type, and the parameters beside it.
#[derive(Debug, Clone, Copy)]
pub struct ParameterContext<'a> {
    pub params: &'a [Parameter],
    pub param: &'a Parameter,
    pub ty: &'a CType,
    /// Whether the inner function has a safe signature.
    pub is_safe: bool,
}

impl<'a> ParameterContext<'a> {
    /// What a pointer or array leads to; otherwise the type itself.
    pub fn target(&self) -> &'a CType {
        self.ty.target().unwrap_or(self.ty)
    }

    /// Whether the parameter `length` is the length of more than one buffer.
    pub(super) fn is_shared(&self, length: &str) -> bool {
        buffers_of(self.params, length).count() > 1
    }

    /// Whether null occurs, in the words of prompts for ports.
    pub(super) fn null(&self) -> &'static str {
        match (self.param.role.is_nullable(), self.is_safe) {
            (true, true) => "; may be null in C, which is `None`",
            (true, false) => "; may be null",
            (false, _) => "; never null",
        }
    }
}

/// The names of parameters, joined for a sentence.
pub(super) fn names<'a>(params: impl Iterator<Item = &'a Parameter>) -> String {
    params.map(|param| format!("`{}`", param.name)).collect::<Vec<_>>().join(" and ")
}

/// What a generated test has for an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape<'a> {
    /// The value itself.
    Value,
    /// Nothing of its own: it follows from the other arguments, or from earlier calls.
    Elsewhere,
    /// A text.
    Text,
    /// One value, and a pointer to it.
    One,
    /// Elements: as many as the input says, counted by the parameter `length`.
    Counted { length: &'a str },
    /// So many elements.
    Exactly { len: usize },
    /// So many elements, where C may store data that needs a stricter alignment.
    Room { len: usize },
}
