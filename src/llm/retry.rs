//! Decides, as a pure function, when to retry a failed request; and a sleep that Ctrl-C ends.

use super::error::ModelError;
use super::model::Asker;
use crate::platform::process::Interrupt;
use jiff::Timestamp;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// The longest wait that a server may ask for.
const LONGEST: Duration = Duration::from_secs(120);

/// How often and how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Policy {
    /// Retries after the first try.
    pub retries: u32,
    /// Wait before the first retry; doubles with each.
    pub base: Duration,
}

impl Policy {
    /// The usual waits with this many retries.
    pub fn new(retries: u32) -> Self {
        Self { retries, base: Duration::from_millis(500) }
    }
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// No answer at all, or one that broke off.
    Transport,
    /// An answer with this status.
    Status(u16),
    /// The account's money or quota is used up, whatever the status.
    SpendLimit,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Retry { after: Duration },
    Fail,
}

/// Decides about failure number `attempt` (from 0). `asked` is the wait that the server asks for; `jitter` is from
/// 0 to 1 and spreads the waits that nobody asked for between half and all of their length.
pub(super) fn decide(
    policy: Policy,
    failure: Failure,
    asked: Option<Duration>,
    attempt: u32,
    jitter: f64,
) -> Decision {
    let worth_it = match failure {
        Failure::Transport => true,
        Failure::Status(status) => matches!(status, 408 | 409 | 429 | 500..=599),
        Failure::SpendLimit => false,
    };
    if !worth_it || attempt >= policy.retries {
        return Decision::Fail;
    }
    let after = asked.unwrap_or_else(|| {
        let doubled = policy.base.saturating_mul(2u32.saturating_pow(attempt));
        doubled.min(LONGEST).mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
    });
    Decision::Retry { after: after.min(LONGEST) }
}

/// The wait that the headers `retry-after-ms` and `retry-after` (seconds or a date) ask for.
pub(super) fn asked_wait(header: &dyn Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
    let number = |text: String, unit: f64| {
        let value = text.trim().parse::<f64>().ok()?;
        Duration::try_from_secs_f64(value * unit).ok()
    };
    if let Some(wait) = header("retry-after-ms").and_then(|text| number(text, 1e-3)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    number(text.clone(), 1.0).or_else(|| {
        let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
        Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
    })
}

/// A number from 0 to 1 that differs from call to call.
pub(super) fn jitter() -> f64 {
    // The standard library seeds each RandomState anew, which is random enough to spread retries.
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

/// Reports the failure and waits before the retry.
pub(super) fn wait(time: Duration, failed: &ModelError, asker: &Asker) -> Result<(), ModelError> {
    (asker.tell)(format!("{failed}; asking again in {:.1} s", time.as_secs_f32()));
    sleep(time, asker.interrupt)
}

/// Sleeps, unless Ctrl-C comes.
fn sleep(time: Duration, interrupt: &Interrupt) -> Result<(), ModelError> {
    let end = Instant::now() + time;
    loop {
        if interrupt.is_set() {
            return Err(ModelError::Interrupted);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy { retries: 5, base: Duration::from_millis(500) };

    fn wait(failure: Failure, asked: Option<u64>, attempt: u32, jitter: f64) -> Option<u128> {
        match decide(POLICY, failure, asked.map(Duration::from_secs), attempt, jitter) {
            Decision::Retry { after } => Some(after.as_millis()),
            Decision::Fail => None,
        }
    }

    #[test]
    fn which_failures_are_tried_again() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(wait(Failure::Status(status), None, 0, 0.0).is_some(), "{status}");
        }
        for status in [300, 307, 400, 401, 402, 403, 404, 413, 422] {
            assert!(wait(Failure::Status(status), None, 0, 0.0).is_none(), "{status}");
        }
        assert!(wait(Failure::Transport, None, 0, 0.0).is_some());
        assert!(wait(Failure::SpendLimit, Some(1), 0, 0.0).is_none());
    }

    #[test]
    fn waits_double_between_half_and_all() {
        let waits: Vec<_> = (0..5).map(|n| wait(Failure::Transport, None, n, 1.0).unwrap()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000]);
        assert_eq!(wait(Failure::Transport, None, 2, 0.0), Some(1_000));
        assert_eq!(wait(Failure::Transport, None, 5, 0.0), None);
    }

    #[test]
    fn the_server_is_obeyed_up_to_two_minutes() {
        assert_eq!(wait(Failure::Status(429), Some(7), 0, 1.0), Some(7_000));
        assert_eq!(wait(Failure::Status(429), Some(9_999), 0, 1.0), Some(120_000));
    }

    #[test]
    fn headers_are_understood() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let asked = |ms: Option<&str>, s: Option<&str>| {
            let pick = |name: &str| if name == "retry-after-ms" { ms } else { s };
            asked_wait(&|name| pick(name).map(str::to_owned), now).map(|d| d.as_millis())
        };
        assert_eq!(asked(Some("250"), Some("9")), Some(250));
        assert_eq!(asked(None, Some("1.5")), Some(1_500));
        assert_eq!(asked(None, Some("Thu, 01 Jan 2026 00:00:30 GMT")), Some(30_000));
        assert_eq!(asked(None, Some("Wed, 31 Dec 2025 00:00:30 GMT")), Some(0));
        for nonsense in ["", "soon", "-1", "inf", "nan"] {
            assert_eq!(asked(None, Some(nonsense)), None, "{nonsense}");
        }
        assert_eq!(asked(None, None), None);
    }

    #[test]
    fn an_interrupt_ends_the_sleep() {
        let interrupt = Interrupt::none();
        interrupt.set();
        let started = Instant::now();
        assert_eq!(sleep(Duration::from_secs(60), &interrupt), Err(ModelError::Interrupted));
        assert!(started.elapsed() < Duration::from_secs(1));
        assert!((0.0..=1.0).contains(&jitter()));
    }
}
