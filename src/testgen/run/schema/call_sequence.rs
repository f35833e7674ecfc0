//! Functions on handles: an input is a call sequence, and each call in it has its own parameters.

use super::{Sources, parameters};
use crate::contract::parameter_roles::{Form, Notation};
use crate::contract::types::Sequence;
use crate::symbol::SymbolName;

/// Largest number of steps before the call, and after it, as in the fuzz process (`runtime/sequence_input.rs`).
pub const BEFORE: usize = 12;
const AFTER: usize = 8;

/// The parts of a call sequence, then a line for each function that can be called.
pub(super) fn lines(sources: &Sources, sequence: &Sequence, notation: &mut Notation) -> Vec<String> {
    let makes = sequence.makers.contains(&sources.contract.symbol);
    let of = &sequence.of;
    let mut lines = vec![match makes {
        true => format!(
            "the life of a `{of}`, which the function under test makes: an object of `before`, `args`, `after`"
        ),
        false => format!("the life of a `{of}`: an object of `make`, `before`, `args`, `after`"),
    }];
    if !makes {
        lines.push("`make`: {\"call\": <a constructor>, \"args\": {…}}; it makes handle 0, one more constructor in `before` handle 1; a life is of no use where a call asks for one that was not made, or was ended".into());
    }
    lines.push(format!(
        "`before` and `after`: lists of {{\"call\": <any of these functions>, \"args\": {{…}}}}, at most {BEFORE} and {AFTER}; may be left out"
    ));
    lines.extend(others(sequence, notation));
    lines.push(format!(
        "`args`: the arguments of `{}`, which is under test: {}",
        sources.function.c_name,
        own(sources, notation)
    ));
    let groups = [
        ("constructor", &sequence.makers),
        ("function", &sequence.operations),
        ("ends a handle", &sequence.enders),
    ];
    for (what, names) in groups {
        let listed = names.iter().filter(|name| **name != sources.contract.symbol);
        lines.extend(listed.filter_map(|name| called(sources, (what, name), notation)));
    }
    lines
}

/// The parameters of the function under test.
fn own(sources: &Sources, notation: &mut Notation) -> String {
    joined(parameters((sources.function, sources.contract), notation))
}

/// A function that can be called, with its parameters.
fn called(sources: &Sources, (what, name): (&str, &SymbolName), notation: &mut Notation) -> Option<String> {
    let (function, contract) = (sources.other)(name)?;
    let params = joined(parameters((function, contract), notation));
    Some(format!("`{name}` ({what}): {params}"))
}

fn joined(params: Vec<String>) -> String {
    if params.is_empty() { "no parameters".into() } else { params.join(" · ") }
}

/// Steps that are not calls, if the contract has them.
fn others(sequence: &Sequence, notation: &mut Notation) -> Vec<String> {
    let mut lines = Vec::new();
    if !sequence.buffers.is_empty() {
        notation.uses(Form::Bytes);
        let names: Vec<String> = sequence.buffers.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        lines.push(format!(
            "a step that gives a field new memory: {{\"feed\": {}, \"handle\": 0, \"with\": <buffer of at most 255 bytes> | \
             {{\"piece\": <buffer>, \"times\": 9, \"noise\": 0}} | {{\"room\": 100}}}}",
            names.join(" | ")
        ));
    }
    if let Some(file) = &sequence.file {
        notation.uses(Form::Bytes);
        lines.push(format!(
            "the only file is called `{file}`; `$file`: what it has at first, a buffer of at most 255 bytes; a step \
             {{\"spoil\": 3, \"with\": 7}} mixes its byte 3 with 7, or cuts it off there with 0"
        ));
    }
    if sequence.fail_allocations {
        lines.push(
            "`$fail`: which allocation of the call under test fails, from 1; 0 or left out: none".into(),
        );
    }
    lines
}
