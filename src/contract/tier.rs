//! How easily a harness can be made for a function, judged by its arguments, its result and its outside effects:
//! five tiers, each with a reason. `contract::infer` decides whether a harness can be made today.

use super::constructors::Constructors;
use super::external_effects::{Reach, Realm, outside};
use super::flat::flat;
use super::infer::roles;
use super::length_inference::partner;
use super::parameter_roles::MAX;
use super::pointer_facts::FactTable;
use super::types::{Judgeable, Role};
use crate::symbol::{CType, Function, Library, Param, SymbolKey, TypeKind, UseKind};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Tiers, easiest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Tier {
    /// Arguments are decoded directly from the input.
    A,
    /// Values come from the library's own constructors.
    B,
    /// Heuristics replace missing information: sizes, callbacks, cookies.
    E,
    /// A person must describe how to call it.
    C,
    /// No harness can be made.
    D,
}

impl Tier {
    /// All tiers, easiest first.
    pub const ALL: [Self; 5] = [Self::A, Self::B, Self::E, Self::C, Self::D];
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::E => "E",
            Self::C => "C",
            Self::D => "D",
        })
    }
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let same = |tier: &Self| tier.to_string().eq_ignore_ascii_case(text.trim());
        Self::ALL.into_iter().find(same).ok_or_else(|| "the tiers are A, B, E, C and D".into())
    }
}

/// Determines the tiers of a library's functions.
pub struct Tiers<'a> {
    library: &'a Library,
    facts: &'a FactTable<'a>,
    constructors: Constructors<'a>,
    outside: HashMap<&'a SymbolKey, Reach<'a>>,
    /// Names of functions by the shape of their signature.
    by_shape: HashMap<String, Vec<&'a str>>,
}

/// The tier that one argument or the result requires, and the reason.
type Need = (Tier, String);

impl<'a> Tiers<'a> {
    /// Analyses the whole library once.
    pub fn of(library: &'a Library, facts: &'a FactTable<'a>) -> Self {
        let mut by_shape: HashMap<String, Vec<&str>> = HashMap::new();
        for function in &library.functions {
            let params = function.params.iter().map(|param| &param.ty);
            by_shape.entry(signature_shape(params, &function.ret)).or_default().push(&function.c_name);
        }
        let constructors = Constructors::of(library);
        Self { library, facts, constructors, outside: outside(library), by_shape }
    }

    /// The tier of `function`, with the reason.
    pub fn tier(&self, function: &Function, judgeable: &Judgeable) -> (Tier, String) {
        if let Some(reason) = &function.unsupported {
            return (Tier::D, reason.clone());
        }
        let callbacks = self.callbacks(function);
        if let Judgeable::Yes(contract) = judgeable
            && contract.sequence.is_none()
            && contract.harness.is_inferred()
            && callbacks.is_empty()
            && !contract.hands_over()
            && !contract.params.iter().any(|param| param.role.room().is_some())
        {
            return (Tier::A, decoded(contract.params.iter().map(|param| Some(&param.role))));
        }
        let roles = roles(self.library, self.facts, function, MAX);
        let mut needs: Vec<Need> = callbacks;
        for (param, role) in function.params.iter().zip(&roles) {
            match role {
                Err(why) => needs.extend(self.argument(function, param, why)),
                Ok(Role::Room(_)) => {
                    let why = format!("the C text does not show how much memory `{}` points to", param.name);
                    needs.extend(self.argument(function, param, &why));
                }
                Ok(Role::Given(_)) => {
                    needs.extend(self.argument(function, param, &format!("`{}` is freed", param.name)));
                }
                Ok(_) => {}
            }
        }
        needs.extend(self.result(function));
        needs.extend(self.outside.get(&function.key).map(|reach| reaches(function, reach)));
        match needs.iter().map(|need| need.0).max() {
            None | Some(Tier::A) => (Tier::A, decoded(roles.iter().map(|role| role.as_ref().ok()))),
            Some(worst) => {
                let mut reasons: Vec<String> = Vec::new();
                for (_, why) in needs.into_iter().filter(|need| need.0 == worst) {
                    if !reasons.contains(&why) {
                        reasons.push(why);
                    }
                }
                (worst, reasons.join("; "))
            }
        }
    }

    /// What callback parameters require: the harness supplies an unknown function.
    fn callbacks(&self, function: &Function) -> Vec<Need> {
        let one = |param: &Param| match &param.ty.target()?.kind {
            TypeKind::Function { params, ret, .. } => {
                Some((Tier::E, self.callback(&param.name, params, ret)))
            }
            _ => None,
        };
        function.params.iter().filter_map(one).collect()
    }

