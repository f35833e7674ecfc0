//! The contract of a function, typed. How it is written as TOML lives in `contract::file`, how it is found in
//! `contract::infer`.

pub use crate::config::Harness;
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};

/// Which way data goes through a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// What a parameter is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A number or a struct by value; `min` and `max` narrow numbers.
    Value { min: Option<i64>, max: Option<i64> },
    /// One of these values (C enums).
    OneOf { values: Vec<i64> },
    /// `length` elements at most `max`; `length` names the parameter that says how many.
    Buffer { direction: Direction, length: String, max: usize, nullable: bool },
    /// The length of the buffers that name it.
    Length,
    /// A NUL-terminated string that is read, of at most `max` bytes.
    CString { max: usize, nullable: bool },
    /// A pointer to one number or flat struct.
    Pointer { direction: Direction, nullable: bool },
    /// A pointer to `len` elements.
    FixedArray { direction: Direction, len: usize },
    /// A pointer to memory of which nothing says how much there is: `len` elements, which is more than it takes. Inputs on which C
    /// goes beyond are those on which it breaks.
    Room { direction: Direction, len: usize, nullable: bool },
    /// `count` elements of `size` bytes each, at most `max` of them; both name parameters.
    Elements { direction: Direction, count: String, size: String, max: usize },
    /// A function that is called back: its calls are compared. What it answers comes from the input; with `order`, it is an
    /// order of what its two pointers point to.
    Callback { order: bool, nullable: bool },
    /// A handle; with `through`, what this field of the handle points to.
    Handle { life: Life, through: Option<String>, nullable: bool },
    /// A pointer that is only handed on to a callback.
    UserData,
    /// A block of at most `max` bytes that each side's own allocator made, for the function to free or to keep.
    Given { max: usize, nullable: bool },
    /// A struct `of` the caller's that may be kept, by its name in `ffi.rs`: the fields that point to bytes, each with the
    /// fields that say how many, and the fields that are numbers.
    Lent { of: String, pointers: Vec<(String, Vec<String>)>, numbers: Vec<String>, nullable: bool },
}

impl Role {
    /// Whether C may get null.
    pub fn is_nullable(&self) -> bool {
        match self {
            Self::Buffer { nullable, .. }
            | Self::Pointer { nullable, .. }
            | Self::CString { nullable, .. }
            | Self::Callback { nullable, .. }
            | Self::Handle { nullable, .. }
            | Self::Lent { nullable, .. }
            | Self::Given { nullable, .. }
            | Self::Room { nullable, .. } => *nullable,
            Self::Value { .. }
            | Self::OneOf { .. }
            | Self::Length
            | Self::FixedArray { .. }
            | Self::Elements { .. }
            | Self::UserData => false,
        }
    }

    /// Whether no safe type says what it is.
    pub fn needs_c(&self) -> bool {
        matches!(
            self,
            Self::Elements { .. }
                | Self::Callback { .. }
                | Self::UserData
                | Self::Lent { .. }
                | Self::Room { .. }
                | Self::Given { .. }
        )
    }
}

/// What a function does with the life of what a handle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    Makes,
    Uses,
    Ends,
}

/// How a function on handles is reached: what is called before it and after it, on the same handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sequence {
    /// The struct behind the handle, as `ffi.rs` calls it.
    pub of: String,
    /// The caller gives the memory of the struct.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_caller: bool,
    /// Fields that the caller points to memory, each with the field that says how much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<(String, String)>,
    /// Fields that point to a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// An allocation of the call under test may fail, on both sides: for ports that survive it as C does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_allocations: bool,
    /// The one file that there is, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub makers: Vec<SymbolName>,
    #[serde(default)]
    pub operations: Vec<SymbolName>,
    #[serde(default)]
    pub enders: Vec<SymbolName>,
}

impl Sequence {
    /// All functions that a harness calls besides the one under test.
    pub fn names(&self) -> impl Iterator<Item = &SymbolName> {
        self.makers.iter().chain(&self.operations).chain(&self.enders)
    }
}

/// A parameter with its role and where that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub role: Role,
    /// Values that the C text looks for; only where the function is one step among others.
    pub likely: Vec<i64>,
    /// Texts of that kind.
    pub texts: Vec<String>,
    /// Functions that make the struct which a pointer leads to: half of the inputs have one that C has made.
    pub made_by: Vec<SymbolName>,
    /// The C line that the role came from, or what a person wrote.
    pub reason: String,
}

/// A variable of the library that the function reaches: both sides have a copy, set before a call and compared after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalUse {
    pub name: SymbolName,
    /// `In` where it is only read.
    pub direction: Direction,
    /// Tested with other values than the one that C starts with.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub vary: bool,
    /// The only values that it may be given, for C enums; empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<i64>,
    /// The C line that it was seen in, or what a person wrote.
    #[serde(default)]
    pub reason: String,
}

