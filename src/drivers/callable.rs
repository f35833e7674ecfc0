//! The functions that a driver can call: their contracts, and what it makes up where these say nothing.

use crate::c::own_copies::of_headers;
use crate::contract::handles::{Guess, Handles, Origins, is_named_as_end, object_behind};
use crate::contract::parameter_roles::Role;
use crate::contract::pointer_facts::{FactTable, Facts};
use crate::contract::types::{Contract, Life};
use crate::project::FunctionPlan;
use crate::symbol::{Function, Library, Linkage, Returned, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// A function that programs can call, and how.
#[derive(Debug)]
pub struct Callable<'l> {
    pub function: &'l Function,
    pub contract: Contract,
    /// Whether no harness can call it: nothing has tried what its contract says.
    pub is_untried: bool,
    /// Whether a person wrote the contract.
    pub is_edited: bool,
    /// What it gets for parameters of which nothing says what they mean.
    pub guesses: BTreeMap<usize, Guess>,
    /// Where C may break on null.
    pub rarely_null: BTreeSet<usize>,
    /// The struct whose fields the caller sets.
    pub filled: Option<&'l str>,
    /// The parameters whose objects the function frees, or keeps in another object.
    pub keeps: BTreeSet<usize>,
    /// Of these, the ones whose objects another argument lends: nothing but a node of a list can be removed from it.
    pub removes: BTreeSet<usize>,
    /// Whether its result is an object that another one keeps.
    pub lends: bool,
    /// Whether it returns a text in new memory: others may lead anywhere, or say what went wrong.
    pub makes_text: bool,
    /// Whether objects that others keep may be gone after it.
    pub may_free: bool,
    /// Whether it may add to an object that there is: something may happen only after many such calls.
    pub adds: bool,
    /// What its result is compared with to know that it worked, such as `== 0`.
    pub success: Option<String>,
}

impl Callable<'_> {
    /// Whether it ends the object whose address it gets.
    pub fn ends_object(&self) -> bool {
        self.guesses.values().any(|guess| *guess == Guess::ObjectPlace) && is_named_as_end(self.function)
    }

    /// The parameters that are addresses of pointers to objects, which the call may replace, with the kind of object: the first
    /// element of a list.
    pub fn places(&self) -> impl Iterator<Item = (usize, &str)> {
        let places = self.guesses.iter().filter(|(_, guess)| **guess == Guess::ObjectPlace);
        let places = places.filter(|_| !self.ends_object());
        places.filter_map(|(at, _)| match &self.function.params[*at].ty.kind {
            TypeKind::Pointer(pointer) => Some((*at, object_behind(pointer)?)),
            _ => None,
        })
    }

    /// A number beside the length of a buffer that C reads: where nothing has tried the contract, there may be that many rows.
    pub fn padded(&self, at: usize) -> Option<&str> {
        let params = &self.contract.params;
        let buffer = params[at].role.buffer().filter(|buffer| self.is_untried && buffer.is_input())?;
        let length = params.iter().position(|param| param.name == buffer.length)?;
        let is_number = |at: &usize| {
            params.get(*at).is_some_and(|param| matches!(param.role, Role::Value(_)))
                && !self.guesses.contains_key(at)
                && matches!(self.function.params[*at].ty.kind, TypeKind::Int { .. })
        };
        let beside = [Some(length + 1), length.checked_sub(1)].into_iter().flatten().find(is_number)?;
        Some(&params[beside].name)
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
    let is_known = |of: &&Function| !of.is_variadic || handles.takes_format(of);
    let public: Vec<&Function> = public(library).filter(is_known).collect();
    let origins = handles.origins(public.iter().copied());
    let callable = |function: &'l Function| {
        let planned = planned.iter().find(|planned| planned.function.key == function.key);
        callable((library, &facts, &handles), &origins, function, planned)
    };
    public.into_iter().filter_map(callable).collect()
}

/// The functions that programs can name: those with external linkage, and those of headers.
pub fn public(library: &Library) -> impl Iterator<Item = &Function> {
    let of_headers: BTreeSet<usize> = of_headers(library).into_iter().map(|(at, _)| at).collect();
    let all = library.functions.iter().enumerate();
    let all = all.filter(move |(at, of)| of.linkage == Linkage::External || of_headers.contains(at));
    all.map(|(_, of)| of)
}

