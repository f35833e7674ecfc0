//! Whether `errno` after the call is compared. Before the call both sides get the same value, which varies with the
//! input.

use super::Emitter;
use crate::contract::types::{Returns, Role};
use crate::libc_facts as libc;

impl Emitter<'_> {
    /// `errno` is compared where the contract says so, and where C certainly leaves it unchanged: then the port
    /// must do so, too.
    pub(super) fn compares_errno(&self) -> bool {
        self.contract.errno || self.contract.harness.is_inferred() && self.leaves_errno()
    }

    /// Whether the function calls nothing, in the library or outside, that could set `errno`. Allocations count as
    /// setting it: a failing one does, and a port may allocate where C does not.
    pub(super) fn leaves_errno(&self) -> bool {
        let function = self.bound.function;
        let calls_back = |role: &Role| role.callback().is_some() || role.given().is_some();
        function.calls.is_empty()
            && function.indirect_calls == 0
            && function.externs.iter().all(|name| libc::leaves_errno(name))
            && function.foreign_globals.is_empty()
            && !function.macros.iter().any(|name| name == "errno")
            && !self.contract.chance
            && self.contract.returns != Returns::Memory
            && !self.contract.params.iter().any(|param| calls_back(&param.role))
    }
}
