//! Ends the process if one call uses too much processor time. For calls that the guard does not watch.
//! Written by cargo-implfuzz.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The number of the running call; zero between calls.
static CALL: AtomicU64 = AtomicU64::new(0);
/// libFuzzer's exit code for an input that takes too long.
const TIMEOUT: i32 = 70;

/// Starts watching: a call may use this many milliseconds of processor time.
pub fn start(millis: u64) {
    std::thread::spawn(move || {
        let (mut call, mut since) = (0, 0);
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let (now, used) = (CALL.load(Ordering::Relaxed), processor_millis());
            if now == 0 || now != call {
                (call, since) = (now, used);
            } else if used > since + millis {
                // SAFETY: ends the process without cleanup, which is not needed.
                unsafe { libc::_exit(TIMEOUT) };
            }
        }
    });
}

/// Runs a call with the time limit.
pub fn watched<T>(call: impl FnOnce() -> T) -> T {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    CALL.store(COUNT.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    let result = call();
    CALL.store(0, Ordering::Relaxed);
    result
}

fn processor_millis() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}
