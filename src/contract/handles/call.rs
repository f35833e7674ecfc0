//! Calls of functions as programs make them, for drivers: effects that no harness can compare are no obstacle.

use super::driver_arguments::{DEPTH, Guess, gives_back};
use super::{FILE, Handles};
use crate::contract::infer::roles_where;
use crate::contract::length_inference::{MAX_OF_STEP, free_lengths};
use crate::contract::parameter_roles::{self, prototype};
use crate::contract::types::{Contract, Life, Returns, Role, Sequence};
use crate::contract::{borrowed, callback, compared_values};
use crate::libc_facts::{Effect, effect, only_computes, opens};
use crate::symbol::{Access, CType, Function, Param, TypeKind, UseKind};
use std::collections::{BTreeMap, BTreeSet};

/// Structs of which functions make objects.
#[derive(Debug, Default)]
pub struct Origins {
    /// Those with a constructor.
    made: BTreeSet<String>,
    /// Those of which a function returns new objects.
    returned: BTreeSet<String>,
    /// Those, and the ones of which functions lend objects, or fill those that a caller has.
    all: BTreeSet<String>,
}

/// Whether a function reads what a parameter leads to, and asks for null nowhere.
fn breaks_on_null(param: &Param) -> bool {
    let mut uses = param.uses.iter().map(|used| &used.kind);
    let reads =
        |kind: &UseKind| matches!(kind, UseKind::Deref(_) | UseKind::Field { .. } | UseKind::Index { .. });
    uses.clone().any(reads) && !uses.any(|kind| *kind == UseKind::NullCheck)
}

