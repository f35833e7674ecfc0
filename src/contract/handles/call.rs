//! Calls of functions as programs make them, for drivers: effects that no harness can compare are no obstacle.

use super::guess::Guess;
use super::{FILE, Handles};
use crate::contract::constructors::{record, target};
use crate::contract::infer::roles_where;
use crate::contract::length_inference::{MAX_OF_STEP, free_lengths};
use crate::contract::parameter_roles::{self, prototype};
use crate::contract::types::{Contract, Life, Returns, Role, Sequence};
use crate::contract::{borrowed, callback, likely};
use crate::libc_facts::{Effect, effect, only_computes, opens};
use crate::symbol::{Function, Param, TypeKind};
use std::collections::BTreeMap;

impl Handles<'_> {
    /// How a program may call the function, whether or not a harness can compare what it does. `None` where nothing is
    /// known of an argument.
    pub fn call(&self, function: &Function) -> Option<(Contract, BTreeMap<usize, Guess>)> {
        if function.unsupported.is_some() || function.is_variadic || !self.is_harmless(function) {
            return None;
        }
        let of = self.record_of(function).or_else(|| self.left_record(function));
        let life = of.map_or(Life::Uses, |of| self.life(of, function));
        let first = of.and_then(|of| self.first_handle(of, function));
        let (mut roles, mut guesses) = (Vec::new(), BTreeMap::new());
        let plain = roles_where(self.library, self.facts, function, (MAX_OF_STEP, true));
        let calls_back = function.params.iter().any(|param| prototype(&param.ty).is_some());
        for (index, (param, plain)) in function.params.iter().zip(plain).enumerate() {
            let facts = self.facts.of(function, index);
            let is_handle =
                |key: &&str| self.left.contains(key) || self.is_handle(key) && !self.inner.contains_key(*key);
            let of_struct = target(&param.ty).and_then(record).filter(is_handle).map(|_| match first {
                Some(first) if first == index => life,
                _ => Life::Uses,
            });
            let of_pointer = self.named_object(&param.ty).map(|_| match facts.freed {
                true => Life::Ends,
                false => Life::Uses,
            });
            // Libraries keep something in front of such an object, and look there before they ask for null.
            let nullable = facts.null_checked && (of_struct.is_some() || self.survives_null(function, index));
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
        free_lengths(function, &mut roles);
        let sequence = of.map(|of| {
            let known = &self.library.records[of];
            let is_returned = self.constructors.of_record(of).iter().any(|maker| self.returns_new(maker, of));
            let by_caller = !is_returned && !self.left.contains(of);
            let (buffers, texts) = if by_caller { self.fields(known) } else { Default::default() };
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
        let is_new = of.is_some_and(|of| self.returns_new(function, of)) || self.returns_named(function);
        let returns = if is_new { Returns::Handle } else { Returns::Nothing };
        let mut contract = Contract { sequence, ..self.contract_of(function, roles, returns) };
        for (param, of) in contract.params.iter_mut().zip(&function.params) {
            if self.is_file(function, of) {
                param.texts = vec![FILE.to_owned()];
            }
        }
        Some((contract, guesses))
    }

    /// Whether inputs may choose the arguments. A function that reaches files must get the handle or the path of one;
    /// one that reaches processes, signals or the network is never called.
    fn is_harmless(&self, function: &Function) -> bool {
        let is_open = |param: &Param| matches!(param.name.as_str(), "fd" | "fildes" | "descriptor");
        let has_handle = function.params.iter().filter_map(|param| target(&param.ty).and_then(record));
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
        let is_text =
            target(&param.ty).is_some_and(|to| matches!(to.kind, TypeKind::Int { plain_char: true, .. }));
        is_text && likely::goes_to(self.facts, function, param, opens)
    }
}
