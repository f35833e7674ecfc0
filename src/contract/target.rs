//! Contracts of functions whose fuzz target a model writes. They hold what follows from the C text alone; only the
//! target knows how the function is called. State that no target can set or compare still prevents judgement.

use super::errno::sets_errno;
use super::flat::flat;
use super::infer::constants;
use super::pointer_facts::FactTable;
use super::state;
use super::types::{Contract, Harness, Judgeable, Returns, Signature};
use crate::libc_facts::is_answered;
use crate::symbol::{CType, Function, Library, SymbolName, TypeKind};
use std::collections::BTreeSet;

/// The contract of `function` under a fuzz target of this kind; `known` is what inference found. `Err` says why no
/// target can judge it. A target of a person's may replace a call sequence, or roles for blocks that change hands.
pub fn contract(
    library: &Library,
    facts: &FactTable,
    (function, known): (&Function, &Judgeable),
    harness: Harness,
) -> Result<Contract, String> {
    let is_own = harness == Harness::Target;
    let aimed = match known {
        Judgeable::Yes(contract)
            if is_own
                && (contract.sequence.is_some()
                    || contract.hands_over()
                    || contract.returns.elements().is_some()) =>
        {
            without_roles(library, facts, function)
        }
        Judgeable::Yes(contract) if contract.sequence.is_some() => {
            Err("it is a step in call sequences, also of other functions' harnesses".into())
        }
        Judgeable::Yes(contract) if contract.hands_over() || contract.returns.elements().is_some() => {
            Err("only the harness of its contract can compare returned or freed blocks and tables".into())
        }
        Judgeable::Yes(contract) if !contract.require.is_empty() => {
            Err("its contract has `require`, but the fuzz target decides which inputs occur".into())
        }
        Judgeable::Yes(contract) => Ok(contract.clone()),
        Judgeable::NotYet(_) => without_roles(library, facts, function),
    }?;
    Ok(Contract { harness, ..aimed })
}

fn without_roles(library: &Library, facts: &FactTable, function: &Function) -> Result<Contract, String> {
    if let Some(reason) = &function.unsupported {
        return Err(reason.clone());
    }
    let globals = state::globals(library, &facts.index, function)?;
    let returns = match &function.ret.kind {
        TypeKind::Void => Returns::Nothing,
        TypeKind::Pointer(_) => Returns::Address,
        _ if flat(library, &function.ret) => Returns::Value,
        _ => return Err(format!("returns `{}` by value", function.ret.spelling)),
    };
    Ok(Contract {
        symbol: function.name.clone(),
        harness: Harness::Model,
        signature: Signature::C,
        params: Vec::new(),
        returns,
        errno: sets_errno(&facts.index, function),
        require: Vec::new(),
        interesting: constants(library, function),
        equivalent: Vec::new(),
        chance: facts.index.reached(function).any(|f| f.externs.iter().any(|name| is_answered(name))),
        globals,
        sequence: None,
        proposed_by: None,
    })
}

/// Largest number of other functions that a target may call.
const HELPERS: usize = 24;

/// Other functions with one of this function's structs in their signature, which make, fill or end it; none of them
/// keeps state.
pub fn helpers(library: &Library, facts: &FactTable, function: &Function) -> Vec<SymbolName> {
    let own = records(function);
    let is_one = |other: &&Function| {
        other.key != function.key
            && other.unsupported.is_none()
            && records(other).intersection(&own).next().is_some()
            && state::globals(library, &facts.index, other).is_ok_and(|globals| globals.is_empty())
    };
    library.functions.iter().filter(is_one).take(HELPERS).map(|other| other.name.clone()).collect()
}

/// The structs that a signature names, at any pointer depth.
fn records(function: &Function) -> BTreeSet<&str> {
    fn record(mut ty: &CType) -> Option<&str> {
        loop {
            match &ty.kind {
                TypeKind::Pointer(of) | TypeKind::Array { of, .. } => ty = of,
                TypeKind::Record(key) => return Some(key.as_str()),
                _ => return None,
            }
        }
    }
    function.params.iter().map(|param| &param.ty).chain([&function.ret]).filter_map(record).collect()
}
