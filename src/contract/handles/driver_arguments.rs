//! Arguments that a driver makes up where no role says what a parameter means. Where a guess is wrong, C breaks, and such
//! inputs are kept apart.

use super::Handles;
use super::life::is_named_as_end;
use crate::contract::flat::flat;
use crate::contract::length_inference::partner;
use crate::contract::pointer_facts::FactTable;
use crate::contract::tier::is_stream;
use crate::libc_facts::allocates;
use crate::symbol::{Access, CType, Function, Library, Linkage, TypeKind, UseKind};
use std::collections::{BTreeMap, BTreeSet};

/// How many elements there are behind a pointer that C moves along, or that has a count.
const SEVERAL: usize = 64;
/// How many bytes there are of which nothing says how many C needs.
const LONG: usize = 4096;

/// How deep callees are asked whether they take null.
pub(super) const DEPTH: usize = 4;

/// An argument of a parameter without a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guess {
    /// A null pointer.
    Null,
    /// How many elements there are behind another argument, at most so many, or the address of that number.
    Count(usize),
    /// The address of a pointer, which is null before the call.
    Place,
    /// The address of a pointer to an object that there is.
    ObjectPlace,
    /// The address of a pointer, which leads to a text before the call.
    TextPlace,
    /// So many numbers or structs of numbers, with bytes of the input.
    Structs(usize),
    /// So many other structs, which are zero before the call.
    EmptyStructs(usize),
    /// A text.
    Text,
    /// So many bytes of the input with a NUL at the end.
    Bytes(usize),
    /// A text in a block that C may free.
    Given,
    /// A stream with bytes of the input, which C may read and write.
    Stream,
}

/// The names of pointers to numbers, such as `typedef char *sds`, that one public function makes and another one frees: what
/// is behind them is an object as a struct is.
pub(super) fn named_objects<'a>(library: &'a Library, facts: &FactTable) -> BTreeSet<&'a str> {
    let public = || library.functions.iter().filter(|function| function.linkage == Linkage::External);
    let made = public().filter(|function| !gives_back(facts, function));
    let freed = public().flat_map(|function| {
        let params = function.params.iter().enumerate();
        let freed = params.filter(move |(index, _)| facts.of(function, *index).freed);
        freed.filter_map(|(_, param)| named_pointer(&param.ty))
    });
    let freed: BTreeSet<&str> = freed.collect();
    made.filter_map(|function| named_pointer(&function.ret)).filter(|name| freed.contains(name)).collect()
}

/// Whether the function may return a pointer that it got, or a part of what is behind it.
pub(super) fn gives_back(facts: &FactTable, function: &Function) -> bool {
    (0..function.params.len())
        .map(|index| facts.of(function, index))
        .any(|of| (of.returned || of.leads_back) && !of.freed)
}

/// The name of a pointer that is no pointer to a struct.
pub fn named_pointer(ty: &CType) -> Option<&str> {
    let TypeKind::Pointer(to) = &ty.kind else { return None };
    let name = ty.spelling.trim_start_matches("const ");
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_plain = matches!(to.kind, TypeKind::Int { .. } | TypeKind::Void) && !to.is_const;
    (is_name && is_plain).then_some(name)
}

/// The struct behind a pointer, or the name of a pointer that leads to objects of another kind.
pub fn object_behind(pointer: &CType) -> Option<&str> {
    let TypeKind::Pointer(to) = &pointer.kind else { return None };
    match &to.kind {
        TypeKind::Record(key) => Some(key),
        _ => named_pointer(pointer),
    }
}

