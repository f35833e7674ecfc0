//! The arguments of the macros that a port may call, as syntax trees that `walk` can look into.

use super::std_api::MacroArguments;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Pat, Token, Type};

/// What stands between the parentheses.
pub(super) struct Arguments {
    pub expressions: Vec<Expr>,
    /// `matches!`: the pattern, and the guard that sees its names.
    pub pattern: Option<(Pat, Option<Expr>)>,
    pub ty: Option<Type>,
    /// Names given to arguments of a format string: `name = value`.
    pub names: Vec<String>,
}

/// Reads the arguments; an error when they are not what the macro expects.
pub(super) fn arguments(mac: &syn::Macro, kind: MacroArguments) -> syn::Result<Arguments> {
    let tokens = mac.tokens.clone();
    let plain = |expressions| Arguments { expressions, pattern: None, ty: None, names: Vec::new() };
    match kind {
        MacroArguments::Expressions => expressions.parse2(tokens).map(plain),
        MacroArguments::Format => expressions.parse2(tokens).map(format),
        MacroArguments::List => list.parse2(tokens).map(plain),
        MacroArguments::Pattern => pattern.parse2(tokens),
        MacroArguments::Offset => offset.parse2(tokens),
    }
}

fn expressions(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    Ok(Punctuated::<Expr, Token![,]>::parse_terminated(input)?.into_iter().collect())
}

/// Takes `name = value` apart: the name is none of a variable.
fn format(list: Vec<Expr>) -> Arguments {
    let mut names = Vec::new();
    let mut value = |expr| match expr {
        Expr::Assign(e) if matches!(&*e.left, Expr::Path(p) if p.path.get_ident().is_some()) => {
            names.push(e.left.to_token_stream().to_string());
            *e.right
        }
        other => other,
    };
    let expressions = list.into_iter().map(&mut value).collect();
    Arguments { expressions, pattern: None, ty: None, names }
}

fn list(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    if input.is_empty() {
        return Ok(Vec::new());
    }
    let first: Expr = input.parse()?;
    if input.parse::<Option<Token![;]>>()?.is_some() {
        return Ok(vec![first, input.parse()?]);
    }
    let mut all = vec![first];
    if input.parse::<Option<Token![,]>>()?.is_some() {
        all.extend(expressions(input)?);
    }
    Ok(all)
}

fn pattern(input: ParseStream<'_>) -> syn::Result<Arguments> {
    let value: Expr = input.parse()?;
    input.parse::<Token![,]>()?;
    let pat = Pat::parse_multi_with_leading_vert(input)?;
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    input.parse::<Option<Token![,]>>()?;
    Ok(Arguments { expressions: vec![value], pattern: Some((pat, guard)), ty: None, names: Vec::new() })
}

fn offset(input: ParseStream<'_>) -> syn::Result<Arguments> {
    let ty: Type = input.parse()?;
    input.parse::<Token![,]>()?;
    // Field names mean nothing outside of the type.
    let _fields: proc_macro2::TokenStream = input.parse()?;
    Ok(Arguments { expressions: Vec::new(), pattern: None, ty: Some(ty), names: Vec::new() })
}

/// Names that a format string takes from its surroundings: `{name}`, `{name:?}`, `{:width$}`.
pub(super) fn captures(format: &str) -> Vec<String> {
    let mut names = Vec::new();
    let text = format.replace("{{", "").replace("}}", "");
    for hole in text.split('{').skip(1) {
        let hole = hole.split('}').next().unwrap_or_default();
        let (name, spec) = hole.split_once(':').unwrap_or((hole, ""));
        names.push(name.trim().to_string());
        // Width and precision: the word in front of a `$`.
        for part in spec.split('$').rev().skip(1) {
            let word = part.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            names.push(word.to_string());
        }
    }
    names.retain(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_names_are_seen() {
        assert_eq!(captures("{a} {} {0} {{no}} {b:?} {:>w$.p$}"), ["a", "b", "p", "w"]);
    }

    #[test]
    fn arguments_that_do_not_parse_are_an_error() {
        for (text, kind) in [
            ("assert!(a b)", MacroArguments::Format),
            ("vec![1; 2; 3]", MacroArguments::List),
            ("matches!(x)", MacroArguments::Pattern),
        ] {
            let mac: syn::Macro = syn::parse_str(text).unwrap();
            assert!(arguments(&mac, kind).is_err(), "{text}");
        }
    }
}
