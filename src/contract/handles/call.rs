//! Calls of functions as programs make them, for drivers: effects that no harness can compare are no obstacle.

use super::Handles;
use crate::contract::constructors::{record, target};
use crate::contract::infer::roles_where;
use crate::contract::length_inference::{MAX_OF_STEP, free_lengths};
use crate::contract::parameter_roles::{self, prototype};
use crate::contract::types::{Contract, Life, Returns, Role, Sequence};
use crate::contract::{borrowed, callback};
use crate::symbol::Function;

impl Handles<'_> {
    /// How a program may call the function, whether or not a harness can compare what it does. `None` where nothing is
    /// known of an argument.
    pub fn call(&self, function: &Function) -> Option<Contract> {
        if function.unsupported.is_some() || function.is_variadic {
            return None;
        }
        let of = self.record_of(function);
        let life = of.map_or(Life::Uses, |of| self.life(of, function));
        let first = of.and_then(|of| self.first_handle(of, function));
        let mut roles = Vec::new();
        let plain = roles_where(self.library, self.facts, function, (MAX_OF_STEP, true));
        let calls_back = function.params.iter().any(|param| prototype(&param.ty).is_some());
        for (index, (param, plain)) in function.params.iter().zip(plain).enumerate() {
            let facts = self.facts.of(function, index);
            let is_handle = |key: &&str| self.is_handle(key) && !self.inner.contains_key(*key);
            let handle = target(&param.ty).and_then(record).filter(is_handle).map(|_| {
                let life = if first == Some(index) { life } else { Life::Uses };
                Role::Handle(parameter_roles::Handle { life, through: None, nullable: facts.null_checked })
            });
            let lent = || borrowed::structure(self.library, param, &facts);
            let any = || callback::any(param).filter(|_| calls_back);
            roles.push(handle.or(plain.ok()).or_else(lent).or_else(any)?);
        }
        free_lengths(function, &mut roles);
        let sequence = of.map(|of| {
            let known = &self.library.records[of];
            let by_caller = !self.constructors.of_record(of).iter().any(|maker| self.returns_new(maker, of));
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
        let is_new = of.is_some_and(|of| self.returns_new(function, of));
        let returns = if is_new { Returns::Handle } else { Returns::Nothing };
        Some(Contract { sequence, ..self.contract_of(function, roles, returns) })
    }
}
