//! The end of a run by time, to the millisecond. Only where the parent asks for it.

use super::tally::send_stats;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

struct Deadline {
    at: Instant,
    /// So many inputs are there before the run; they are run whatever time it takes.
    first: u64,
}

static DEADLINE: OnceLock<Deadline> = OnceLock::new();

/// The time begins now.
pub(super) fn set() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(millis) = number("IMPLFUZZ_RUN_MS") {
        let at = Instant::now() + Duration::from_millis(millis);
        _ = DEADLINE.set(Deadline { at, first: number("IMPLFUZZ_FIRST").unwrap_or(0) });
    }
}

/// Ends the process before the input with this number is run, if the time is over.
pub(super) fn end_if_over(number: u64) {
    let Some(deadline) = DEADLINE.get() else { return };
    // libFuzzer begins with an input of its own.
    if number > deadline.first + 1 && Instant::now() >= deadline.at {
        send_stats("done");
        // SAFETY: all is told, and libFuzzer has written what it keeps.
        unsafe { libc::_exit(0) };
    }
}
