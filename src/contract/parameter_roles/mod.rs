//! Roles: what one parameter means. Each file has all that is particular to one role: its keys in the contract file,
//! the C types that it fits, its code in harness, shims and signature, its words, and its form in inputs.
//!
//! A new role is a new file here, and a line in the table below. What several roles share: `rules` has the questions
//! that each answers, `keys` the contract file, `place` and `slot` the surroundings of a parameter, `notation` the JSON
//! of inputs, `digits` the enumeration of all inputs.

mod buffer;
mod c_string;
mod callback;
mod digits;
mod direction;
mod elements;
mod fixed_array;
mod given;
mod handle;
pub mod in_driver;
mod keys;
mod lent;
mod length;
mod notation;
mod one_of;
mod parameter_context;
mod pointer;
mod room;
mod rules;
mod slot;
mod typed;
mod user_data;
mod value;

pub use callback::prototype;
pub use digits::{MOST, Part};
pub use direction::Direction;
pub use handle::Life;
pub use in_driver::InDriver;
pub use keys::Keys;
pub use length::{LONGEST, MAX, most};
pub use notation::{Form, Notation, spelling};
pub use parameter_context::{ParameterContext, Shape};
pub use rules::{Code, Extent, Facts, Rules, Safe};
pub use slot::{Slot, field_ident, literals, pointee};
pub use typed::Typed;

use crate::symbol::{CType, SymbolName, TypeKind};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// A parameter with its role and the source of that role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub role: Role,
    /// Values that the C text compares with; only for functions in a call sequence.
    pub likely: Vec<i64>,
    /// Texts that the C text compares with.
    pub texts: Vec<String>,
    /// Functions that make the struct behind the pointer: half of the inputs use one that C has made.
    pub made_by: Vec<SymbolName>,
    /// The C line that the role came from, or a person's reason.
    pub reason: String,
}

/// Makes the enum of all roles from a table: the role's type, its file, its word in contract files, and its word in
/// errors.
macro_rules! roles {
    ($($role:ident in $file:ident, $word:literal, $noun:literal;)*) => {
        $(pub use $file::$role;)*

        /// The role of a parameter.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Role {
            $($role($role),)*
        }

        /// The words of contract files.
        #[derive(Debug, Clone, Copy, Serialize, Deserialize)]
        enum Word {
            $(#[serde(rename = $word)] $role,)*
        }

        impl Word {
            fn noun(self) -> &'static str {
                match self {
                    $(Self::$role => $noun,)*
                }
            }
        }

        impl Role {
            fn read(keys: &Keys) -> Result<Self, String> {
                match keys.role {
                    $(Word::$role => $role::read(keys).map(Self::$role),)*
                }
            }

            fn word(&self) -> Word {
                match self {
                    $(Self::$role(_) => Word::$role,)*
                }
            }

            $(
                #[doc = concat!("As a ", $noun, ", if it is one.")]
                pub fn $file(&self) -> Option<&$role> {
                    if let Self::$role(role) = self { Some(role) } else { None }
                }
            )*
        }

        // The one place that leads from a role to its file.
        impl Deref for Role {
            type Target = dyn Rules;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$role(role) => role,)*
                }
            }
        }

        impl DerefMut for Role {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$role(role) => role,)*
                }
            }
        }
    };
}

roles! {
    Value in value, "value", "value";
    OneOf in one_of, "one-of", "one-of";
    Buffer in buffer, "buffer", "buffer";
    Length in length, "length", "length";
    CString in c_string, "c-string", "c-string";
    Pointer in pointer, "pointer", "pointer";
    FixedArray in fixed_array, "fixed-array", "fixed-array";
    Elements in elements, "elements", "elements";
    Callback in callback, "callback", "callback";
    UserData in user_data, "token", "token";
    Handle in handle, "handle", "handle";
    Lent in lent, "lent", "lent struct";
    Room in room, "room", "room";
    Given in given, "given", "given block";
}

impl Role {
    /// Whether the pointer may be null.
    pub fn is_nullable(&self) -> bool {
        self.facts().is_nullable
    }

    /// Of memory: which way data goes.
    pub fn direction(&self) -> Option<Direction> {
        self.facts().direction
    }

    /// Whether the call may write to its memory, of the C type `ty`, so that the content is compared afterwards.
    pub fn is_effect(&self, ty: &CType) -> bool {
        match self.direction() {
            Some(direction) => direction != Direction::In,
            None => self.length().is_some() && matches!(ty.kind, TypeKind::Pointer(_)),
        }
    }

    /// Whether C only writes to its memory.
    pub fn is_output(&self) -> bool {
        self.direction() == Some(Direction::Out)
    }
}

/// The buffers whose length is the parameter `length`.
pub fn buffers_of<'a>(params: &'a [Parameter], length: &'a str) -> impl Iterator<Item = &'a Parameter> {
    params.iter().filter(move |param| param.role.buffer().is_some_and(|buffer| buffer.length == length))
}

/// The parameters whose element count or element size is the parameter `length`.
pub fn elements_of<'a>(params: &'a [Parameter], length: &'a str) -> impl Iterator<Item = &'a Parameter> {
    let names = move |elements: &Elements| elements.count == length || elements.size == length;
    params.iter().filter(move |param| param.role.elements().is_some_and(names))
}
