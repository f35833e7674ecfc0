//! Ends a run at a deadline in milliseconds, if the parent sets one.

use super::counts::send_stats;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

struct Deadline {
    at: Instant,
    /// Number of inputs that exist before the run; they run in any case.
    first: u64,
}

static DEADLINE: OnceLock<Deadline> = OnceLock::new();

/// Starts the time.
pub(super) fn set() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(millis) = number("IMPLFUZZ_RUN_MS") {
        let at = Instant::now() + Duration::from_millis(millis);
        _ = DEADLINE.set(Deadline { at, first: number("IMPLFUZZ_FIRST").unwrap_or(0) });
    }
}

/// Ends the process before the input with this number runs, if the time is over.
pub(super) fn end_if_over(number: u64) {
    let Some(deadline) = DEADLINE.get() else { return };
    // libFuzzer runs an additional input first.
    if number > deadline.first + 1 && Instant::now() >= deadline.at {
        send_stats("done");
        // SAFETY: the report is complete, and libFuzzer has written its corpus.
        unsafe { libc::_exit(0) };
    }
}
