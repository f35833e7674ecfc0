//! Exports tests as `rust/tests/testgen_<symbol>.rs`: plain tests with literal arguments and C's recorded results,
//! which need no C.
//!
//! Each test calls the port's C-ABI shim with C's types. `json` reads inputs and results, `literals` turns them
//! into expressions, `arguments` and `results` write a call, `expected` the comparisons; `call_sequences` is for
//! functions on handles, `names` and `prelude` write the surrounding text.

mod arguments;
mod existence;
mod expected;
mod json;
mod literals;
mod call_sequences;
mod names;
mod prelude;
mod results;

use crate::config::Harness;
use crate::contract::types::{Contract, Returns};
use crate::project::test_files::HEAD;
use crate::rust::pretty::pretty;
use crate::rust::shims::Bound;
use crate::symbol::Library;
use crate::test_record::{GeneratedTest, TestCategory};
use arguments::Call;
use literals::Types;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The function under test.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The port crate.
    pub krate: &'a str,
    pub library: &'a Library,
    pub bound: Bound<'a>,
    /// The functions that the contract's `[sequence]` names, if it has one; the function itself may be among them.
    pub others: &'a [Bound<'a>],
}

/// The tests of a symbol as Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The text of the file; empty without tests.
    pub text: String,
    /// The ids of its tests.
    pub tests: Vec<String>,
    /// The other tests, with the reason in words.
    pub left_out: Vec<(String, String)>,
}

/// The tests as a file. `Err` says why this function can have none.
pub fn exported(source: &Source, tests: &[&GeneratedTest]) -> Result<Exported, String> {
    let contract = source.bound.contract.ok_or("it has no contract")?;
    let refusal = refusal(contract);
    let mut names: BTreeSet<String> = prelude::NAMES.map(str::to_owned).into();
    let (mut items, mut kept, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for test in tests {
        let statements = match &refusal {
            // Such a test makes no call, so obstacles to a call do not matter.
            _ if test.category == TestCategory::Existence => existence::statements(source, test),
            Some(why) => Err(why.clone()),
            None => statements(source, contract, test),
        };
        match statements {
            Ok(statements) => {
                items.push(item(source, test, &statements, &mut names));
                kept.push(test.id.clone());
            }
            Err(why) => left_out.push((test.id.clone(), why)),
        }
    }
    let text = if items.is_empty() { String::new() } else { file(source, &items) };
    Ok(Exported { text, tests: kept, left_out })
}

/// Why tests that call a function with this contract cannot be exported.
fn refusal(contract: &Contract) -> Option<String> {
    if contract.harness != Harness::default() {
        return Some("its fuzz target was written by a model".to_owned());
    }
    if contract.chance {
        return Some("it uses random numbers or clocks".to_owned());
    }
    if contract.returns == Returns::Memory {
        return Some("it returns a block of memory".to_owned());
    }
    if contract.sequence.as_ref().is_some_and(|sequence| sequence.file.is_some()) {
        return Some("its handles use a file".to_owned());
    }
    contract.params.iter().find_map(|param| {
        let why = param.role.facts().shape.err()?;
        Some(format!("`{}`: {why}", param.name))
    })
}

/// The statements of a test.
fn statements(
    source: &Source,
    contract: &Contract,
    test: &GeneratedTest,
) -> Result<Vec<TokenStream>, String> {
    let left = test.expected_output.as_ref().unwrap_or(&Value::Null);
    let input = test.input.as_object().ok_or("the input is not an object")?;
    if let Some(sequence) = &contract.sequence {
        return call_sequences::statements(source, sequence, (input, left));
    }
    let mut args = input.clone();
    let set = args.shift_remove("$globals").unwrap_or_else(|| Value::Object(Map::new()));
    for values in [&set, left.get("$globals").unwrap_or(&set)] {
        let mut names = values.as_object().into_iter().flat_map(Map::keys);
        let is_listed = |name: &&String| contract.globals.iter().any(|global| global.name.as_str() == **name);
        if let Some(unknown) = names.find(|name| !is_listed(name)) {
            return Err(format!("the contract does not list the variable `{unknown}`"));
        }
    }
    let types = Types(source.library);
    let mut all = types.set_globals(&set)?;
    let title = source.bound.function.name.to_string();
    let call = Call {
        types,
        bound: source.bound,
        contract,
        args: &args,
        left,
        title,
        suffix: String::new(),
        handles: BTreeMap::new(),
        places: Vec::new(),
        keep: None,
    };
    let written = call.write()?;
    if written.comparisons.is_empty() {
        return Err("C produces nothing that could be compared".to_owned());
    }
    all.extend(written.statements);
    all.extend(written.comparisons);
    Ok(all)
}

/// The test itself.
fn item(
    source: &Source,
    test: &GeneratedTest,
    statements: &[TokenStream],
    names: &mut BTreeSet<String>,
) -> TokenStream {
    let name = names::test_name(test.category.word(), &test.id, names);
    let reasoning = names::one_line(&test.reasoning);
    let doc = (!reasoning.is_empty()).then(|| format!(" {reasoning}"));
    let doc = doc.iter();
    let alone = (!variables(source).is_empty()).then(|| quote!(let _alone = alone();));
    quote! {
        #(#[doc = #doc])*
        #[test]
        fn #name() {
            to_the_end(|| {
                #alone
                unsafe { #(#statements)* }
            });
        }
    }
}

/// The variables that a test may change, by name.
fn variables<'a>(source: &Source<'a>) -> Vec<&'a str> {
    let sequence = source.bound.contract.and_then(|contract| contract.sequence.as_deref());
    let others = source.others.iter().filter(|bound| {
        sequence.is_some_and(|sequence| sequence.names().any(|name| *name == bound.function.name))
    });
    let contracts = std::iter::once(&source.bound).chain(others).filter_map(|bound| bound.contract);
    let names: BTreeSet<&str> =
        contracts.flat_map(|contract| &contract.globals).map(|global| global.name.as_str()).collect();
    names.into_iter().collect()
}

fn file(source: &Source, tests: &[TokenStream]) -> String {
    let (krate, symbol) = (format_ident!("{}", source.krate.replace('-', "_")), &source.bound.function.name);
    let uses = quote! {
        #![allow(clippy::all, unused_braces, unused_imports, unused_unsafe, unused_variables, non_snake_case)]
        use #krate::{capi, ffi, globals};
    };
    let parts = std::iter::once(uses).chain(prelude::prelude(tests, &variables(source)));
    let parts: Vec<String> = parts.chain(tests.iter().cloned()).map(pretty).collect();
    format!(
        "{HEAD}//! Tests of `{symbol}`: each compares the port's results with those of the C original.\n\n{}",
        parts.join("\n")
    )
}

#[cfg(test)]
mod tests;