impl Handles<'_> {
    /// How a program may call the function, whether or not a harness can compare what it does. `None` where nothing is
    /// known of an argument.
    pub fn call(&self, function: &Function, origins: &Origins) -> Option<(Contract, BTreeMap<usize, Guess>)> {
        if !self.is_callable(function) {
            return None;
        }
        let of = self.object_of(function);
        let first = of.and_then(|of| self.first_handle(of, function));
        let life = of.map_or(Life::Uses, |of| match first {
            Some(first) if !origins.made.contains(of) && self.fills(function, first) => Life::Makes,
            // What links a node into a list sets most of its fields, too.
            Some(_) if origins.returned.contains(of) => match self.life(of, function) {
                Life::Makes => Life::Uses,
                life => life,
            },
            _ => self.life(of, function),
        });
        let (mut roles, mut guesses) = (Vec::new(), BTreeMap::new());
        let plain = roles_where(self.library, self.facts, function, (MAX_OF_STEP, true));
        let calls_back = function.params.iter().any(|param| prototype(&param.ty).is_some());
        for (index, (param, plain)) in function.params.iter().zip(plain).enumerate() {
            let facts = self.facts.of(function, index);
            // An array of structs is no object, and where no function makes an object, the caller makes it up.
            let is_handle = |key: &&str| {
                let is_array = matches!(param.ty.kind, TypeKind::Array { .. });
                let is_known = self.left.contains(key)
                    || self.is_set_up(key)
                    || self.is_handle(key) && !self.inner.contains_key(*key);
                is_known && !is_array && origins.all.contains(*key)
            };
            let of_struct =
                param.ty.target().and_then(CType::record_key).filter(is_handle).map(|_| match first {
                    Some(first) if first == index => life,
                    _ => Life::Uses,
                });
            let of_pointer = self.named_object(&param.ty).map(|_| match facts.freed {
                true => Life::Ends,
                false => Life::Uses,
            });
            // Libraries keep something in front of such an object, and look there before they ask for null.
            let nullable = facts.null_checked
                && (of_struct.is_some() && !breaks_on_null(param) || self.survives_null(function, index));
            let handle = of_struct
                .or(of_pointer)
                .map(|life| Role::Handle(parameter_roles::Handle { life, through: None, nullable }));
            let text = Role::CString(parameter_roles::CString { max: 0, nullable: false });
            let path = self.is_file(function, param).then_some(text);
            let lent = borrowed::structure(self.library, param, &facts);
            let any = || callback::any(param).filter(|_| calls_back);
            let role = path.or(handle).or(plain.ok());
            let guess = self.guess(function, index).unwrap_or_default();
            // One struct is not enough where C moves along.
            let is_several = self.is_several(function, index) && !guess.is_empty();
            let role = role.or_else(|| lent.filter(|_| !is_several)).or_else(any);
            if role.is_none() && guess.is_empty() {
                return None;
            }
            if role.is_none() {
                for (at, guess) in guess {
                    // What two parameters have in common counts the fewer elements.
                    let least = |old: &mut Guess| *old = (*old).min(guess);
                    guesses.entry(at).and_modify(least).or_insert(guess);
                }
            }
            // Nothing reads this one: the guess says what to pass.
            roles.push(role.unwrap_or(Role::UserData(parameter_roles::UserData)));
        }
        // A number that a role counts with, too, cannot be made up.
        let is_counted = |at: &usize| {
            let name = &function.params[*at].name;
            roles.iter().any(|role| role.buffer().is_some_and(|buffer| buffer.length == *name))
        };
        let mut counts = guesses.iter().filter(|(_, guess)| matches!(guess, Guess::Count(_)));
        if counts.any(|(at, _)| is_counted(at)) {
            return None;
        }
        free_lengths(self.facts, function, &mut roles);
        let sequence = of.map(|of| {
            let known = &self.library.records[of];
            let is_returned = self.constructors.of_record(of).iter().any(|maker| self.returns_new(maker, of));
            let by_caller = !is_returned && !self.left.contains(of);
            // What a function fills, the caller leaves alone.
            let is_filled = !origins.made.contains(of);
            let (buffers, texts) =
                if by_caller && !is_filled { self.fields(known) } else { Default::default() };
            let (makers, operations, enders) = Default::default();
            let of = known.rust_name.clone();
            Box::new(Sequence {
                of,
                by_caller,
                buffers,
                texts,
                fail_allocations: false,
                file: None,
                makers,
                operations,
                enders,
            })
        });
        let is_new = of.is_some_and(|of| self.returns_new(function, of)) && !self.lends(function)
            || self.returns_named(function);
        let returns = if is_new { Returns::Handle } else { Returns::Nothing };
        let mut contract = Contract { sequence, ..self.contract_of(function, roles, returns) };
        for (param, of) in contract.params.iter_mut().zip(&function.params) {
            if self.is_file(function, of) {
                param.texts = vec![FILE.to_owned()];
            }
        }
        Some((contract, guesses))
    }

    /// The record of the first object among parameters and result.
    fn object_of(&self, function: &Function) -> Option<&str> {
        let set_up = || {
            let mut all =
                function.params.iter().filter_map(|param| param.ty.target().and_then(CType::record_key));
            let key = all.find(|key| self.is_set_up(key))?;
            self.library.records.get_key_value(key).map(|(key, _)| key.as_str())
        };
        self.record_of(function).or_else(|| self.left_record(function)).or_else(set_up)
    }

    /// Whether a driver has objects of what is behind a pointer that a harness gives numbers.
    pub fn has_objects(&self, pointer: &CType) -> bool {
        self.named_object(pointer).is_some()
            || pointer.target().and_then(CType::record_key).is_some_and(|key| self.is_set_up(key))
    }

    fn is_callable(&self, function: &Function) -> bool {
        let is_plain = function.unsupported.is_none() && !function.is_variadic;
        (is_plain || self.takes_format(function)) && self.is_harmless(function)
    }

    /// Whether the function takes a format and values for it, as `printf` does. Either the last parameter is named so, or
    /// the function calls `vprintf` or a variant of it.
    pub fn takes_format(&self, function: &Function) -> bool {
        let is_print = |name: &String| name.starts_with('v') && name.ends_with("printf");
        let is_text = |to: &CType| to.is_char() && to.is_const;
        let last = function.params.last();
        let is_named = last.is_some_and(|param| matches!(param.name.as_str(), "fmt" | "format"));
        let last = last.and_then(|param| param.ty.target());
        let mut reached = self.facts.index.reached(function).flat_map(|of| &of.externs);
        function.is_variadic && last.is_some_and(is_text) && (is_named || reached.any(is_print))
    }

    /// Where the objects of each struct come from, among these functions.
    pub fn origins<'f>(&self, functions: impl Iterator<Item = &'f Function>) -> Origins {
        let functions: Vec<&Function> = functions.filter(|function| self.is_callable(function)).collect();
        let mut made: BTreeSet<String> = BTreeSet::new();
        for function in &functions {
            let left = self.left_record(function).map(str::to_owned);
            let of = self.object_of(function).filter(|of| self.life(of, function) == Life::Makes);
            let added = (0..function.params.len()).filter_map(|index| self.added(function, index));
            made.extend(left.into_iter().chain(of.map(str::to_owned)).chain(added.map(str::to_owned)));
        }
        let all = functions.iter().filter_map(|of| Some((*of, of.ret.target().and_then(CType::record_key)?)));
        let (lent, new): (Vec<_>, Vec<_>) = all.partition(|(function, _)| self.lends(function));
        let lent = lent.into_iter().map(|(_, of)| of);
        let returned = new.into_iter().filter(|(function, of)| self.returns_new(function, of));
        let filled = functions.iter().filter_map(|function| {
            let of = self.record_of(function)?;
            self.fills(function, self.first_handle(of, function)?).then_some(of)
        });
        let all = lent.chain(filled).map(str::to_owned).chain(made.iter().cloned()).collect();
        Origins { returned: returned.map(|(_, of)| of.to_owned()).collect(), made, all }
    }

    /// Whether the result is a pointer to a struct that another object keeps.
    pub fn lends(&self, function: &Function) -> bool {
        function.ret.target().filter(|to| to.record_key().is_some()).is_some_and(|to| {
            // Nobody frees what is `const`.
            to.is_const || !self.allocates(function) && !self.calls_back(function)
        })
    }

    /// Whether the result is a text in new memory.
    pub fn makes_text(&self, function: &Function) -> bool {
        let is_text = |to: &CType| to.is_char() && !to.is_const;
        function.ret.target().is_some_and(is_text)
            && self.allocates(function)
            && !gives_back(self.facts, function)
    }

    /// Whether the function, or a callee, may free memory.
    pub fn may_free(&self, function: &Function) -> bool {
        self.reaches(function, &["free", "realloc", "reallocarray"]) || self.calls_back(function)
    }

    fn calls_back(&self, function: &Function) -> bool {
        let mut reached = self.facts.index.reached(function);
        let is_allocator = |key| self.library.allocators.contains_key(key);
        reached.any(|of| of.indirect_calls > 0 || of.globals_read.iter().any(is_allocator))
    }

    /// The fields that constructors of a struct set: what these lead to belongs to the library.
    pub fn set_by_constructors(&self, of: &str) -> BTreeSet<&str> {
        let makers = self.constructors.of_record(of).iter();
        let makers = makers.filter_map(|maker| maker.params.get(self.first_handle(of, maker)?));
        let set = makers.flat_map(|param| &param.uses).filter_map(|used| match &used.kind {
            UseKind::Field { name, access: Access::Write } => Some(name.as_str()),
            _ => None,
        });
        set.collect()
    }

    /// Whether a function, or a callee, writes to a struct before it reads it.
    fn fills(&self, function: &Function, index: usize) -> bool {
        function.params[index].ty.target().is_some_and(|to| !to.is_const)
            && self.first_access(function, index, DEPTH) == Some(Access::Write)
    }

    /// Whether inputs may choose the arguments. A function that reaches files must get the handle or the path of one;
    /// one that reaches processes, signals or the network is never called.
    fn is_harmless(&self, function: &Function) -> bool {
        let is_open = |param: &Param| matches!(param.name.as_str(), "fd" | "fildes" | "descriptor");
        let has_handle =
            function.params.iter().filter_map(|param| param.ty.target().and_then(CType::record_key));
        let may_use_files = has_handle.into_iter().any(|key| self.is_handle(key))
            || function.params.iter().any(|param| self.is_file(function, param));
        let is_fine = |name: &String| match effect(name) {
            _ if opens(name) => may_use_files,
            _ if only_computes(name) => true,
            Some(Effect::Computes | Effect::Random | Effect::Clock | Effect::Environment | Effect::Stdio) => {
                true
            }
            Some(Effect::Descriptors) => may_use_files,
            Some(
                Effect::State
                | Effect::Files
                | Effect::Network
                | Effect::Threads
                | Effect::Processes
                | Effect::Signals
                | Effect::Loader,
            )
            | None => false,
        };
        !function.params.iter().any(is_open)
            && self.facts.index.reached(function).flat_map(|of| &of.externs).all(is_fine)
    }

    /// Whether a parameter is the path of a file that the function opens.
    fn is_file(&self, function: &Function, param: &Param) -> bool {
        let is_text = param.ty.target().is_some_and(|to| to.is_char());
        is_text && compared_values::goes_to(self.facts, function, param, opens)
    }
}