    /// What an argument without a role requires; `why` names the obstacle to a role. `None`: it can be decoded.
    fn argument(&self, function: &Function, param: &Param, why: &str) -> Option<Need> {
        let name = &param.name;
        let Some(target) = param.ty.target() else {
            return match &param.ty.kind {
                TypeKind::Record(key) => self.handle(function, name, &param.ty, key),
                TypeKind::Unsupported(what) => Some((Tier::D, format!("`{name}` is {what}"))),
                _ => None,
            };
        };
        match &target.kind {
            TypeKind::Function { .. } => None,
            TypeKind::Pointer(_) | TypeKind::Array { .. } if !flat(self.library, target) => {
                Some((Tier::C, format!("`{name}` is a pointer to pointers")))
            }
            TypeKind::Record(key) if !flat(self.library, target) => self.handle(function, name, target, key),
            TypeKind::Unsupported(what) => Some((Tier::D, format!("`{name}` points to {what}"))),
            _ => self.memory(function, param, target, why),
        }
    }

    /// What memory of numbers or bytes without a role requires. It can be decoded if its shape shows its size.
    fn memory(&self, function: &Function, param: &Param, target: &CType, why: &str) -> Option<Need> {
        let index = function.params.iter().position(|p| p.name == param.name)?;
        let facts = self.facts.of(function, index);
        if facts.freed
            && let Some(key) = target.record_key().filter(|key| !self.makers(key).is_empty())
        {
            return self.built(function, &param.name, key);
        }
        let single = facts.dereferenced || facts.fields || facts.constant_index.is_some();
        let decoded = partner(self.facts, function, index, param).is_some()
            || target.is_char() && (target.is_const || facts.string)
            || single && !facts.walks && target.kind != TypeKind::Void;
        match (&target.kind, decoded && !facts.freed && !facts.before) {
            (_, true) => None,
            (TypeKind::Void, false) => Some((Tier::E, cookie(param))),
            (_, false) => Some((Tier::E, why.to_owned())),
        }
    }

    /// What a struct that cannot be decoded requires: a constructor, or a person's description.
    fn handle(&self, function: &Function, name: &str, ty: &CType, key: &str) -> Option<Need> {
        if is_stream(ty, key) {
            return Some((Tier::C, format!("`{name}` is an open file")));
        }
        if plain(self.library, ty) {
            return None;
        }
        self.built(function, name, key)
            .or_else(|| Some((Tier::C, format!("`{name}` is a `{}`: {}", shown(ty), self.strange(key)))))
    }

    fn built(&self, function: &Function, name: &str, key: &str) -> Option<Need> {
        let makers = self.makers(key);
        if makers.iter().any(|maker| maker.key == function.key) {
            return Some((Tier::B, format!("makes or fills `{name}` itself")));
        }
        let others = makers.len().saturating_sub(3);
        let names: Vec<String> = makers.iter().take(3).map(|maker| format!("`{}`", maker.c_name)).collect();
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        (!names.is_empty()).then(|| (Tier::B, format!("`{name}` is made by {}{more}", names.join(", "))))
    }

    fn makers(&self, key: &str) -> &[&'a Function] {
        self.constructors.of_record(key)
    }

