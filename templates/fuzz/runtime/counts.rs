//! Counts what happens, and reports it to the parent.
//! Written by cargo-implfuzz.

use super::report::{self, Json};
use super::stretch;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(super) static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
pub(super) static ORACLE_CALLS: AtomicU64 = AtomicU64::new(0);
pub(super) static SUBJECT_CALLS: AtomicU64 = AtomicU64::new(0);
pub(super) static IN_SUBJECT: AtomicBool = AtomicBool::new(false);
/// The reason for inputs that the contract excludes.
pub(super) const PRECONDITION: &str = "precondition of the contract";
/// The reason for call sequences in which no constructor gave a handle for the function under test.
pub(super) const NO_HANDLE: &str = "no handle to call it on";
/// The reason for call sequences with a handle in memory of which nothing is known: C did not get it from `malloc`.
pub(super) const UNCOMPARED: &str = "the memory of a handle cannot be compared";
static REJECTED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// The first input is reported for this number of ways in which C breaks.
const TOLD: usize = 16;

/// Long inputs on which C breaks are not findings.
const LONG: &str = "C breaks on a long input";

/// Counts an input that C or the contract rejects. Reports the first input for each way in which C breaks.
pub(super) fn reject(reason: String, input: &dyn Fn() -> Vec<u8>) {
    let is_excluded = [PRECONDITION, NO_HANDLE, UNCOMPARED].contains(&reason.as_str());
    let is_finding = !is_excluded && !stretch::is_long();
    let reason = if is_finding || is_excluded { reason } else { LONG.to_owned() };
    let Ok(mut rejected) = REJECTED.lock() else { return };
    if let Some(count) = rejected.get_mut(&reason) {
        *count += 1;
        return;
    }
    if rejected.len() < TOLD && is_finding {
        broken(&reason, &input());
    }
    rejected.insert(reason, 1);
}

/// Reports an input on which C breaks.
pub(super) fn broken(reason: &str, input: &[u8]) {
    report::send("broken", &[("what", Json::Text(reason.into())), ("input", Json::Text(report::hex(input)))]);
}

/// Reports the progress a few times per second.
pub(super) fn progress() {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let Ok(mut last) = LAST.lock() else { return };
    if last.is_none_or(|at| at.elapsed() > Duration::from_millis(250)) {
        *last = Some(Instant::now());
        send_stats("progress");
    }
}

/// Reports all counts.
pub(super) fn send_stats(kind: &str) {
    let rejected = REJECTED.lock().map(|r| r.iter().map(|(k, n)| (k.clone(), *n)).collect()).unwrap_or_default();
    let number = |counter: &AtomicU64| Json::Number(counter.load(Ordering::Relaxed));
    let fields = [
        ("executions", number(&EXECUTIONS)),
        ("oracle_calls", number(&ORACLE_CALLS)),
        ("subject_calls", number(&SUBJECT_CALLS)),
        ("rejected", Json::Counts(rejected)),
    ];
    report::send(kind, &fields);
}

/// Runs at a regular end of the process, and when the port ends it.
pub(super) extern "C" fn at_exit() {
    super::heap::left();
    send_stats(if IN_SUBJECT.load(Ordering::Relaxed) { "exit-in-port" } else { "done" });
}
