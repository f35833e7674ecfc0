//! Preconditions of a contract: Rust expressions over integer parameters only.

use super::file;
use super::parameter_roles::Slot;
use super::parameter_roles::in_driver::variable;
use super::types::Contract;
use crate::error::{Error, Result};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeSet;

/// The condition as code over `args` and lengths, with everything widened to `i128`.
pub fn condition(contract: &Contract, slots: &[Slot]) -> Result<TokenStream> {
    let mut all = Vec::new();
    for text in &contract.require {
        let expr = parse(text, slots).map_err(|error| bad(contract, text, &error.to_string()))?;
        all.push(translate(slots, &expr).map_err(|why| bad(contract, text, &why))?);
    }
    all.extend(slots.iter().flat_map(|slot| slot.role.conditions(slot)));
    Ok(if all.is_empty() { quote!(true) } else { quote!(#((#all))&&*) })
}

/// Lengths in the condition, which the harness must compute first.
pub fn lengths_mentioned(contract: &Contract) -> BTreeSet<String> {
    let lengths = contract.params.iter().filter(|p| p.role.length().is_some());
    lengths
        .filter(|p| {
            contract.require.iter().any(|r| super::c_words::identifiers(r).contains(&p.name.as_str()))
        })
        .map(|p| p.name.clone())
        .collect()
}

fn bad(contract: &Contract, text: &str, why: &str) -> Error {
    let path = format!("rust/contracts/{}.toml", contract.symbol);
    let rules = "write comparisons of integer parameters with + - * / % && || !";
    file::wrong(&path, &format!("require = {text:?}: {why}; {rules}"))
}

/// Replaces C parameter names by their Rust names, because a C name may be a Rust keyword.
fn parse(text: &str, slots: &[Slot]) -> syn::Result<syn::Expr> {
    let rename = |word: Ident| slots.iter().find(|s| word == s.label).map_or(word, |s| s.name.clone());
    fn walk(tokens: TokenStream, rename: &dyn Fn(Ident) -> Ident) -> TokenStream {
        let one = |tree| match tree {
            TokenTree::Ident(word) => TokenTree::Ident(rename(word)),
            TokenTree::Group(group) => {
                TokenTree::Group(proc_macro2::Group::new(group.delimiter(), walk(group.stream(), rename)))
            }
            other => other,
        };
        tokens.into_iter().map(one).collect()
    }
    syn::parse2(walk(syn::parse_str(text)?, &rename))
}

fn translate(slots: &[Slot], expr: &syn::Expr) -> std::result::Result<TokenStream, String> {
    match expr {
        syn::Expr::Binary(binary) => {
            let (left, right) = (translate(slots, &binary.left)?, translate(slots, &binary.right)?);
            let op = &binary.op;
            use syn::BinOp::{Add, Div, Mul, Rem, Sub};
            Ok(match op {
                // A precondition must not end the process with an overflow or a division by zero.
                Add(_) => quote!((#left).wrapping_add(#right)),
                Sub(_) => quote!((#left).wrapping_sub(#right)),
                Mul(_) => quote!((#left).wrapping_mul(#right)),
                Div(_) => quote!((#left).checked_div(#right).unwrap_or(0)),
                Rem(_) => quote!((#left).checked_rem(#right).unwrap_or(0)),
                op if is_comparison(op) => quote!((#left) #op (#right)),
                other => return Err(format!("the operator `{}` is not supported", quote!(#other))),
            })
        }
        syn::Expr::Unary(unary) => {
            let inner = translate(slots, &unary.expr)?;
            let op = &unary.op;
            Ok(quote!(#op(#inner)))
        }
        syn::Expr::Paren(paren) => translate(slots, &paren.expr),
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
            let number: i128 = number.base10_parse().map_err(|e| e.to_string())?;
            Ok(quote!((#number as i128)))
        }
        syn::Expr::Path(path) => {
            let Some(ident) = path.path.get_ident() else {
                return Err("only parameters can be named".into());
            };
            let number = slots.iter().find(|slot| slot.name == ident).and_then(|slot| slot.role.number(slot));
            number.ok_or_else(|| format!("`{ident}` is not an integer parameter"))
        }
        other => Err(format!("`{}` is not supported", quote!(#other))),
    }
}

/// A precondition as a C condition over the variables of a driver, as wide as in harnesses; `None` where C cannot say it.
pub fn in_c(text: &str) -> Option<String> {
    fn walk(expr: &syn::Expr) -> Option<String> {
        use syn::BinOp::{Add, Div, Mul, Rem, Sub};
        match expr {
            syn::Expr::Binary(binary) => {
                let (left, right, op) = (walk(&binary.left)?, walk(&binary.right)?, &binary.op);
                match op {
                    Div(_) => Some(format!("driver_quotient({left}, {right})")),
                    Rem(_) => Some(format!("driver_remainder({left}, {right})")),
                    Add(_) | Sub(_) | Mul(_) => Some(format!("({left} {} {right})", quote!(#op))),
                    op if is_comparison(op) => Some(format!("({left} {} {right})", quote!(#op))),
                    _ => None,
                }
            }
            syn::Expr::Unary(unary) => {
                let op = &unary.op;
                Some(format!("({}{})", quote!(#op), walk(&unary.expr)?))
            }
            syn::Expr::Paren(paren) => walk(&paren.expr),
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
                Some(format!("(__int128){}", number.base10_parse::<i64>().ok()?))
            }
            syn::Expr::Path(path) => {
                Some(format!("(__int128){}", variable(&path.path.get_ident()?.to_string())))
            }
            _ => None,
        }
    }
    walk(&syn::parse_str(text).ok()?)
}

fn is_comparison(op: &syn::BinOp) -> bool {
    use syn::BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}
