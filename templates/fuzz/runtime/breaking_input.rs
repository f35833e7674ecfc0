//! Minimises an input on which the C original breaks.
//! Written by cargo-implfuzz.

use super::function::Function;
use super::guard::{self, Broke};
use super::shrink::smaller;
use super::counts::broken;
use std::time::{Duration, Instant};

/// Reports the smallest input on which C breaks in the same way; nothing if it does not break.
pub(super) fn run(function: &dyn Function, data: &[u8]) {
    let Some(reason) = breaks(function, data) else { return };
    // Report it now, because a smaller input may end the process. The last report counts.
    broken(&reason, data);
    let end = Instant::now() + Duration::from_millis(300);
    let small = smaller(data.to_vec(), end, &mut |other| breaks(function, other).as_ref() == Some(&reason));
    broken(&reason, &small);
}

/// How C breaks on an input that the contract admits; `None` if it does not.
fn breaks(function: &dyn Function, data: &[u8]) -> Option<String> {
    let args = function.args(data);
    if !function.admits(&*args) {
        return None;
    }
    guard::choose_errno(data);
    match function.original(&*args) {
        Ok(_) => None,
        Err(Broke(reason)) => Some(reason),
    }
}
