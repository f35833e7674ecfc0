//! The reasons that keep functions from having a harness, summed up.

use crate::symbol::SymbolName;
use serde::Serialize;
use std::collections::BTreeMap;

/// A reason and the functions that it holds for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    pub cause: String,
    pub functions: Vec<SymbolName>,
}

/// Sums up reasons, the most frequent first.
pub fn causes<'a>(reasons: impl Iterator<Item = (&'a SymbolName, &'a str)>) -> Vec<Cause> {
    let mut all: BTreeMap<String, Vec<SymbolName>> = BTreeMap::new();
    for (name, reason) in reasons {
        all.entry(without_way(reason)).or_default().push(name.clone());
    }
    let mut all: Vec<Cause> = all.into_iter().map(|(cause, functions)| Cause { cause, functions }).collect();
    all.sort_by_key(|cause| std::cmp::Reverse(cause.functions.len()));
    all
}

/// A reason without the callee through which it arises: the cause is the same for all callers.
fn without_way(reason: &str) -> String {
    const WAY: &str = " (through `";
    match reason.split_once(WAY).and_then(|(before, rest)| Some((before, rest.split_once("`)")?.1))) {
        Some((before, after)) => format!("{before}{after}"),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_share_the_cause_of_what_they_call() {
        let names = ["f", "g", "h"].map(SymbolName::new);
        let reasons = [
            "calls `puts`, which prints",
            "depends on `stderr`, a variable",
            "depends on `stderr` (through `g`), a variable",
        ];
        let all = causes(names.iter().zip(reasons));
        let told: Vec<(&str, usize)> =
            all.iter().map(|cause| (cause.cause.as_str(), cause.functions.len())).collect();
        assert_eq!(told, [("depends on `stderr`, a variable", 2), ("calls `puts`, which prints", 1)]);
    }
}
