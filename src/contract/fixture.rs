//! Contracts for tests. They have roles and defaults; a test fills in what it needs.

use super::types::{Contract, Harness, Parameter, Returns, Role, Sequence, Signature};
use crate::symbol::SymbolName;

/// A contract with C's signature that returns a value.
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

/// A parameter with a role and no likely values.
pub fn param(name: &str, role: Role) -> Parameter {
    let (likely, texts, made_by) = Default::default();
    Parameter { name: name.into(), role, likely, texts, made_by, reason: String::new() }
}

/// A sequence over handles on this struct, without constructors, operations or destructors.
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
