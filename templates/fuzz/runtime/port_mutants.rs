//! Runs mutants of the port in its place, to find out which of them the inputs kill.
//! Written by cargo-implfuzz.

use super::last_started;
use super::driver::panic_text;
use super::function::Function;
use super::mutants::{CALLS, skipped};
use super::report::{self, Json};
use super::call_time_limit;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock};
use std::sync::atomic::Ordering;

/// The mutants that are not killed yet. Number 0 is the unchanged port.
static ALIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Activates one of them.
static SELECT: OnceLock<fn(u32)> = OnceLock::new();

/// Sets the mutants of a port, without the numbers in IMPLFUZZ_SKIP.
pub fn take(numbers: &[u32], select: fn(u32)) {
    _ = SELECT.set(select);
    let skipped = skipped();
    let all = std::iter::once(0).chain(numbers.iter().copied());
    if let Ok(mut list) = ALIVE.lock() {
        *list = all.filter(|number| !skipped.contains(&(*number as usize))).collect();
    }
    let millis = std::env::var("IMPLFUZZ_CALL_MS").ok().and_then(|v| v.parse().ok());
    call_time_limit::start(millis.unwrap_or(200));
}

/// Runs all remaining mutants on an input that the original accepts; returns whether none is left.
pub(super) fn run(function: &dyn Function, args: &dyn Any, oracle: &dyn Any, data: &[u8]) -> bool {
    let Ok(mut alive) = ALIVE.lock() else { return true };
    let Some(select) = SELECT.get() else { return true };
    alive.retain(|number| {
        last_started::set(u64::from(*number));
        CALLS.fetch_add(1, Ordering::Relaxed);
        select(*number);
        let outcome = call_time_limit::watched(|| catch_unwind(AssertUnwindSafe(|| function.subject(args))));
        select(0);
        let what = match outcome {
            Err(_) => Some(panic_text()),
            Ok(Err(place)) => Some(format!("writes outside of {place}")),
            Ok(Ok(effects)) => function.differs(oracle, &*effects),
        };
        let Some(what) = what else { return true };
        let fields = [
            ("number", Json::Number(u64::from(*number))),
            ("what", Json::Text(what)),
            ("input", Json::Text(report::hex(data))),
        ];
        report::send("killed", &fields);
        false
    });
    last_started::set(last_started::NONE);
    alive.iter().all(|number| *number == 0)
}
