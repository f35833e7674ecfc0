//! Runs mutants of the C original in place of the port, to find out which of them the harness kills.
//! Written by cargo-implfuzz.

use super::last_started;
use super::function::Function as Tested;
use super::guard::{self, Broke};
use super::report::{self, Json};
use std::any::Any;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function in the table of mutants.
#[derive(Clone, Copy)]
pub struct Function(pub *const c_void);

// SAFETY: the address of a function, which any thread may call.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The mutants that are not killed yet, by number. Number 0 is the unchanged copy of the original.
static ALIVE: Mutex<Vec<(usize, Function)>> = Mutex::new(Vec::new());
/// Number of runs of mutants; without runs there is no result.
pub static CALLS: AtomicU64 = AtomicU64::new(0);

/// Sets the mutants of a function, without the numbers in IMPLFUZZ_SKIP.
pub fn take(table: Vec<Function>) {
    let skipped = skipped();
    let alive = table.into_iter().enumerate().filter(|(number, _)| !skipped.contains(number));
    if let Ok(mut list) = ALIVE.lock() {
        *list = alive.collect();
    }
}

/// The numbers to leave out.
pub fn skipped() -> Vec<usize> {
    let skipped = std::env::var("IMPLFUZZ_SKIP").unwrap_or_default();
    skipped.split(',').filter_map(|n| n.parse().ok()).collect()
}

const LEAK: &str = "keeps memory that the original gives back";

/// Whether a mutant keeps more memory than the original in each of three more calls; ports are checked in the
/// same way.
fn leaks(tested: &dyn Tested, args: &dyn Any, mutant: *const c_void) -> bool {
    (0..3).all(|_| {
        let before = guard::held();
        drop(tested.original(args));
        let between = guard::held();
        drop(tested.mutant(args, mutant));
        guard::held() - between > between - before
    })
}

/// How the mutant differs on an input that the original accepts; `None` if it does not.
fn told(
    tested: &dyn Tested,
    args: &dyn Any,
    oracle: &dyn Any,
    mutant: *const c_void,
    was_slow: bool,
) -> Option<String> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let held = guard::held();
    let call = || tested.mutant(args, mutant);
    let what = match if was_slow { guard::patiently(call) } else { call() } {
        Err(Broke(reason)) => Some(reason),
        Ok(effects) => tested.differs(oracle, &*effects),
    };
    what.or_else(|| (guard::held() > held && leaks(tested, args, mutant)).then(|| LEAK.to_owned()))
}

/// Runs every mutant on every input of a file, from number IMPLFUZZ_FROM on, and reports which input kills
/// which mutant.
pub(super) fn each(tested: &dyn Tested, file: &[u8]) {
    let from = std::env::var("IMPLFUZZ_FROM").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let Ok(all) = ALIVE.lock() else { return };
    for (at, input) in super::one_side::inputs(file).enumerate().skip(from) {
        let args = tested.args(input);
        guard::choose_errno(input);
        guard::begin();
        let oracle = match tested.admits(&*args).then(|| tested.original(&*args)) {
            Some(Ok(oracle)) => oracle,
            _ => {
                report::send("not-again", &[("executions", Json::Number(at as u64))]);
                continue;
            }
        };
        let was_slow = guard::was_slow();
        for (number, function) in all.iter() {
            last_started::set((at as u64) << 32 | *number as u64);
            if told(tested, &*args, &*oracle, function.0, was_slow).is_some() {
                let fields = [("number", Json::Number(*number as u64)), ("executions", Json::Number(at as u64))];
                report::send("kills", &fields);
            }
        }
        last_started::set(last_started::NONE);
    }
    report::send("kills-done", &[]);
}

/// Runs all remaining mutants on an input that the original accepts; returns whether none is left.
pub(super) fn run(tested: &dyn Tested, args: &dyn Any, oracle: &dyn Any, data: &[u8]) -> bool {
    let Ok(mut alive) = ALIVE.lock() else { return true };
    // A mutant that hangs uses up its time limit. If the original was quick, the usual limit is enough.
    let was_slow = guard::was_slow();
    alive.retain(|(number, function)| {
        last_started::set(*number as u64);
        let Some(what) = told(tested, args, oracle, function.0, was_slow) else { return true };
        let fields = [
            ("number", Json::Number(*number as u64)),
            ("what", Json::Text(what)),
            ("input", Json::Text(report::hex(data))),
        ];
        report::send("killed", &fields);
        false
    });
    last_started::set(last_started::NONE);
    alive.iter().all(|(number, _)| *number == 0)
}
