//! Contracts for tests: of which nothing is known but the roles, to be filled in where a test is about more.

use super::types::{Contract, Harness, Parameter, Returns, Role, Sequence, Signature};
use crate::symbol::SymbolName;

/// Of a function with C's signature that returns a value.
pub fn contract(name: &str, params: Vec<(&str, Role)>) -> Contract {
    Contract {
        symbol: SymbolName::new(name),
        harness: Harness::Inferred,
        signature: Signature::C,
        params: params.into_iter().map(|(name, role)| param(name, role)).collect(),
        returns: Returns::Value,
        errno: false,
        require: Vec::new(),
        interesting: Vec::new(),
        equivalent: Vec::new(),
        proposed_by: None,
        chance: false,
        globals: Vec::new(),
        sequence: None,
    }
}

/// With a role, and nothing that is tried often.
pub fn param(name: &str, role: Role) -> Parameter {
    let (likely, texts, made_by) = Default::default();
    Parameter { name: name.into(), role, likely, texts, made_by, reason: String::new() }
}

/// Over handles on this struct, which nothing makes, uses or ends yet.
pub fn sequence(of: &str) -> Sequence {
    Sequence {
        of: of.into(),
        by_caller: false,
        buffers: Vec::new(),
        texts: Vec::new(),
        fail_allocations: false,
        file: None,
        makers: Vec::new(),
        operations: Vec::new(),
        enders: Vec::new(),
    }
}
