//! The second engine: all inputs of a contract, one after the other, by their numbers. Written by cargo-implfuzz.

use super::codec::Writer;
use super::current;
use super::driver::{self, Case};
use super::guard;
use super::points::Digits;
use super::report::{self, Json};
use super::stretch;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What to do with points.
pub enum Task {
    /// Run these, of so many in all.
    Run { range: Range<u64>, of: u64 },
    /// Write the input that stands for one.
    Write { point: u64, to: PathBuf },
}

impl Task {
    /// From IMPLFUZZ_POINTS, the total, and IMPLFUZZ_FROM and IMPLFUZZ_TO.
    pub fn from_env(mode: &str, path: &Path) -> Self {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        match mode {
            "point" => Self::Write { point: number("IMPLFUZZ_FROM"), to: path.to_owned() },
            _ => Self::Run {
                range: number("IMPLFUZZ_FROM")..number("IMPLFUZZ_TO"),
                of: number("IMPLFUZZ_POINTS"),
            },
        }
    }
}

/// Up to so many points each one runs with two values in `errno`.
const TWICE: u64 = 1 << 17;

/// Runs the task to its end, and reports it.
pub fn run<C: Case>(task: Task) {
    match task {
        Task::Write { point, to } => {
            if let Some(args) = args::<C>(point) {
                _ = std::fs::write(to, encoded::<C>(&args));
            }
        }
        Task::Run { range, of } => {
            // Both count for themselves: a point too many or too few is seen here.
            if of == 0 || args::<C>(of - 1).is_none() || args::<C>(of).is_some() {
                report::send("misfit", &[("executions", Json::Number(of))]);
                // SAFETY: nothing was run.
                unsafe { libc::_exit(3) };
            }
            watch();
            // One for all points: this is done billions of times.
            let mut writer = Writer::default();
            for point in range {
                current::set(point);
                if let Some(args) = args::<C>(point) {
                    writer.bytes.clear();
                    C::encode(&args, &mut writer);
                    guard::choose_errno(&writer.bytes);
                    driver::execute::<C>(&args, &|| encoded::<C>(&args));
                    let other = (of <= TWICE).then(|| stretch::with_other_errno::<C>(&writer.bytes)).flatten();
                    if let Some(other) = other {
                        guard::choose_errno(&other);
                        driver::repeat::<C>(&args, &other);
                    }
                }
            }
            super::tally::send_stats("done");
        }
    }
}

/// The arguments of a point; none beyond the last one.
fn args<C: Case>(point: u64) -> Option<C::Args> {
    let mut digits = Digits::new(point, C::OUTPUTS);
    let args = C::point(&mut digits)?;
    digits.is_spent().then_some(args)
}

fn encoded<C: Case>(args: &C::Args) -> Vec<u8> {
    let mut writer = Writer::default();
    C::encode(args, &mut writer);
    writer.bytes
}

static SEEN: AtomicU64 = AtomicU64::new(current::NONE);
/// Seconds without a step forward, once or twice, are the end.
const PATIENCE: u32 = 10;

/// Ends the process, as libFuzzer would, when the port does not return.
fn watch() {
    extern "C" fn on_alarm(_: libc::c_int) {
        let now = current::get();
        if SEEN.swap(now, Ordering::Relaxed) == now {
            // SAFETY: may be called in a signal handler.
            unsafe { libc::_exit(70) };
        }
        // SAFETY: as above.
        unsafe { libc::alarm(PATIENCE) };
    }
    // SAFETY: the handler only calls what a signal handler may.
    unsafe {
        libc::signal(libc::SIGALRM, on_alarm as extern "C" fn(libc::c_int) as libc::sighandler_t);
        libc::alarm(PATIENCE);
    }
}
