//! What ends the objects that are left when a run of a driver ends.

use super::callable::Callable;
use super::object_kinds::Kinds;
use crate::contract::handles::is_named_as_end;
use crate::contract::types::{Life, Returns};
use serde::Serialize;

/// A kind of object, and the function that ends one.
#[derive(Debug, Clone, Serialize)]
pub(super) struct End {
    kind: usize,
    /// How many kinds of objects are made from such ones, and end before.
    #[serde(skip)]
    made_from: usize,
    name: String,
    /// What stands before the object.
    address: &'static str,
}

/// One function for each kind of object that these functions end.
pub(super) fn ends(mut called: Vec<&Callable>, kinds: &Kinds) -> Vec<End> {
    let mut ends: Vec<End> = Vec::new();
    called.sort_by_key(|one| !is_named_as_end(one.function));
    for one in called {
        let new: Vec<End> =
            ended(one, kinds).into_iter().filter(|end| ends.iter().all(|of| of.kind != end.kind)).collect();
        ends.extend(new);
    }
    ends.sort_by_key(|end| end.made_from);
    ends
}

/// The kinds of objects that a function ends, if it gets nothing else.
fn ended(one: &Callable, kinds: &Kinds) -> Vec<End> {
    let [param] = &one.contract.params[..] else { return Vec::new() };
    // What gives back another object makes it anew.
    let is_end = one.contract.returns != Returns::Handle
        && param.role.handle().is_some_and(|handle| handle.life == Life::Ends && handle.through.is_none());
    let name = &one.function.c_name;
    let of = &one.function.params[0];
    if one.ends_object() {
        let end = |kind| End { kind, made_from: 0, name: name.clone(), address: "(void *)&" };
        return kinds.behind(of).map(end).into_iter().collect();
    }
    let made_from = kinds.made_from(&of.ty).len();
    let kinds = kinds.of(&of.ty, name).filter(|_| is_end).unwrap_or_default();
    let end = |kind| End { kind, made_from, name: name.clone(), address: "" };
    kinds.into_iter().map(end).collect()
}
