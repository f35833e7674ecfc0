//! Arguments that a driver makes up where no role says what a parameter means. Where a guess is wrong, C breaks, and such
//! inputs are kept apart.

use super::Handles;
use crate::contract::constructors::{record, target};
use crate::contract::flat::flat;
use crate::contract::length_inference::partner;
use crate::contract::tier::is_stream;
use crate::symbol::{CType, Function, Library, Linkage, TypeKind, UseKind};
use std::collections::{BTreeMap, BTreeSet};

/// How many structs there are behind a pointer that C moves along.
const SEVERAL: usize = 64;

/// How deep callees are asked whether they take null.
const DEPTH: usize = 4;

/// An argument of a parameter without a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// A null pointer.
    Null,
    /// How many elements there are behind another argument, at most so many, or the address of that number.
    Count(usize),
    /// The address of a pointer, which is null before the call.
    Place,
    /// The address of a pointer, which leads to a text before the call.
    TextPlace,
    /// So many structs, with bytes of the input.
    Structs(usize),
    /// The same for other structs: they are zero before the call.
    EmptyStructs(usize),
    /// A text.
    Text,
    /// Memory of unknown use.
    Bytes,
    /// A text in a block that C may free.
    Given,
    /// A stream with bytes of the input, which C may read and write.
    Stream,
}

/// The names of pointers to numbers that public functions return, such as `typedef char *sds`: what is behind them is an
/// object as a struct is.
pub(super) fn named_objects(library: &Library) -> BTreeSet<&str> {
    let public = library.functions.iter().filter(|function| function.linkage == Linkage::External);
    public.filter_map(|function| named_pointer(&function.ret)).collect()
}

/// The name of a pointer that is no pointer to a struct.
pub fn named_pointer(ty: &CType) -> Option<&str> {
    let TypeKind::Pointer(to) = &ty.kind else { return None };
    let name = ty.spelling.trim_start_matches("const ");
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_plain = matches!(to.kind, TypeKind::Int { .. } | TypeKind::Void) && !to.is_const;
    (is_name && is_plain).then_some(name)
}

/// Whether nothing in a value of this type leads elsewhere.
fn has_no_pointer(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum { .. } => true,
        TypeKind::Array { of, len } => len.is_some() && has_no_pointer(library, of),
        TypeKind::Record(key) => library.records.get(key).is_some_and(|record| {
            record.complete && record.fields.iter().all(|field| has_no_pointer(library, &field.ty))
        }),
        TypeKind::Void | TypeKind::Pointer(_) | TypeKind::Function { .. } | TypeKind::Unsupported(_) => false,
    }
}

impl Handles<'_> {
    /// The name of the objects behind a pointer to numbers, if functions of the library make such objects.
    pub fn named_object<'t>(&self, ty: &'t CType) -> Option<&'t str> {
        named_pointer(ty).filter(|name| self.named.contains(name))
    }

    /// Whether the function returns such an object, and not the one that it got.
    pub(super) fn returns_named(&self, function: &Function) -> bool {
        let is_same = |index: usize| {
            let facts = self.facts.of(function, index);
            facts.returned && !facts.freed
        };
        self.named_object(&function.ret).is_some() && !(0..function.params.len()).any(is_same)
    }

    /// What to pass for a parameter without a role, and for the number that counts what is behind it; by position.
    pub(super) fn guess(&self, function: &Function, index: usize) -> Option<BTreeMap<usize, Guess>> {
        let (facts, param) = (self.facts.of(function, index), &function.params[index]);
        let to = target(&param.ty)?;
        let count = self.count(function, index);
        let is_one = !self.is_several(function, index);
        let several = if is_one { 1 } else { SEVERAL };
        let is_place = is_one || facts.writes && !facts.walks;
        let guess = match &to.kind {
            TypeKind::Void | TypeKind::Int { bits: 8, .. } if facts.freed => Some(Guess::Given),
            _ if facts.freed => None,
            TypeKind::Int { plain_char: true, .. } => Some(Guess::Text),
            TypeKind::Void if count.is_none() && !facts.called => Some(Guess::Bytes),
            TypeKind::Record(key) if is_stream(to, key) => {
                let closes = |name: &String| matches!(name.as_str(), "fclose" | "freopen");
                let mut reached = self.facts.index.reached(function).flat_map(|of| &of.externs);
                (!reached.any(closes)).then_some(Guess::Stream)
            }
            TypeKind::Pointer(inner) => match &inner.kind {
                TypeKind::Int { plain_char: true, .. } if is_one && facts.reads => Some(Guess::TextPlace),
                TypeKind::Pointer(_) | TypeKind::Function { .. } => None,
                _ if is_place => return Some(BTreeMap::from([(index, Guess::Place)])),
                _ => None,
            },
            TypeKind::Record(_) if flat(self.library, to) => Some(Guess::Structs(several)),
            TypeKind::Record(_) if has_no_pointer(self.library, to) => Some(Guess::EmptyStructs(several)),
            TypeKind::Record(key) if !to.is_const && facts.writes => {
                let is_known = self.library.records.get(key).is_some_and(|record| record.complete);
                is_known.then_some(Guess::EmptyStructs(several))
            }
            _ => None,
        };
        let (guess, number) = match guess {
            Some(guess) => (guess, Guess::Count(several)),
            None if facts.freed || count.is_none() && !facts.null_checked => return None,
            None => (Guess::Null, Guess::Count(0)),
        };
        Some(count.map(|at| (at, number)).into_iter().chain([(index, guess)]).collect())
    }

    /// Whether there may be several elements behind a pointer.
    pub(super) fn is_several(&self, function: &Function, index: usize) -> bool {
        self.facts.of(function, index).walks || self.count(function, index).is_some()
    }

    /// The parameter that counts what is behind another one.
    fn count(&self, function: &Function, index: usize) -> Option<usize> {
        let counted = partner(self.facts, function, index, &function.params[index])?;
        function.params.iter().position(|other| other.name == counted)
    }

    /// Whether the function surely survives null there. It may not if one callee asks for null, and another one, or the function
    /// itself, uses the pointer without asking.
    pub fn survives_null(&self, function: &Function, index: usize) -> bool {
        self.takes_null(function, index, DEPTH)
    }

    fn takes_null(&self, function: &Function, index: usize, depth: usize) -> bool {
        let uses = || function.params[index].uses.iter().map(|used| &used.kind);
        if uses().any(|kind| *kind == UseKind::NullCheck) {
            return !uses().any(|kind| *kind == UseKind::Reassigned);
        }
        let by_callee = |kind: &UseKind| match kind {
            UseKind::Argument { callee, position, .. } if depth > 0 => {
                let of = self.library.functions.iter().find(|of| of.c_name == *callee);
                of.filter(|of| *position < of.params.len())
                    .is_some_and(|of| self.takes_null(of, *position, depth - 1))
            }
            _ => false,
        };
        uses().next().is_none() || uses().all(by_callee)
    }

    /// The struct of which a function may leave an object at the address that it gets.
    pub fn left_behind(function: &Function, index: usize) -> Option<&str> {
        match &target(&function.params[index].ty)?.kind {
            TypeKind::Pointer(to) if !to.is_const => record(to),
            _ => None,
        }
    }
}