/// Whether the function takes what is behind a `void *` for anything but numbers.
fn casts_to_other(function: &Function, index: usize) -> bool {
    const NUMBERS: [&str; 12] = [
        "void", "char", "unsigned", "signed", "short", "int", "long", "float", "double", "uint8_t", "int8_t",
        "size_t",
    ];
    function.params[index].uses.iter().any(|used| match &used.kind {
        UseKind::Cast { to } => {
            let plain = to.replace("const", "").replace('*', "");
            !plain.split_whitespace().all(|word| NUMBERS.contains(&word))
        }
        _ => false,
    })
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

impl<'a> Handles<'a> {
    /// The name of the objects behind a pointer to numbers, if functions of the library make such objects.
    pub fn named_object<'t>(&self, ty: &'t CType) -> Option<&'t str> {
        named_pointer(ty).filter(|name| self.named.contains(name))
    }

    /// Whether the function returns such an object, and not the one that it got.
    pub(super) fn returns_named(&self, function: &Function) -> bool {
        self.named_object(&function.ret).is_some() && !gives_back(self.facts, function)
    }

    /// What to pass for a parameter without a role, and for the number that counts what is behind it; by position.
    pub(super) fn guess(&self, function: &Function, index: usize) -> Option<BTreeMap<usize, Guess>> {
        let (facts, param) = (self.facts.of(function, index), &function.params[index]);
        let to = param.ty.target()?;
        let count = self.count(function, index);
        let is_one = !self.is_several(function, index);
        let several = if is_one { 1 } else { SEVERAL };
        let is_place = is_one || facts.writes && !facts.walks;
        let guess = match &to.kind {
            // What stands in front of a pointer is no block that a driver could give.
            TypeKind::Void | TypeKind::Int { bits: 8, .. } if facts.freed && !facts.walks => {
                Some(Guess::Given)
            }
            _ if facts.freed => None,
            TypeKind::Int { plain_char: true, .. } if count.is_none() && !facts.writes => Some(Guess::Text),
            TypeKind::Int { bits: 8, .. } => Some(Guess::Bytes(LONG)),
            TypeKind::Int { .. } | TypeKind::Float { .. } => Some(Guess::Structs(SEVERAL)),
            TypeKind::Void if !facts.called && !casts_to_other(function, index) => Some(Guess::Bytes(LONG)),
            TypeKind::Record(key) if is_stream(to, key) => {
                let is_usable = to.spelling.contains("FILE") && !facts.stored;
                (is_usable && !self.reaches(function, &["fclose", "freopen"])).then_some(Guess::Stream)
            }
            TypeKind::Pointer(_) if is_place => {
                return self.place(function, index).map(|guess| BTreeMap::from([(index, guess)]));
            }
            TypeKind::Record(_) if flat(self.library, to) => Some(Guess::Structs(SEVERAL)),
            TypeKind::Record(_) if has_no_pointer(self.library, to) => Some(Guess::EmptyStructs(several)),
            TypeKind::Record(key) if !to.is_const && (facts.writes || facts.stored) => {
                let is_known = self.library.records.get(key).is_some_and(|record| record.complete);
                is_known.then_some(Guess::EmptyStructs(several))
            }
            _ => None,
        };
        let (guess, number) = match guess {
            Some(guess @ Guess::Bytes(most)) => (guess, Guess::Count(most)),
            Some(guess) => (guess, Guess::Count(SEVERAL)),
            None if facts.freed || count.is_none() && !facts.null_checked => return None,
            None => (Guess::Null, Guess::Count(0)),
        };
        Some(count.map(|at| (at, number)).into_iter().chain([(index, guess)]).collect())
    }

    /// What stands at an address that the function gets.
    fn place(&self, function: &Function, index: usize) -> Option<Guess> {
        let pointer = function.params[index].ty.target()?;
        let inner = pointer.target()?;
        let takes_object = |key| self.takes_object(function, index, key);
        Some(match &inner.kind {
            TypeKind::Pointer(_) | TypeKind::Function { .. } => return None,
            _ if inner.record_key().is_some_and(takes_object) || self.named_object(pointer).is_some() => {
                Guess::ObjectPlace
            }
            // C may free a text that it finds there, or enlarge its block.
            TypeKind::Int { plain_char: true, .. }
                if self.facts.of(function, index).reads && !self.reaches(function, &["free", "realloc"]) =>
            {
                Guess::TextPlace
            }
            _ => Guess::Place,
        })
    }

    pub(super) fn reaches(&self, function: &Function, names: &[&str]) -> bool {
        let mut reached = self.facts.index.reached(function).flat_map(|of| &of.externs);
        reached.any(|name| names.contains(&name.as_str()))
    }

    /// Whether there may be several elements behind a pointer.
    pub(super) fn is_several(&self, function: &Function, index: usize) -> bool {
        self.facts.of(function, index).walks || self.count(function, index).is_some()
    }

    /// The parameter that counts what is behind another one.
    fn count(&self, function: &Function, index: usize) -> Option<usize> {
        let counted = partner(self.facts, function, index, &function.params[index]);
        let named = counted.and_then(|counted| function.params.iter().position(|of| of.name == counted));
        // A callee may count where this function does not; an array is followed by its number of elements.
        let is_array = matches!(function.params[index].ty.kind, TypeKind::Array { .. });
        let behind = function.params.get(index + 1).filter(|of| matches!(of.ty.kind, TypeKind::Int { .. }));
        named.or_else(|| behind.filter(|_| is_array).map(|_| index + 1))
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
                let of = self.facts.resolve(function, callee);
                of.filter(|of| *position < of.params.len())
                    .is_some_and(|of| self.takes_null(of, *position, depth - 1))
            }
            _ => false,
        };
        uses().next().is_none() || uses().all(by_callee)
    }

    /// Records of which public functions leave an object at an address that they get.
    pub(super) fn left_records(&self) -> BTreeSet<&'a str> {
        let public = self.library.functions.iter().filter(|function| function.linkage == Linkage::External);
        let all = public.flat_map(|function| (0..function.params.len()).map(move |index| (function, index)));
        let left = all.filter_map(|(function, index)| {
            let key = Self::left_behind(function, index)?;
            let facts = self.facts.of(function, index);
            let is_output = facts.writes && !facts.walks;
            let is_new = self.first_access(function, index, DEPTH) == Some(Access::Write);
            (is_output && is_new && self.allocates(function)).then_some(key)
        });
        left.collect()
    }

    /// Whether the function or a callee allocates. One that does not can only lend an object of another owner.
    pub fn allocates(&self, function: &Function) -> bool {
        let reached: Vec<&Function> = self.facts.index.reached(function).collect();
        reached.iter().flat_map(|of| &of.externs).any(|name| allocates(name))
            || reached
                .iter()
                .flat_map(|of| &of.globals_read)
                .any(|key| self.library.allocators.contains_key(key))
    }

    /// The first such record among the parameters.
    pub(super) fn left_record(&self, function: &Function) -> Option<&'a str> {
        let all = function.params.iter().filter_map(|param| param.ty.target().and_then(CType::record_key));
        all.filter_map(|key| self.left.get(key)).copied().next()
    }

    /// Whether a function gets the address of a pointer to an object that there is already.
    fn takes_object(&self, function: &Function, index: usize, key: &str) -> bool {
        let is_object = self.left.contains(key) || self.is_handle(key);
        let finds_one = || match self.first_access(function, index, DEPTH) {
            Some(access) => access != Access::Write,
            // What makes no object can leave no new one there.
            None => !self.allocates(function),
        };
        is_object && (is_named_as_end(function) || finds_one())
    }

    /// The struct of which a function adds an object to those that it finds at an address, as to a list.
    pub(super) fn added<'f>(&self, function: &'f Function, index: usize) -> Option<&'f str> {
        let key = Self::left_behind(function, index)?;
        (self.place(function, index) == Some(Guess::ObjectPlace) && self.allocates(function)).then_some(key)
    }

    /// What a function, or a callee, does first with what a pointer leads to.
    pub(super) fn first_access(&self, function: &Function, index: usize, depth: usize) -> Option<Access> {
        let uses = function.params.get(index)?.uses.iter();
        uses.filter_map(|used| match &used.kind {
            UseKind::Deref(access) | UseKind::Index { access, .. } | UseKind::Field { access, .. } => {
                Some(*access)
            }
            UseKind::Argument { callee, position, .. } if depth > 0 => {
                let of = self.facts.resolve(function, callee)?;
                self.first_access(of, *position, depth - 1)
            }
            _ => None,
        })
        .next()
    }

    /// The struct of which a function may leave an object at the address that it gets.
    pub fn left_behind(function: &Function, index: usize) -> Option<&str> {
        match &function.params[index].ty.target()?.kind {
            TypeKind::Pointer(to) if !to.is_const => to.record_key(),
            _ => None,
        }
    }
}
