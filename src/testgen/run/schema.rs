//! Describes a valid input of a function for a model: a line for each parameter, the JSON forms of its values, and
//! a small example. It describes the fuzz process's input format (`docs/testgen.md`), and does not suggest inputs.

mod example;
mod call_sequence;

pub use call_sequence::BEFORE;

use crate::contract::parameter_roles::{Form, Notation, spelling};
use crate::contract::slots::places;
use crate::contract::types::{Contract, Harness, Returns};
use crate::llm::quoted::one_line;
use crate::symbol::{Function, Library, SymbolName};
use serde_json::Value;

/// Number of bytes for randomness and clocks, as in the fuzz process (`runtime/chance.rs`).
const CHANCE: usize = 64;

/// The inputs of a schema.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub library: &'a Library,
    pub function: &'a Function,
    pub contract: &'a Contract,
    /// Other functions that an input may call, with their contracts.
    pub other: &'a dyn Fn(&SymbolName) -> Option<(&'a Function, &'a Contract)>,
}

/// The description of a valid input.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// One for each parameter, or for each function of a call sequence; then variables, randomness and
    /// preconditions.
    pub lines: Vec<String>,
    /// The notation of values other than plain numbers: structs, buffers, floats.
    pub forms: Vec<String>,
    /// The keys of a result.
    pub result: Vec<String>,
    /// An input of the right shape.
    pub example: Value,
}

impl Schema {
    /// The schema of a function with a contract.
    pub fn of(sources: &Sources) -> Self {
        let contract = sources.contract;
        let mut notation = Notation::of(sources.library);
        let mut lines = match (&contract.sequence, contract.harness) {
            (Some(sequence), _) => call_sequence::lines(sources, sequence, &mut notation),
            (None, Harness::Target | Harness::Model) => {
                notation.uses(Form::Bytes);
                vec!["`bytes`: a buffer of bytes, which a fuzz target reads its arguments from".into()]
            }
            (None, _) => parameters((sources.function, contract), &mut notation),
        };
        lines.extend(around(sources, &mut notation));
        let example = example::input(sources, &notation);
        Self { lines, forms: notation.explained(), result: result(sources), example }
    }

    /// The whole schema, one item per line.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("- {line}\n"));
        let forms = self.forms.iter().map(|form| format!("{form}\n"));
        lines.chain(forms).chain([format!("Example: {}\n", self.example)]).collect()
    }
}

/// A line for each parameter: its name and C type, and the JSON that is expected.
fn parameters((function, contract): (&Function, &Contract), notation: &mut Notation) -> Vec<String> {
    places(contract, function)
        .map(|place| {
            let (param, words) = (place.param, place.param.role.expect(&place, notation));
            let null = if param.role.is_nullable() { "; or null" } else { "" };
            format!("`{}` ({}): {words}{null}", param.name, spelling(place.ty))
        })
        .collect()
}

/// Lines on variables, randomness and preconditions.
fn around(sources: &Sources, notation: &mut Notation) -> Vec<String> {
    let contract = sources.contract;
    let inside = if contract.sequence.is_some() { "in `args`, " } else { "" };
    let mut lines = Vec::new();
    for used in contract.globals.iter().filter(|used| used.vary) {
        let global = sources.library.globals.iter().find(|global| global.name == used.name);
        let Some(global) = global else { continue };
        let value = match &used.values[..] {
            [] => notation.value(&global.ty),
            listed => Notation::listed(&global.ty, listed),
        };
        lines.push(format!(
            "{inside}`$globals`: an object with `{}` ({}), a variable of the library before the call: {value}; may be left out",
            used.name,
            spelling(&global.ty)
        ));
    }
    if contract.chance {
        notation.uses(Form::Bytes);
        lines.push(format!(
            "{inside}`$chance`: what chance and clocks answer, a buffer of 0 to {CHANCE} bytes; may be left out"
        ));
    }
    lines.extend(contract.require.iter().map(|rule| format!("always: `{}`", one_line(rule))));
    lines
}

/// The keys of a result, for predictions.
fn result(sources: &Sources) -> Vec<String> {
    let contract = sources.contract;
    if contract.sequence.is_some() {
        return vec!["steps".into()];
    }
    let returned = !matches!(contract.returns, Returns::Nothing | Returns::Memory);
    let left = places(contract, sources.function).filter(|place| place.param.role.is_effect(place.ty));
    let mut keys: Vec<String> = returned.then(|| "return".to_owned()).into_iter().collect();
    keys.extend(left.map(|place| place.param.name.clone()));
    keys.extend(contract.errno.then(|| "errno".to_owned()));
    keys.extend((!contract.globals.is_empty()).then(|| "$globals".to_owned()));
    keys
}

#[cfg(test)]
mod tests;
