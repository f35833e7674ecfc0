//! The functions that a driver can call: their contracts, and what it makes up where these say nothing.

use crate::contract::handles::{Guess, Handles, is_named_as_end};
use crate::contract::pointer_facts::{FactTable, Facts};
use crate::contract::types::Contract;
use crate::project::FunctionPlan;
use crate::symbol::{Function, Library, Linkage};
use std::collections::{BTreeMap, BTreeSet};

/// A function that programs can call, and how.
#[derive(Debug)]
pub struct Callable<'l> {
    pub function: &'l Function,
    pub contract: Contract,
    /// What it gets for parameters of which nothing says what they mean.
    pub guesses: BTreeMap<usize, Guess>,
    /// Where C may break on null.
    pub rarely_null: BTreeSet<usize>,
    /// The struct whose fields the caller sets.
    pub filled: Option<&'l str>,
    /// The parameters whose objects the function frees, or keeps in another object.
    pub keeps: BTreeSet<usize>,
}

impl Callable<'_> {
    /// Whether it ends the object whose address it gets.
    pub fn ends_object(&self) -> bool {
        self.guesses.values().any(|guess| *guess == Guess::ObjectPlace) && is_named_as_end(self.function)
    }

    /// The parameters at whose address the function may leave an object, with the struct.
    pub fn left_behind(&self) -> impl Iterator<Item = (usize, &str)> {
        let places = self.guesses.iter().filter(|(_, guess)| **guess == Guess::Place);
        places.filter_map(|(at, _)| Some((*at, Handles::left_behind(self.function, *at)?)))
    }
}

/// The functions of a library that programs can call. A person's contract counts; where a harness cannot compare what a
/// function does, a driver can call it all the same.
pub fn callables<'l>(library: &'l Library, planned: &[FunctionPlan]) -> Vec<Callable<'l>> {
    let facts = FactTable::build(library);
    let handles = Handles::of(library, &facts);
    let contract = |function: &Function| {
        let planned = planned.iter().find(|planned| planned.function.key == function.key)?;
        let own = planned.judgeable.contract().filter(|own| own.params.len() == function.params.len());
        let has_object = function.params.iter().any(|param| handles.named_object(&param.ty).is_some());
        let own = own.filter(|_| planned.edited || !has_object);
        let (contract, guesses) =
            own.cloned().map(|own| (own, BTreeMap::new())).or_else(|| handles.call(function))?;
        let all = 0..function.params.len();
        let doubtful = all.filter(|at| !planned.edited && !handles.survives_null(function, *at));
        Some((contract, guesses, doubtful.collect()))
    };
    let external = library.functions.iter().filter(|of| of.linkage == Linkage::External && !of.is_variadic);
    let callable = |function| {
        let (contract, guesses, rarely_null) = contract(function)?;
        let of = contract.sequence.as_ref().map(|sequence| sequence.of.as_str());
        let record = of.and_then(|of| library.records.iter().find(|(_, record)| record.rust_name == of));
        let keeps = kept(function, &contract, &facts);
        Some(Callable {
            function,
            contract,
            guesses,
            rarely_null,
            filled: record.map(|(key, _)| key.as_str()),
            keeps,
        })
    };
    external.filter_map(callable).collect()
}

/// The parameters whose objects a function frees, or stores in the object of another parameter. If both store each other,
/// as a list and its items do, nothing says which one keeps the other.
fn kept(function: &Function, contract: &Contract, facts: &FactTable) -> BTreeSet<usize> {
    let of: Vec<(usize, Facts)> = (0..contract.params.len())
        .filter(|at| contract.params[*at].role.handle().is_some())
        .map(|at| (at, facts.of(function, at)))
        .collect();
    let has_keeper = of.iter().any(|(_, facts)| !facts.stored);
    let kept = of.into_iter().filter(|(_, facts)| facts.freed || facts.stored && has_keeper);
    kept.map(|(at, _)| at).collect()
}
