//! Call sequences: the calls of an input in order, on up to two handles, and the effects of each.
//!
//! C's results decide which handle each call gets, so the test names the handle.

use super::Source;
use super::arguments::{Call, null};
use super::json::{Whole, is_made, shown};
use super::literals::Types;
use crate::c::bindgen_names::bindgen_name;
use crate::contract::parameter_roles::{Handle, Life, ParameterContext, Shape};
use crate::contract::slots::places;
use crate::contract::types::{Contract, Returns, Sequence};
use crate::rust::shims::Bound;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Largest number of handles at the same time.
const HANDLES: usize = 2;

/// A call by the function's name, with its arguments.
type Named = (String, Map<String, Value>);

/// The statements of a test of a call sequence.
pub(super) fn statements(
    source: &Source,
    sequence: &Sequence,
    (input, left): (&Map<String, Value>, &Value),
) -> Result<Vec<TokenStream>, String> {
    let mut told = Told::begin(source, sequence);
    let calls = calls(source, sequence, input)?;
    let steps = left.get("steps").and_then(Value::as_array).ok_or("the result has no steps")?;
    let enders = steps.get(calls.len()..).ok_or("the result has fewer calls than the input")?;
    let is_ender = |step: &Value| sequence.enders.iter().any(|ender| called(step) == Some(ender.as_str()));
    if !enders.iter().all(|step| step.is_null() || is_ender(step)) {
        return Err("C was called more often than the input says".to_owned());
    }
    for (at, (name, args)) in calls.iter().enumerate() {
        let step = &steps[at];
        if step.is_null() {
            continue;
        }
        if called(step) != Some(name) {
            return Err(format!("call {} of the result differs from that of the input", at + 1));
        }
        let left = step.get("left").unwrap_or(&Value::Null);
        told.step(at + 1, name, args, left).map_err(|why| format!("call {}, {name}: {why}", at + 1))?;
    }
    if told.compared == 0 {
        return Err("C produces nothing that could be compared".to_owned());
    }
    told.end(calls.len(), enders);
    Ok(told.finished())
}

fn called(step: &Value) -> Option<&str> {
    step.get("call").and_then(Value::as_str)
}

/// The calls of an input in order, each with its arguments.
fn calls(source: &Source, sequence: &Sequence, input: &Map<String, Value>) -> Result<Vec<Named>, String> {
    if let Some(key) = input.keys().find(|key| !matches!(key.as_str(), "make" | "before" | "args" | "after"))
    {
        return Err(format!("`{key}` is not part of a call sequence"));
    }
    let symbol = &source.bound.function.name;
    let makes = sequence.makers.contains(symbol);
    if makes == input.contains_key("make") {
        return Err("a call sequence begins with one constructor".to_owned());
    }
    let list = |key: &str| match input.get(key) {
        None => Ok(&[][..]),
        Some(Value::Array(steps)) => Ok(steps.as_slice()),
        Some(other) => Err(format!("{} is not a list of calls", shown(other))),
    };
    let one = |step: &Value| {
        let name = called(step).ok_or_else(|| format!("{} is no call", shown(step)))?;
        Ok((name.to_owned(), arguments(step)?))
    };
    let mut all: Vec<_> =
        input.get("make").into_iter().chain(list("before")?).map(one).collect::<Result<_, String>>()?;
    all.push((symbol.to_string(), arguments(&Value::Object(input.clone()))?));
    for step in list("after")? {
        all.push(one(step)?);
    }
    Ok(all)
}

fn arguments(step: &Value) -> Result<Map<String, Value>, String> {
    match step.get("args") {
        None => Ok(Map::new()),
        Some(Value::Object(args)) => Ok(args.clone()),
        Some(other) => Err(format!("{} is not a list of arguments", shown(other))),
    }
}

