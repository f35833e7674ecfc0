//! A small input of the right form. It may violate preconditions between parameters, which are listed beside it.

use super::Sources;
use crate::contract::parameter_roles::{Notation, ParameterContext};
use crate::contract::slots::places;
use crate::contract::types::Contract;
use crate::symbol::{Function, SymbolName};
use serde_json::{Map, Value, json};

/// An example for the function.
pub(super) fn input(sources: &Sources, notation: &Notation) -> Value {
    let contract = sources.contract;
    let own = arguments((sources.function, contract), notation);
    let Some(sequence) = &contract.sequence else {
        let mut own = if !contract.harness.is_inferred() { bytes_only() } else { own };
        own.extend(around(sources, notation));
        return Value::Object(own);
    };
    let step = |name: &SymbolName| {
        let (function, contract) = (sources.other)(name)?;
        Some(json!({"call": name.as_str(), "args": arguments((function, contract), notation)}))
    };
    let makes = sequence.makers.contains(&contract.symbol);
    let mut input = Map::new();
    if let Some(make) = sequence.makers.first().filter(|_| !makes).and_then(step) {
        input.insert("make".into(), make);
    }
    let before = sequence.operations.iter().find_map(step).filter(|_| !makes);
    input.insert("before".into(), before.into_iter().collect());
    let mut own = own;
    own.extend(around(sources, notation));
    input.insert("args".into(), Value::Object(own));
    let after = sequence.enders.iter().filter(|name| **name != contract.symbol).find_map(step);
    input.insert("after".into(), after.into_iter().collect());
    Value::Object(input)
}

fn bytes_only() -> Map<String, Value> {
    [("bytes".to_owned(), json!({"hex": "0102037f80ff"}))].into_iter().collect()
}

/// Example values of variables and randomness.
fn around(sources: &Sources, notation: &Notation) -> Map<String, Value> {
    let mut all = Map::new();
    let varied = sources.contract.globals.iter().find(|used| used.vary).and_then(|used| {
        let global = sources.library.globals.iter().find(|global| global.name == used.name)?;
        let value = match used.values.first() {
            Some(value) => json!(value),
            None => notation.example(&global.ty),
        };
        Some((used.name.to_string(), value))
    });
    if let Some((name, value)) = varied {
        all.insert("$globals".into(), json!({ name: value }));
    }
    if sources.contract.chance {
        all.insert("$chance".into(), json!({"hex": "2a07"}));
    }
    all
}

fn arguments((function, contract): (&Function, &Contract), notation: &Notation) -> Map<String, Value> {
    let example = |place: ParameterContext| {
        Some((place.param.name.clone(), place.param.role.example(&place, notation)?))
    };
    places(contract, function).filter_map(example).collect()
}
