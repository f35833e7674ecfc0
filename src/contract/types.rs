//! The typed contract of a function. `contract::file` defines its TOML form, `contract::infer` infers it.

pub use super::parameter_roles::{Direction, Life, Parameter, Role};
pub use crate::config::Harness;
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};

/// The calls on the same handle before and after a function under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sequence {
    /// The struct behind the handle, by its name in `ffi.rs`.
    pub of: String,
    /// The caller provides the memory of the struct.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_caller: bool,
    /// Fields that the caller points to memory, each with its length field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<(String, String)>,
    /// Fields that point to a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Allocations of the call under test may fail on both sides: for ports that handle a failed allocation as C
    /// does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_allocations: bool,
    /// The name of the only file.
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

/// A variable of the library that the function reaches. Each side has a copy, set before a call and compared after
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalUse {
    pub name: SymbolName,
    /// `In` where the function only reads it.
    pub direction: Direction,
    /// Whether inputs give it other values than C's initial one.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub vary: bool,
    /// Whether it has pointers to functions, whose addresses mean the same only in one process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub functions: bool,
    /// The only values that it may get, for C enums; empty: any value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<i64>,
    /// The C line that mentions it, or a person's reason.
    #[serde(default)]
    pub reason: String,
}

fn yes() -> bool {
    true
}

/// How the return value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    Nothing,
    /// The value, field by field for structs.
    Value,
    /// The text that a `const char *` points to; null is a value of its own.
    StaticString,
    /// A new handle, or null.
    Handle,
    /// Null, or a position in memory that both sides have.
    Address,
    /// Null, or a new block: its size is compared, and the content that C has written.
    Memory,
    /// Null, or a pointer to this number of constant elements.
    Table(usize),
}

impl Returns {
    /// All but `Table`.
    pub const WITHOUT_LENGTH: [Self; 6] =
        [Self::Nothing, Self::Value, Self::StaticString, Self::Handle, Self::Address, Self::Memory];

    /// The word in the contract file.
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

    /// The number of elements of a table.
    pub fn elements(self) -> Option<usize> {
        if let Self::Table(elements) = self { Some(elements) } else { None }
    }

    /// Whether no safe Rust type can express the result: a pointer whose target position or block is compared.
    pub fn needs_c(self) -> bool {
        matches!(self, Self::Address | Self::Memory | Self::Table(_))
    }
}

/// The signature of the inner Rust function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signature {
    /// Slices, references, `CStr`, values.
    Safe,
    /// C's types, and `unsafe`.
    C,
}

/// A complete contract, from which a harness can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub symbol: SymbolName,
    pub harness: Harness,
    pub signature: Signature,
    /// One for each parameter of C; empty where only a fuzz target knows how the function is called.
    pub params: Vec<Parameter>,
    pub returns: Returns,
    /// `errno` is compared after the call; the input sets its value before the call.
    pub errno: bool,
    /// Expressions over parameters that must hold.
    pub require: Vec<String>,
    /// Constants of the C text: lengths around which behaviour may change.
    pub interesting: Vec<usize>,
    /// Mutants that a person declared equivalent to the original.
    pub equivalent: Vec<Equivalent>,
    /// The function asks for randomness or the time: both sides get the same values from the input and must ask
    /// equally often.
    pub chance: bool,
    /// The variables that it reads or writes, directly or through callees.
    pub globals: Vec<GlobalUse>,
    /// For functions on handles.
    pub sequence: Option<Box<Sequence>>,
    /// The model that proposed the contract, until a person approves it.
    pub proposed_by: Option<String>,
}

/// A mutant that behaves as the original does, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalent {
    /// The name that `contract --check` shows.
    pub mutant: String,
    pub reason: String,
}

impl Contract {
    /// The contract without the source lines of roles, which have no effect on a verdict.
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

    /// Whether a role or the result needs C's types.
    pub fn needs_c(&self) -> bool {
        self.returns.needs_c() || self.params.iter().any(|param| param.role.facts().needs_c)
    }

    /// Whether blocks of memory change owners, so that the harness counts allocations and frees of both sides.
    pub fn hands_over(&self) -> bool {
        self.returns == Returns::Memory || self.params.iter().any(|param| param.role.given().is_some())
    }
}

/// Whether there is a contract for a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgeable {
    /// A harness can be made.
    Yes(Contract),
    /// No harness can be made yet, and the reason.
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

    /// Why there is no contract.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Yes(_) => None,
            Self::NotYet(why) => Some(why),
        }
    }
}
