//! Consistency of a contract, for inferred and written ones alike.

use super::types::{Contract, Parameter, Returns, Signature};
use crate::error::{Error, ErrorKind, Page};

/// The error for a contract in which something is wrong, whoever finds it.
pub fn wrong(path: &str, what: &str) -> Error {
    let symbol = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".toml");
    Error::new(ErrorKind::Config, format!("{path}: {what}")).help(format!(
        "cargo implfuzz contract --edit {symbol} ({} lists the keys); to have it inferred again: rm {path}",
        Page::Formats
    ))
}

/// What is wrong with a contract, if anything is.
pub(super) fn complaint(contract: &Contract) -> Option<String> {
    if let Some(empty) = contract.equivalent.iter().find(|e| e.reason.trim().is_empty()) {
        return Some(format!("the mutant `{}` is marked as equivalent without a reason", empty.mutant));
    }
    if !contract.harness.is_inferred() && (contract.hands_over() || contract.returns.elements().is_some()) {
        return Some(
            "a fuzz target cannot be combined with roles for returned or freed blocks and tables".to_owned(),
        );
    }
    of_handles(contract).or_else(|| contract.params.iter().find_map(|param| of_lengths(contract, param))).or_else(
        || {
            let is_safe = contract.needs_c() && contract.signature == Signature::Safe;
            is_safe.then(|| {
                "a function with callbacks, elements of a size, blocks that change hands or a returned pointer needs `signature = \"c\"`"
                    .to_owned()
            })
        },
    )
}

fn of_handles(contract: &Contract) -> Option<String> {
    let is_lent = |p: &&Parameter| p.role.lent().is_some();
    if let Some(param) = contract.params.iter().find(is_lent).filter(|_| contract.sequence.is_none()) {
        return Some(format!("`{}`: structs are lent only to functions on handles", param.name));
    }
    let on_handles =
        contract.returns == Returns::Handle || contract.params.iter().any(|p| p.role.handle().is_some());
    match &contract.sequence {
        None if on_handles => Some("a function on handles needs [sequence]".to_owned()),
        Some(sequence) if sequence.makers.is_empty() => {
            Some("[sequence]: `makers` names no function".to_owned())
        }
        Some(_) if contract.signature == Signature::Safe || !contract.harness.is_inferred() => {
            Some("a function on handles needs `signature = \"c\"` and the inferred harness".to_owned())
        }
        // Allocations in a call sequence are counted over the whole sequence, not for one call.
        Some(_) if contract.hands_over() => Some(
            "a function on handles neither returns `memory` nor has parameters with role \"given\""
                .to_owned(),
        ),
        _ => None,
    }
}

fn of_lengths(contract: &Contract, param: &Parameter) -> Option<String> {
    let is_length = |name: &str| contract.role(name).is_some_and(|role| role.length().is_some());
    let (name, lengths) = (&param.name, param.role.facts().lengths);
    if !lengths.iter().all(|length| is_length(length)) {
        return Some(match &lengths[..] {
            [length] => format!("`{name}`: its length `{length}` is not a parameter with role \"length\""),
            _ => format!("`{name}`: `length` and `size` must name parameters with role \"length\""),
        });
    }
    let is_measured = contract.params.iter().any(|other| other.role.facts().lengths.contains(&name));
    (param.role.length().is_some() && !is_measured).then(|| format!("no buffer has the length `{name}`"))
}
