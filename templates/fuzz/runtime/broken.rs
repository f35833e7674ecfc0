//! Minimises an input on which the C original breaks.
//! Written by cargo-implfuzz.

use super::driver::Case;
use super::shrink::smaller;
use super::guard::{self, Broke};
use super::stretch;
use super::tally::broken;
use std::time::{Duration, Instant};

/// Reports the smallest input on which C breaks in the same way; nothing if it does not break.
pub fn run<C: Case>(data: &[u8]) {
    let Some(reason) = breaks::<C>(data) else { return };
    // Report it now, because a smaller input may end the process. The last report counts.
    broken(&reason, data);
    let end = Instant::now() + Duration::from_millis(300);
    let small = smaller(data.to_vec(), end, &mut |other| breaks::<C>(other).as_ref() == Some(&reason));
    broken(&reason, &small);
}

/// How C breaks on an input that the contract admits; `None` if it does not.
fn breaks<C: Case>(data: &[u8]) -> Option<String> {
    let args = stretch::args::<C>(data);
    if !C::admits(&args) {
        return None;
    }
    guard::choose_errno(data);
    match C::oracle(&args, C::original()) {
        Ok(_) => None,
        Err(Broke(reason)) => Some(reason),
    }
}
