//! Numbers with which a port and its C original may compare lengths.

use crate::contract::parameter_roles::LONGEST;
use crate::project::FunctionPlan;
use crate::project::ported::PortModule;
use crate::rust::signature::ident;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::cmp::Reverse;

/// Maximum number that a campaign tries, because it also tries pairs of them.
const MOST: usize = 8;
const COMPARISONS: [&str; 8] = ["==", "!=", "<", ">", "<=", ">=", "..", "..="];
/// Ends a pattern; the text after it is not a pattern.
const ARM: &str = "=>";

/// An integer in Rust text.
struct Literal {
    value: usize,
    is_compared: bool,
}

/// The numbers that matter most: what the port compares with, then constants of the C text, then other numbers of the port.
/// Where no port is judged there is no module.
pub fn literals(module: Option<&PortModule>, planned: &FunctionPlan) -> Vec<usize> {
    let mut found = Vec::new();
    let name = ident(&planned.function).to_string();
    for item in module.into_iter().flat_map(|module| module.own_items(&name)) {
        collect(item.to_token_stream(), &mut found);
    }
    // The larger ones first: small lengths are tried anyway.
    found.sort_by_key(|literal| (!literal.is_compared, Reverse(literal.value)));
    let compared = found.iter().filter(|literal| literal.is_compared).map(|literal| literal.value);
    let of_c = planned.judgeable.contract().into_iter().flat_map(|contract| &contract.interesting).rev();
    let others = found.iter().filter(|literal| !literal.is_compared).map(|literal| literal.value);
    let mut all = Vec::new();
    for value in compared.chain(of_c.copied()).chain(others) {
        if (2..=LONGEST).contains(&value) && !all.contains(&value) {
            all.push(value);
        }
    }
    all.truncate(MOST);
    all
}

/// Integers with the operators around them.
fn collect(tokens: TokenStream, found: &mut Vec<Literal>) {
    let is_comparison = |operator: &str| COMPARISONS.contains(&operator);
    let ends_pattern = |operator: &str| is_comparison(operator) || operator == ARM;
    let (mut operator, mut open) = (String::new(), None);
    for token in tokens {
        if let TokenTree::Punct(punct) = &token {
            operator.push(punct.as_char());
            continue;
        }
        if let Some(at) = open.take() {
            let literal: &mut Literal = &mut found[at];
            literal.is_compared |= ends_pattern(&operator);
        }
        match token {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Literal(literal) => {
                let number = syn::parse2::<syn::LitInt>(literal.to_token_stream());
                if let Some(value) = number.ok().and_then(|number| number.base10_parse().ok()) {
                    open = Some(found.len());
                    found.push(Literal { value, is_compared: is_comparison(&operator) });
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
        operator.clear();
    }
    if let Some(literal) = open.and_then(|at| found.get_mut(at)) {
        literal.is_compared |= ends_pattern(&operator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_a_comparison_are_told_from_others() {
        let text = "fn f(a: &[u8]) -> u32 { const K: u32 = 9; if a.len() == 2_741 && 0x10 < a.len() { return 5 << 6; }
            match a.len() { 77 => 1, 78..=80 => 2, _ => [3, 4][0] + u32::from(matches!(a.len(), n if n >= 99usize)) } }";
        let mut found = Vec::new();
        collect(text.parse().unwrap(), &mut found);
        let values = |is_compared| -> Vec<usize> {
            found.iter().filter(|l| l.is_compared == is_compared).map(|l| l.value).collect()
        };
        assert_eq!(values(true), [2741, 16, 77, 78, 80, 99]);
        assert_eq!(values(false), [9, 5, 6, 1, 2, 3, 4, 0]);
    }
}
