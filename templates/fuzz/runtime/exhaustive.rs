//! The exhaustive engine: runs all inputs of a contract by their numbers, called points.
//! Written by cargo-implfuzz.

use super::codec::Writer;
use super::last_started;
use super::driver::{self, Case};
use super::function::encoded;
use super::guard;
use super::points::Digits;
use super::report::{self, Json};
use super::stretch;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A task on points.
pub enum Task {
    /// Runs the points of this range; `of` is the number of all points.
    Run { range: Range<u64>, of: u64 },
    /// Writes the input of a point to a file.
    Write { point: u64, to: PathBuf },
}

impl Task {
    /// Reads IMPLFUZZ_POINTS, the total, and IMPLFUZZ_FROM and IMPLFUZZ_TO.
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

/// Up to this number of points, each point runs with two values of `errno`.
const TWICE: u64 = 1 << 17;

pub(super) fn run<C: Case>(task: Task) {
    match task {
        Task::Write { point, to } => {
            if let Some(args) = args::<C>(point) {
                _ = std::fs::write(to, encoded::<C>(&args));
            }
        }
        Task::Run { range, of } => {
            // Harness and parent count points independently; this detects a disagreement.
            if of == 0 || args::<C>(of - 1).is_none() || args::<C>(of).is_some() {
                report::send("misfit", &[("executions", Json::Number(of))]);
                // SAFETY: nothing has run.
                unsafe { libc::_exit(3) };
            }
            watch();
            guard::learn_nothing();
            // One writer for all points, because this loop runs billions of times.
            let mut writer = Writer::default();
            for point in range {
                last_started::set(point);
                if let Some(args) = args::<C>(point) {
                    writer.bytes.clear();
                    C::encode(&args, &mut writer);
                    guard::choose_errno(&writer.bytes);
                    driver::execute::<C>(&args, &|| encoded::<C>(&args));
                    let other = || stretch::with_other_errno(&writer.bytes, C::extents().len());
                    let other = (of <= TWICE).then(other).flatten();
                    if let Some(other) = other {
                        guard::choose_errno(&other);
                        driver::repeat::<C>(&args, &other);
                    }
                }
            }
            super::counts::send_stats("done");
        }
    }
}

/// The arguments of a point; `None` beyond the last one.
fn args<C: Case>(point: u64) -> Option<C::Args> {
    let mut digits = Digits::new(point, C::OUTPUTS);
    let args = C::point(&mut digits)?;
    digits.is_spent().then_some(args)
}

static SEEN: AtomicU64 = AtomicU64::new(last_started::NONE);
/// Seconds between checks. The process ends if two successive checks see the same call, that is, after 10 to
/// 20 s.
const PATIENCE: u32 = 10;

/// Ends the process with libFuzzer's exit code if the port does not return.
fn watch() {
    extern "C" fn on_alarm(_: libc::c_int) {
        let now = last_started::get();
        if SEEN.swap(now, Ordering::Relaxed) == now {
            // SAFETY: `_exit` is allowed in a signal handler.
            unsafe { libc::_exit(70) };
        }
        // SAFETY: as above.
        unsafe { libc::alarm(PATIENCE) };
    }
    // SAFETY: the handler only calls functions that are allowed in a signal handler.
    unsafe {
        libc::signal(libc::SIGALRM, on_alarm as extern "C" fn(libc::c_int) as libc::sighandler_t);
        libc::alarm(PATIENCE);
    }
}