fn callable<'l>(
    (library, facts, handles): (&'l Library, &FactTable, &Handles),
    origins: &Origins,
    function: &'l Function,
    planned: Option<&FunctionPlan>,
) -> Option<Callable<'l>> {
    // No port can be variadic; a driver can call such a function, for the sake of its callees.
    let is_edited = planned.is_some_and(|planned| planned.edited);
    let own = planned.filter(|_| !function.is_variadic).and_then(|planned| planned.judgeable.contract());
    let own = own.filter(|own| own.params.len() == function.params.len());
    let has_object = function.params.iter().any(|param| handles.has_objects(&param.ty));
    let own = own.filter(|_| is_edited || !has_object);
    let is_untried = own.is_none();
    let (mut contract, guesses) =
        own.cloned().map(|own| (own, BTreeMap::new())).or_else(|| handles.call(function, origins))?;
    let of = contract.sequence.as_ref().map(|sequence| sequence.of.as_str());
    let record = of.and_then(|of| library.records.iter().find(|(_, record)| record.rust_name == of));
    if let (Some(sequence), Some((key, _)), false) = (&mut contract.sequence, record, is_edited) {
        let set = handles.set_by_constructors(key);
        sequence.buffers.retain(|(field, _)| !set.contains(field.as_str()));
        sequence.texts.retain(|field| !set.contains(field.as_str()));
    }
    let all = 0..function.params.len();
    let doubtful = all.filter(|at| !is_edited && !handles.survives_null(function, *at));
    let (keeps, removes) = kept(function, &contract, facts);
    let has_object_before = guesses.values().any(|guess| *guess == Guess::ObjectPlace)
        || contract.params.iter().any(|of| of.role.handle().is_some_and(|of| of.life == Life::Uses));
    let mut callable = Callable {
        function,
        contract,
        is_untried,
        is_edited,
        guesses,
        rarely_null: doubtful.collect(),
        filled: record.map(|(key, _)| key.as_str()),
        keeps,
        removes,
        lends: handles.lends(function),
        makes_text: handles.makes_text(function),
        may_free: handles.may_free(function),
        adds: handles.allocates(function) && has_object_before,
        success: success(function),
    };
    // The new element belongs to the list.
    let returned = object_behind(&function.ret);
    callable.lends |= returned.is_some() && callable.places().any(|(_, of)| Some(of) == returned);
    Some(callable)
}

/// The parameters whose objects a function frees, or stores in the object of another parameter. If both store each other,
/// as a list and its items do, nothing says which one keeps the other. Second, those of them that it frees while another
/// argument's object stays.
fn kept(function: &Function, contract: &Contract, facts: &FactTable) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let of: Vec<(usize, Facts)> = (0..contract.params.len())
        .filter(|at| contract.params[*at].role.handle().is_some())
        .map(|at| (at, facts.of(function, at)))
        .collect();
    let has_keeper = of.iter().any(|(_, facts)| !facts.stored);
    let is_kept = |facts: &Facts| facts.freed || facts.stored && has_keeper;
    let has_owner = of.iter().any(|(_, facts)| !is_kept(facts) && facts.writes);
    let removed = of.iter().filter(|(_, facts)| facts.freed && !facts.stored && has_owner);
    let removes = removed.map(|(at, _)| *at).collect();
    (of.iter().filter(|(_, facts)| is_kept(facts)).map(|(at, _)| *at).collect(), removes)
}

/// Words in the names of constants by which functions tell that they worked.
const WORKED: [&str; 6] = ["ok", "success", "esuccess", "succeeded", "noerror", "done"];

/// How a function tells that it worked, as far as its constants say.
fn success(function: &Function) -> Option<String> {
    if matches!(function.ret.kind, TypeKind::Bool) {
        return Some("!= 0".to_owned());
    }
    let is_number = matches!(function.ret.kind, TypeKind::Int { .. } | TypeKind::Enum { .. });
    let constants = function.returns.iter().filter_map(|of| match of {
        Returned::Constant(text) => Some(text.trim_matches(['(', ')', ' '])),
        _ => None,
    });
    let constants: BTreeSet<&str> = constants.filter(|_| is_number).collect();
    let worked = |name: &str| WORKED.contains(&name.to_ascii_lowercase().as_str());
    if let Some(name) = constants.iter().find(|name| name.split('_').any(worked)) {
        return Some(format!("== {name}"));
    }
    let is_name = |text: &&str| text.starts_with(|c: char| c.is_ascii_uppercase());
    if constants.iter().any(|text| text.starts_with('-')) {
        return Some(">= 0".to_owned());
    }
    (constants.contains("0") && constants.iter().any(is_name)).then(|| "== 0".to_owned())
}
