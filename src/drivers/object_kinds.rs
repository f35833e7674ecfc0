//! The kinds of objects that a driver keeps.

use super::callable::Callable;
use crate::contract::handles::object_behind;
use crate::contract::parameter_roles::Life;
use crate::contract::types::Returns;
use crate::symbol::{CType, Param, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of objects: those of one struct, and of one maker where the caller has the memory, because makers of one struct
/// may leave different things in it.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// The structs, each with the makers of those in the caller's memory, and the number of the first kind.
    of: BTreeMap<String, (Vec<String>, usize)>,
    /// The structs that some function makes.
    made: BTreeSet<String>,
    /// The structs that are made from objects of a struct: an iterator may not outlive its list.
    made_from: BTreeMap<String, BTreeSet<String>>,
    pub count: usize,
    /// The structs of which objects are lent by others.
    lent: BTreeSet<String>,
    /// The structs of which a first object comes from functions that get the address of a null pointer: an empty list.
    from_null: BTreeSet<String>,
}

impl Kinds {
    pub fn of_all(all: &[Callable]) -> Self {
        let mut of: BTreeMap<String, (Vec<String>, usize)> = BTreeMap::new();
        let returned = |is: fn(&Callable) -> bool| {
            all.iter().filter(move |one| is(one)).filter_map(|one| object_behind(&one.function.ret))
        };
        // What is lent and no function takes is of no use.
        let all_taken: BTreeSet<&str> = all.iter().flat_map(taken).map(|(key, _)| key).collect();
        let lent: BTreeSet<&str> = returned(|one| one.lends).filter(|key| all_taken.contains(key)).collect();
        let mut returned: BTreeSet<&str> =
            returned(|one| one.contract.returns == Returns::Handle && !one.lends).collect();
        returned.extend(all.iter().flat_map(|one| one.left_behind().map(|(_, key)| key)));
        let given: BTreeSet<&str> = returned.union(&lent).copied().collect();
        of.extend(given.iter().map(|key| ((*key).to_owned(), Default::default())));
        for one in all {
            for (key, life) in taken(one) {
                let (makers, _) = of.entry(key.to_owned()).or_default();
                // What ends an object that a function returned must not get one in the caller's memory.
                if life == Life::Makes && !returned.contains(key) {
                    makers.push(one.function.c_name.clone());
                }
            }
        }
        for (_, key) in all.iter().flat_map(Callable::places) {
            of.entry(key.to_owned()).or_default();
        }
        let (mut count, mut made) = (0, BTreeSet::new());
        for (key, (makers, first)) in &mut of {
            *first = count;
            count += makers.len().max(1);
            made.extend((!makers.is_empty() || given.contains(key.as_str())).then(|| key.clone()));
        }
        let made_from = made_from(all);
        let from_null = all.iter().flat_map(Callable::places).map(|(_, key)| key);
        let from_null = from_null.filter(|key| !returned.contains(key));
        let from_null = from_null.filter(|key| of.get(*key).is_some_and(|(makers, _)| makers.is_empty()));
        let from_null: BTreeSet<String> = from_null.map(str::to_owned).collect();
        made.extend(from_null.iter().cloned());
        Self { from_null, lent: lent.into_iter().map(str::to_owned).collect(), of, made, made_from, count }
    }

    /// The kinds behind a pointer that a function gets: the makers whose names are most like its own.
    pub fn of(&self, pointer: &CType, function: &str) -> Option<Vec<usize>> {
        let (makers, first) = self.of.get(object_behind(pointer)?)?;
        let common = |maker: &String| maker.bytes().zip(function.bytes()).take_while(|(a, b)| a == b).count();
        let Some(best) = makers.iter().map(common).max() else { return Some(vec![*first]) };
        let alike = makers.iter().enumerate().filter(|(_, maker)| common(maker) == best);
        Some(alike.map(|(at, _)| first + at).collect())
    }

    /// The kinds of the objects that are made from others of this kind, directly or not.
    pub fn made_from(&self, pointer: &CType) -> Vec<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![object_behind(pointer)]);
        while let Some(key) = open.pop() {
            let next = key.and_then(|key| self.made_from.get(key)).into_iter().flatten();
            open.extend(next.filter(|key| found.insert(key.as_str())).map(|key| Some(key.as_str())));
        }
        // Where two structs are made from each other, nothing says which one goes first.
        let own = object_behind(pointer).is_some_and(|key| found.contains(key));
        let kinds = found.into_iter().filter(|_| !own).filter_map(|key| self.of.get(key));
        kinds.flat_map(|(makers, first)| *first..first + makers.len().max(1)).collect()
    }

    /// Whether functions lend objects.
    pub fn has_lent(&self) -> bool {
        !self.lent.is_empty()
    }

    /// Whether empty lists are null pointers.
    pub fn has_lists(&self) -> bool {
        !self.from_null.is_empty()
    }

    /// Whether functions lend what is behind this pointer.
    pub fn is_lent(&self, pointer: &CType) -> bool {
        object_behind(pointer).is_some_and(|key| self.lent.contains(key))
    }

    /// Whether there ever is an object behind this pointer.
    pub fn has_objects(&self, pointer: &CType) -> bool {
        object_behind(pointer).is_some_and(|key| self.made.contains(key))
    }

    /// The kind of what is behind a pointer to a pointer.
    pub fn behind(&self, param: &Param) -> Option<usize> {
        let TypeKind::Pointer(pointer) = &param.ty.kind else { return None };
        self.of.get(object_behind(pointer)?).map(|(_, kind)| *kind)
    }

    /// Whether the first object behind a pointer to a pointer comes from a call that gets a null pointer there.
    pub fn is_from_null(&self, param: &Param) -> bool {
        let TypeKind::Pointer(pointer) = &param.ty.kind else { return false };
        object_behind(pointer).is_some_and(|key| self.from_null.contains(key))
    }

    /// The kind that this function makes in the caller's memory.
    pub fn made(&self, pointer: &CType, function: &str) -> Option<usize> {
        let (makers, first) = self.of.get(object_behind(pointer)?)?;
        makers.iter().position(|maker| maker == function).map(|at| first + at)
    }
}

/// The structs of the objects that a function gets, and what it does with these.
fn taken<'a>(one: &'a Callable) -> impl Iterator<Item = (&'a str, Life)> {
    let params = one.function.params.iter().zip(&one.contract.params);
    params.filter_map(|(param, of)| Some((object_behind(&param.ty)?, of.role.handle()?.life)))
}

/// For each struct, those whose objects functions make from its objects.
fn made_from(all: &[Callable]) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in all {
        let by_life = |life| taken(one).filter(move |(_, own)| *own == life).map(|(key, _)| key);
        let returned = object_behind(&one.function.ret);
        let returned = returned.filter(|_| one.contract.returns == Returns::Handle && !one.lends);
        for made in by_life(Life::Makes).chain(returned) {
            for from in by_life(Life::Uses).filter(|from| *from != made) {
                found.entry(from.to_owned()).or_default().insert(made.to_owned());
            }
        }
    }
    found
}