fn yes() -> bool {
    true
}

/// What is compared of the return value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    Nothing,
    /// The value, field by field for structs.
    Value,
    /// The text that a `const char *` points to; null is a value of its own.
    StaticString,
    /// A new handle, or null.
    Handle,
    /// Null, or where in memory that both sides have.
    Address,
    /// Null, or a new block: how long it is, and what C has written there.
    Memory,
    /// Null, or so many elements that stay as they are.
    Table(usize),
}

impl Returns {
    /// All but tables.
    pub const WITHOUT_LENGTH: [Self; 6] =
        [Self::Nothing, Self::Value, Self::StaticString, Self::Handle, Self::Address, Self::Memory];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Value => "value",
            Self::StaticString => "static-string",
            Self::Handle => "handle",
            Self::Address => "address",
            Self::Memory => "memory",
            Self::Table(_) => "table",
        }
    }

    /// Of a table.
    pub fn elements(self) -> Option<usize> {
        if let Self::Table(elements) = self { Some(elements) } else { None }
    }

    /// Whether no safe type says what it is: a pointer that is compared by where it leads.
    pub fn needs_c(self) -> bool {
        matches!(self, Self::Address | Self::Memory | Self::Table(_))
    }
}

/// Which signature the inner Rust function has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signature {
    /// Slices, references, `CStr`, values.
    Safe,
    /// The types of C, and `unsafe`.
    C,
}

/// A complete contract: a harness can be made from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub symbol: SymbolName,
    pub harness: Harness,
    pub signature: Signature,
    /// One for each parameter of C; none where a fuzz target alone knows how the function is called.
    pub params: Vec<Parameter>,
    pub returns: Returns,
    /// `errno` is compared after the call; before it, it holds what the input chooses.
    pub errno: bool,
    /// Expressions over parameters that must hold.
    pub require: Vec<String>,
    /// Lengths around which behaviour may change: constants of the C text.
    pub interesting: Vec<usize>,
    /// Mutants that are no other function, by the word of a person.
    pub equivalent: Vec<Equivalent>,
    /// It asks for chance or the time: both sides get the same from the input, and ask as often.
    pub chance: bool,
    /// The variables that it reads or writes, itself or through what it calls.
    pub globals: Vec<GlobalUse>,
    /// For functions on handles.
    pub sequence: Option<Box<Sequence>>,
    /// The model that proposed it, until a person approves of it.
    pub proposed_by: Option<String>,
}

/// A mutant that behaves as the original does, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalent {
    /// As `contract --check` names it.
    pub mutant: String,
    pub reason: String,
}

impl Contract {
    /// The same without what it says of the places that its roles were inferred from, which decide nothing.
    pub fn without_reasons(&self) -> Self {
        let mut bare = self.clone();
        bare.params.iter_mut().for_each(|param| param.reason.clear());
        bare.globals.iter_mut().for_each(|global| global.reason.clear());
        bare
    }

    /// The role of the parameter called `name`.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.params.iter().find(|p| p.name == name).map(|p| &p.role)
    }

    /// Whether a role, or the result, keeps the types of C.
    pub fn needs_c(&self) -> bool {
        self.returns.needs_c() || self.params.iter().any(|param| param.role.needs_c())
    }

    /// Whether blocks of memory change hands, so that what both sides allocate and free is counted.
    pub fn hands_over(&self) -> bool {
        let is_given = |param: &Parameter| matches!(param.role, Role::Given { .. });
        self.returns == Returns::Memory || self.params.iter().any(is_given)
    }

    /// The elements that the parameter `length` counts or measures.
    pub fn elements_of<'a>(&'a self, length: &'a str) -> impl Iterator<Item = &'a Parameter> {
        let names = move |p: &&Parameter| matches!(&p.role, Role::Elements { count, size, .. } if count == length || size == length);
        self.params.iter().filter(names)
    }

    /// Buffers whose length is the parameter `length`.
    pub fn buffers_of<'a>(&'a self, length: &'a str) -> impl Iterator<Item = &'a Parameter> {
        self.params.iter().filter(move |p| matches!(&p.role, Role::Buffer { length: l, .. } if l == length))
    }
}

/// What is known of how to call a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgeable {
    /// A harness can be made.
    Yes(Contract),
    /// None can be made yet, and why.
    NotYet(String),
}

impl Judgeable {
    /// The contract, if there is one.
    pub fn contract(&self) -> Option<&Contract> {
        match self {
            Self::Yes(contract) => Some(contract),
            Self::NotYet(_) => None,
        }
    }

    /// Why there is none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Yes(_) => None,
            Self::NotYet(why) => Some(why),
        }
    }
}