    /// Why there is no known way to make a value of this record.
    fn strange(&self, key: &str) -> &'static str {
        match self.library.records.get(key) {
            Some(record) if record.complete && record.is_union => "a union, and no function makes one",
            Some(record) if record.complete => "it has pointers or unions inside, and no function makes one",
            _ => "its fields are not known, and no function makes one",
        }
    }

    fn callback(&self, name: &str, params: &[CType], ret: &CType) -> String {
        match self.by_shape.get(&signature_shape(params.iter(), ret)) {
            Some(names) => {
                let shown: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
                format!("`{name}` is a callback; {} of the library would fit", shown.join(", "))
            }
            None => format!("`{name}` is a callback, and no function of the library would fit"),
        }
    }

    /// What the return value requires.
    fn result(&self, function: &Function) -> Option<Need> {
        let ret = &function.ret;
        if let (TypeKind::Record(key), false) = (&ret.kind, plain(self.library, ret)) {
            return self.handle(function, "the result", ret, key);
        }
        let target = ret.target()?;
        let is_argument = (0..function.params.len()).any(|index| self.facts.of(function, index).returned);
        match &target.kind {
            TypeKind::Record(key) if is_stream(target, key) => Some((Tier::C, "returns an open file".into())),
            TypeKind::Record(key) if self.makers(key).iter().any(|maker| maker.key == function.key) => {
                Some((Tier::B, format!("returns a new `{}`", shown(target))))
            }
            TypeKind::Record(key) if !self.makers(key).is_empty() => {
                self.built(function, "the value that it returns", key)
            }
            TypeKind::Record(_) if plain(self.library, target) => None,
            TypeKind::Record(_) => {
                Some((Tier::C, format!("returns a `{}`, which no function makes", shown(target))))
            }
            TypeKind::Pointer(_) => Some((Tier::C, "returns a pointer to pointers".into())),
            TypeKind::Function { .. } => Some((Tier::E, "returns a function".into())),
            _ if is_argument || target.is_char() && target.is_const => None,
            TypeKind::Void => {
                Some((Tier::E, "returns a `void *`: the C text does not show what it points to".into()))
            }
            _ if target.is_char() => {
                Some((Tier::E, "returns a string: the C text does not show who frees it".into()))
            }
            _ => Some((Tier::E, "the C text does not show how much memory the result points to".into())),
        }
    }
}

/// The kinds of the arguments, in order of first occurrence; an argument without a role counts as decoded.
fn decoded<'r>(roles: impl Iterator<Item = Option<&'r Role>>) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for role in roles {
        let kind = match role {
            None => "memory of known size",
            Some(role) => match role.facts().kind {
                Some(kind) => kind,
                None => continue,
            },
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        "nothing to decode".into()
    } else {
        format!("decoded directly: {}", kinds.join(", "))
    }
}

fn reaches(function: &Function, reach: &Reach) -> Need {
    let via = if reach.from.key == function.key {
        String::new()
    } else {
        format!(" (through `{}`)", reach.from.c_name)
    };
    match reach.realm {
        Realm::System => (Tier::D, format!("calls `{}`{via}: sockets, threads, processes", reach.calls)),
        Realm::Files => (Tier::C, format!("calls `{}`{via}: files, streams, environment", reach.calls)),
    }
}

fn cookie(param: &Param) -> String {
    let name = &param.name;
    let casts = param.uses.iter().filter_map(|used| match &used.kind {
        UseKind::Cast { to } if to.contains('*') => Some(to),
        _ => None,
    });
    match casts.collect::<Vec<_>>()[..] {
        [to] => format!("`{name}` is a `void *`, used as `{to}`"),
        _ => format!("`{name}` is a `void *` of unknown size"),
    }
}

/// Whether the type has only numbers, bit-fields included: no pointers, no unions, all fields known.
fn plain(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum { .. } => true,
        TypeKind::Array { of, len } => len.is_some() && plain(library, of),
        TypeKind::Record(key) => library.records.get(key).is_some_and(|record| {
            record.complete && !record.is_union && record.fields.iter().all(|f| plain(library, &f.ty))
        }),
        TypeKind::Void | TypeKind::Pointer(_) | TypeKind::Function { .. } | TypeKind::Unsupported(_) => false,
    }
}

pub(super) fn is_stream(ty: &CType, key: &str) -> bool {
    let word = |word: &str| super::c_words::identifiers(&ty.spelling).contains(&word);
    word("FILE") || word("DIR") || key.ends_with("_IO_FILE") || key.ends_with("__sFILE")
}

fn shown(ty: &CType) -> &str {
    ty.spelling.trim_start_matches("const ")
}

/// A signature without names and `const`, so that compatible signatures are equal.
fn signature_shape<'t>(params: impl Iterator<Item = &'t CType>, ret: &CType) -> String {
    let params: Vec<String> = params.map(shape).collect();
    format!("{}({})", shape(ret), params.join(","))
}

fn shape(ty: &CType) -> String {
    match &ty.kind {
        TypeKind::Void => "void".into(),
        TypeKind::Bool => "bool".into(),
        TypeKind::Int { signed, bits, .. } => format!("{}{bits}", if *signed { "i" } else { "u" }),
        TypeKind::Float { bits } => format!("f{bits}"),
        TypeKind::Enum { name, .. } => format!("enum {name}"),
        TypeKind::Pointer(target) | TypeKind::Array { of: target, .. } => format!("{}*", shape(target)),
        TypeKind::Record(key) => key.clone(),
        TypeKind::Function { params, ret, .. } => signature_shape(params.iter(), ret),
        TypeKind::Unsupported(what) => what.clone(),
    }
}
