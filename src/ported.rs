//! Whether a function of the library has a body in Rust yet.

use crate::rust::item::find_fn;
use crate::rust::signature::ident;
use crate::rust::stub::is_stub_text;
use crate::symbol::Function;

/// Whether a function has a body in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ported {
    /// There is no such function.
    Missing,
    Stub,
    Yes,
}

impl Ported {
    /// The state of `function` in the text of its module.
    pub fn of(text: &str, function: &Function) -> Self {
        let name = ident(function).to_string();
        match find_fn(text, &name) {
            None => Self::Missing,
            Some(_) if is_stub_text(text, &name).is_some() => Self::Stub,
            Some(_) => Self::Yes,
        }
    }
}
