//! The kinds of objects that a driver keeps.

use super::callable::Callable;
use crate::contract::handles::named_pointer;
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
    pub count: usize,
}

impl Kinds {
    pub fn of_all(all: &[Callable]) -> Self {
        let mut of: BTreeMap<String, (Vec<String>, usize)> = BTreeMap::new();
        let returned = all.iter().filter(|one| one.contract.returns == Returns::Handle);
        let mut returned: BTreeSet<&str> =
            returned.filter_map(|one| object_behind(&one.function.ret)).collect();
        returned.extend(all.iter().flat_map(|one| one.left_behind().map(|(_, key)| key)));
        of.extend(returned.iter().map(|key| ((*key).to_owned(), Default::default())));
        for one in all {
            let params = one.function.params.iter().zip(&one.contract.params);
            for (ty, role) in params.map(|(param, of)| (&param.ty, &of.role)) {
                let (Some(key), Some(handle)) = (object_behind(ty), role.handle()) else { continue };
                let (makers, _) = of.entry(key.to_owned()).or_default();
                // What ends an object that a function returned must not get one in the caller's memory.
                if handle.life == Life::Makes && !returned.contains(key) {
                    makers.push(one.function.c_name.clone());
                }
            }
        }
        let (mut count, mut made) = (0, BTreeSet::new());
        for (key, (makers, first)) in &mut of {
            *first = count;
            count += makers.len().max(1);
            made.extend((!makers.is_empty() || returned.contains(key.as_str())).then(|| key.clone()));
        }
        Self { of, made, count }
    }

    /// The kinds behind a pointer that a function gets: the makers whose names are most like its own.
    pub fn of(&self, pointer: &CType, function: &str) -> Option<Vec<usize>> {
        let (makers, first) = self.of.get(object_behind(pointer)?)?;
        let common = |maker: &String| maker.bytes().zip(function.bytes()).take_while(|(a, b)| a == b).count();
        let Some(best) = makers.iter().map(common).max() else { return Some(vec![*first]) };
        let alike = makers.iter().enumerate().filter(|(_, maker)| common(maker) == best);
        Some(alike.map(|(at, _)| first + at).collect())
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

    /// The kind that this function makes in the caller's memory.
    pub fn made(&self, pointer: &CType, function: &str) -> Option<usize> {
        let (makers, first) = self.of.get(object_behind(pointer)?)?;
        makers.iter().position(|maker| maker == function).map(|at| first + at)
    }
}

/// The struct behind a pointer, or the name of a pointer that leads to objects of another kind.
pub(super) fn object_behind(pointer: &CType) -> Option<&str> {
    let TypeKind::Pointer(to) = &pointer.kind else { return None };
    match &to.kind {
        TypeKind::Record(key) => Some(key),
        _ => named_pointer(pointer),
    }
}
