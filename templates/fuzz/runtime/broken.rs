//! An input on which the C original breaks, made small. Written by cargo-implfuzz.

use super::driver::Case;
use super::shrink::smaller;
use super::guard::{self, Broke};
use super::stretch;
use super::tally::broken;
use std::time::{Duration, Instant};

/// Tells the smallest input on which C breaks as on this one; nothing where it does not break.
pub fn run<C: Case>(data: &[u8]) {
    let Some(reason) = breaks::<C>(data) else { return };
    // Told at once: a smaller input may well bring the process down. What is told last counts.
    broken(&reason, data);
    let end = Instant::now() + Duration::from_millis(300);
    let small = smaller(data.to_vec(), end, &mut |other| breaks::<C>(other).as_ref() == Some(&reason));
    broken(&reason, &small);
}

/// How C breaks on an input that the contract admits, if it does.
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