/// The part of a call sequence that is already written.
struct Told<'a> {
    source: &'a Source<'a>,
    sequence: &'a Sequence,
    live: [bool; HANDLES],
    used: [bool; HANDLES],
    written: Vec<TokenStream>,
    /// Whether the function under test was called, and the number of comparisons since then.
    reached: bool,
    compared: usize,
}

fn variable(number: usize) -> Ident {
    format_ident!("handle_{number}")
}

impl<'a> Told<'a> {
    fn begin(source: &'a Source<'a>, sequence: &'a Sequence) -> Self {
        let (live, used) = ([false; HANDLES], [false; HANDLES]);
        Self { source, sequence, live, used, written: Vec::new(), reached: false, compared: 0 }
    }

    fn bound(&self, name: &str) -> Result<(Bound<'a>, &'a Contract), String> {
        let all = std::iter::once(&self.source.bound).chain(self.source.others);
        let bound = all.copied().find(|bound| bound.function.name.as_str() == name);
        bound.and_then(|bound| Some((bound, bound.contract?))).ok_or_else(|| "it has no contract".to_owned())
    }

    /// A call on the given handles, and which handles it makes or ends.
    fn call<'b>(
        &mut self,
        (number, name): (usize, &str),
        args: &'b Map<String, Value>,
        left: &'b Value,
    ) -> Result<(Call<'b>, Vec<(usize, Life)>), String>
    where
        'a: 'b,
    {
        let (bound, contract) = self.bound(name)?;
        let (handles, changes) = self.handles(contract, args)?;
        let places = (0..HANDLES).filter(|at| self.live[*at]);
        let places = places.map(|at| (format!("handle {at}"), variable(at)));
        let mut call = Call {
            types: Types(self.source.library),
            bound,
            contract,
            args,
            left,
            title: format!("{name}, call {number}"),
            suffix: format!("_{number}"),
            handles: BTreeMap::new(),
            places: places.map(|(place, variable)| (place, quote!(#variable))).collect(),
            keep: None,
        };
        for (at, handle) in handles {
            let argument = match handle {
                Some(handle) => handle,
                None => null(&bound.c.params[at].1)?,
            };
            call.handles.insert(at, argument);
        }
        Ok((call, changes))
    }

    /// One call of the input, with its effects in C.
    fn step(
        &mut self,
        number: usize,
        name: &str,
        args: &Map<String, Value>,
        left: &Value,
    ) -> Result<(), String> {
        let (mut call, changes) = self.call((number, name), args, left)?;
        let made =
            call.contract.returns == Returns::Handle && left.get("return").and_then(is_made) == Some(true);
        let adopted =
            made.then(|| self.vacant(0).ok_or("there is no room for one more handle")).transpose()?;
        call.keep = adopted.map(variable);
        let written = call.write()?;
        let under = self.source.bound.function.name.as_str();
        self.reached |= name == under;
        if self.reached {
            self.compared += written.comparisons.len();
        }
        self.written.extend(written.statements);
        self.written.extend(written.comparisons);
        self.changed(changes);
        if let Some(at) = adopted {
            self.live[at] = true;
        }
        Ok(())
    }

    fn changed(&mut self, changes: Vec<(usize, Life)>) {
        for (at, life) in changes {
            self.live[at] = life == Life::Makes;
        }
    }

    /// The handles among the arguments by position, `None` for null, and which of them the call makes or ends.
    #[expect(clippy::type_complexity, reason = "two lists that are taken apart at once")]
    fn handles(
        &mut self,
        contract: &Contract,
        args: &Map<String, Value>,
    ) -> Result<(Vec<(usize, Option<TokenStream>)>, Vec<(usize, Life)>), String> {
        let (mut handles, mut changes) = (Vec::new(), Vec::new());
        for (at, param) in contract.params.iter().enumerate() {
            let Some(Handle { life, through, nullable }) = param.role.handle() else { continue };
            let wanted = match args.get(&param.name) {
                None => 0,
                Some(Value::Null) if *nullable => {
                    handles.push((at, None));
                    continue;
                }
                Some(value) => usize::from(Whole::read(value)?.low_byte()) % HANDLES,
            };
            let found = if *life == Life::Makes { self.vacant(wanted) } else { self.live_one(wanted) };
            let found = found.ok_or_else(|| format!("there is no handle for `{}`", param.name))?;
            self.used[found] = true;
            let handle = variable(found);
            handles.push((
                at,
                Some(match through {
                    Some(field) => {
                        let field = format_ident!("{}", bindgen_name(field));
                        quote!((*#handle).#field as _)
                    }
                    None => quote!(#handle as _),
                }),
            ));
            if *life != Life::Uses && through.is_none() {
                changes.push((found, *life));
            }
        }
        Ok((handles, changes))
    }

    /// The requested handle if it is live, else any live one, as in the harness: inputs of earlier runs need this.
    fn live_one(&self, wanted: usize) -> Option<usize> {
        std::iter::once(wanted).chain(0..HANDLES).find(|at| self.live[*at])
    }

    /// The requested handle if it is vacant, else any vacant one.
    fn vacant(&self, wanted: usize) -> Option<usize> {
        std::iter::once(wanted).chain(0..HANDLES).find(|at| !self.live[*at])
    }

    /// The destructor calls that C made after the input's calls: one for each live handle, none where there was no
    /// call. A call whose arguments are unknown is left out, and its handle stays.
    fn end(&mut self, calls: usize, enders: &[Value]) {
        let live: Vec<usize> = (0..HANDLES).filter(|at| self.live[*at]).collect();
        for (number, (which, step)) in (calls + 1..).zip(live.into_iter().zip(enders)) {
            let ended = called(step).and_then(|name| self.ended((number, name), which).ok());
            self.written.extend(ended.into_iter().flatten());
        }
    }

    /// The destructor call of a handle, as the harness makes it.
    fn ended(&mut self, (number, name): (usize, &str), which: usize) -> Result<Vec<TokenStream>, String> {
        let (bound, contract) = self.bound(name)?;
        let types = Types(self.source.library);
        let places = places(contract, bound.function);
        let args = places.map(|place| Ok((place.param.name.clone(), plainest(types, &place, which)?)));
        let args = args.collect::<Result<Map<String, Value>, String>>()?;
        let (call, changes) = self.call((number, name), &args, &Value::Null)?;
        let (statements, _) = call.statements()?;
        self.changed(changes);
        Ok(statements)
    }

    /// All statements, after the memory of handles that the caller provides.
    fn finished(self) -> Vec<TokenStream> {
        let of = format_ident!("{}", self.sequence.of);
        let rooms = (0..HANDLES).filter(|at| self.sequence.by_caller && self.used[*at]).map(|at| {
            let (room, handle) = (format_ident!("room_{at}"), variable(at));
            quote! {
                let mut #room = Box::new(core::mem::zeroed::<ffi::#of>());
                let #handle = &raw mut *#room;
            }
        });
        rooms.chain(self.written).collect()
    }
}

/// An argument decoded from an empty input, on this handle: the harness calls destructors with such arguments.
fn plainest(types: Types, place: &ParameterContext, which: usize) -> Result<Value, String> {
    let (param, to) = (place.param, place.ty.target().unwrap_or(place.ty));
    let one = |of| Ok(types.filled(of, 1, [0; 4])?[0].take());
    match param.role.facts().shape {
        _ if param.role.handle().is_some() => Ok(json!(which)),
        Ok(shape) => match (param.role.empty(place), shape) {
            (Some(value), _) => Ok(value),
            (None, Shape::Value) => one(place.ty),
            (None, Shape::One) if param.made_by.is_empty() => one(to),
            (None, Shape::Exactly { len } | Shape::Room { len }) => types.filled(to, len, [0; 4]),
            _ => Err(unknown()),
        },
        Err(_) => Err(unknown()),
    }
}

fn unknown() -> String {
    "what an empty input says of it is not known".to_owned()
}
