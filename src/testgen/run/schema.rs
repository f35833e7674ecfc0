//! Describes a valid input of a function for a model: a line for each parameter, the JSON forms of its values, and
//! a small example. It describes the fuzz process's input format (`docs/testgen.md`), and does not suggest inputs.

mod example;
mod call_sequence;
mod roles;
mod values;

pub use call_sequence::BEFORE;

use crate::contract::types::{Contract, Direction, Harness, Returns, Role};
use crate::llm::quoted::one_line;
use crate::symbol::{Function, Library, SymbolName, TypeKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

/// A notation that occurs in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Bytes,
    List,
    Float,
    Room,
}

/// Notations that were used and need one explanation.
#[derive(Default)]
struct Said {
    forms: BTreeSet<Form>,
    /// Structs by their keys in the library, with their fields.
    structs: BTreeMap<String, String>,
}

impl Schema {
    /// The schema of a function with a contract.
    pub fn of(sources: &Sources) -> Self {
        let contract = sources.contract;
        let mut said = Said::default();
        let mut lines = match (&contract.sequence, contract.harness) {
            (Some(sequence), _) => call_sequence::lines(sources, sequence, &mut said),
            (None, Harness::Target | Harness::Model) => {
                said.forms.insert(Form::Bytes);
                vec!["`bytes`: a buffer of bytes, which a fuzz target reads its arguments from".into()]
            }
            (None, _) => roles::lines(sources.library, (sources.function, contract), &mut said),
        };
        lines.extend(around(sources, &mut said));
        let forms = said.structs.into_values().chain(said.forms.iter().map(|form| form.words().to_owned()));
        Self { lines, forms: forms.collect(), result: result(sources), example: example::input(sources) }
    }

    /// The whole schema, one item per line.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("- {line}\n"));
        let forms = self.forms.iter().map(|form| format!("{form}\n"));
        lines.chain(forms).chain([format!("Example: {}\n", self.example)]).collect()
    }
}

impl Form {
    fn words(self) -> &'static str {
        match self {
            Self::Bytes => {
                "A buffer of bytes is a string (its UTF-8 bytes), {\"hex\": \"00ff\"}, a list of numbers, or \
                 {\"repeat\": <one of these>, \"times\": 300}."
            }
            Self::List => {
                "A buffer of other elements is a list of them, or {\"repeat\": <list>, \"times\": 300}."
            }
            Self::Float => {
                "A float is a number, {\"float\": \"nan\" | \"inf\" | \"-inf\" | \"-0.0\"}, or {\"bits\": \"0x…\"}, the 64 bits of \
                 a double."
            }
            Self::Room => {
                "Room is the number of elements that there is memory for, or {\"room\": 8, \"fill\": {\"hex\": \"5a5a5a5a\"}} with \
                 the four bytes that stand there, over and over, before the call."
            }
        }
    }
}

/// Lines on variables, randomness and preconditions.
fn around(sources: &Sources, said: &mut Said) -> Vec<String> {
    let contract = sources.contract;
    let inside = if contract.sequence.is_some() { "in `args`, " } else { "" };
    let mut lines = Vec::new();
    for used in contract.globals.iter().filter(|used| used.vary) {
        let global = sources.library.globals.iter().find(|global| global.name == used.name);
        let Some(global) = global else { continue };
        let value = match &used.values[..] {
            [] => values::value(sources.library, &global.ty, said),
            listed => values::listed(&global.ty, listed),
        };
        lines.push(format!(
            "{inside}`$globals`: an object with `{}` ({}), a variable of the library before the call: {value}; may be left out",
            used.name,
            values::spelling(&global.ty)
        ));
    }
    if contract.chance {
        said.forms.insert(Form::Bytes);
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
    let is_behind = |name: &str| {
        let param = sources.function.params.iter().find(|param| param.name == name);
        param.is_some_and(|param| matches!(param.ty.kind, TypeKind::Pointer(_)))
    };
    let is_left = |name: &str, role: &Role| match role {
        Role::Buffer { direction, .. }
        | Role::Pointer { direction, .. }
        | Role::FixedArray { direction, .. }
        | Role::Room { direction, .. }
        | Role::Elements { direction, .. } => *direction != Direction::In,
        Role::Length => is_behind(name),
        _ => false,
    };
    let params = contract.params.iter().filter(|param| is_left(&param.name, &param.role));
    let mut keys: Vec<String> = returned.then(|| "return".to_owned()).into_iter().collect();
    keys.extend(params.map(|param| param.name.clone()));
    keys.extend(contract.errno.then(|| "errno".to_owned()));
    keys.extend((!contract.globals.is_empty()).then(|| "$globals".to_owned()));
    keys
}

#[cfg(test)]
mod tests;
