//! Mutants of the C original in the place of the port: which of them does this harness tell from the original?
//! Written by cargo-implfuzz.

use super::current;
use super::driver::Case;
use super::guard::{self, Broke};
use super::report::{self, Json};
use super::stretch;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function in the table of mutants.
#[derive(Clone, Copy)]
pub struct Function(pub *const c_void);

// SAFETY: the address of a function, which every thread may call.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// Those that nothing was found about yet, by their numbers. Number 0 is the original's text as it is.
static ALIVE: Mutex<Vec<(usize, Function)>> = Mutex::new(Vec::new());
/// Runs of a mutant; zero of them would say nothing.
pub static CALLS: AtomicU64 = AtomicU64::new(0);

/// Takes the mutants of a function; numbers in IMPLFUZZ_SKIP are left out.
pub fn take(table: Vec<Function>) {
    let skipped = skipped();
    let alive = table.into_iter().enumerate().filter(|(number, _)| !skipped.contains(number));
    if let Ok(mut list) = ALIVE.lock() {
        *list = alive.collect();
    }
}

/// The numbers that are to be left out.
pub fn skipped() -> Vec<usize> {
    let skipped = std::env::var("IMPLFUZZ_SKIP").unwrap_or_default();
    skipped.split(',').filter_map(|n| n.parse().ok()).collect()
}

const LEAK: &str = "keeps memory that the original gives back";

/// Whether a mutant keeps more memory than the original in each of some more calls, as a port is asked.
fn leaks<C: Case>(args: &C::Args, mutant: *const c_void) -> bool {
    (0..3).all(|_| {
        let before = guard::held();
        drop(C::oracle(args, C::original()));
        let between = guard::held();
        drop(C::oracle(args, mutant));
        guard::held() - between > between - before
    })
}

/// How a mutant gives itself away on an input that the original accepts, if it does.
fn told<C: Case>(args: &C::Args, oracle: &C::Effects, mutant: *const c_void, was_slow: bool) -> Option<String> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let held = guard::held();
    let call = || C::oracle(args, mutant);
    let what = match if was_slow { guard::patiently(call) } else { call() } {
        Err(Broke(reason)) => Some(reason),
        Ok(effects) => C::differs(oracle, &effects),
    };
    what.or_else(|| (guard::held() > held && leaks::<C>(args, mutant)).then(|| LEAK.to_owned()))
}

/// Every mutant on every input of a file, from the one with the number IMPLFUZZ_FROM on: which inputs tell which.
pub fn each<C: Case>(file: &[u8]) {
    let from = std::env::var("IMPLFUZZ_FROM").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let Ok(all) = ALIVE.lock() else { return };
    for (at, input) in super::apart::inputs(file).enumerate().skip(from) {
        let args = stretch::args::<C>(input);
        guard::choose_errno(input);
        guard::begin();
        let oracle = match C::admits(&args).then(|| C::oracle(&args, C::original())) {
            Some(Ok(oracle)) => oracle,
            _ => {
                report::send("not-again", &[("executions", Json::Number(at as u64))]);
                continue;
            }
        };
        let was_slow = guard::was_slow();
        for (number, function) in all.iter() {
            current::set((at as u64) << 32 | *number as u64);
            if told::<C>(&args, &oracle, function.0, was_slow).is_some() {
                let fields = [("number", Json::Number(*number as u64)), ("executions", Json::Number(at as u64))];
                report::send("kills", &fields);
            }
        }
        current::set(current::NONE);
    }
    report::send("kills-done", &[]);
}

/// Runs all that are alive on an input that the original accepts; true when none is left.
pub fn run<C: Case>(args: &C::Args, oracle: &C::Effects, data: &[u8]) -> bool {
    let Ok(mut alive) = ALIVE.lock() else { return true };
    // One that hangs costs its time. Where the original was quick, it needs no more of it than usual.
    let was_slow = guard::was_slow();
    alive.retain(|(number, function)| {
        current::set(*number as u64);
        let Some(what) = told::<C>(args, oracle, function.0, was_slow) else { return true };
        let fields = [
            ("number", Json::Number(*number as u64)),
            ("what", Json::Text(what)),
            ("input", Json::Text(report::hex(data))),
        ];
        report::send("killed", &fields);
        false
    });
    current::set(current::NONE);
    alive.iter().all(|(number, _)| *number == 0)
}
