//! The end of a run that has found something: the smallest input that shows it is told. Written by cargo-implfuzz.

use super::codec::Tail;
use super::driver::{Case, Found, Judged, judge, judge_without_errno};
use super::guard;
use super::report::{self, Json, Parts};
use super::stretch;
use super::tally::send_stats;
use std::time::{Duration, Instant};

/// Reports the smallest input with the same class of finding, and ends the process.
pub(super) fn stop<C: Case>(data: &[u8], found: Found) -> ! {
    // Told at once: a smaller input may well bring the process down. What is told last counts.
    tell::<C>(data, &found);
    let (data, mut found) = shrink::<C>(data.to_vec(), found);
    found.errno_decides = errno_decides::<C>(&data);
    if report::listening() {
        tell::<C>(&data, &found);
        send_stats("stats");
        // SAFETY: ends the process without running handlers that would report a regular end.
        unsafe { libc::_exit(77) };
    }
    eprintln!("{}: {}", found.class, found.what);
    let args = shown::<C>(&data, &found);
    for (title, parts) in [("argument", args), ("C", found.oracle), ("Rust", found.subject)] {
        for (name, value) in parts {
            eprintln!("  {title} {name} = {value}");
        }
    }
    eprintln!("  input {}", report::hex(&data));
    std::process::abort();
}

fn tell<C: Case>(data: &[u8], found: &Found) {
    let fields = [
        ("class", Json::Text(found.class.into())),
        ("what", Json::Text(found.what.clone())),
        ("input", Json::Text(report::hex(data))),
        ("args", Json::Parts(shown::<C>(data, found))),
        ("oracle", Json::Parts(found.oracle.clone())),
        ("subject", Json::Parts(found.subject.clone())),
    ];
    report::send("finding", &fields);
}

/// The arguments, and what stood in `errno` where the finding needs it.
fn shown<C: Case>(data: &[u8], found: &Found) -> Parts {
    let mut parts = C::show(&stretch::args::<C>(data));
    if let Some(errno) = found.errno_decides {
        parts.push(("errno before the call".into(), errno.to_string()));
    }
    parts
}

/// What the calls found in `errno`, where nothing is found with 0 there.
fn errno_decides<C: Case>(data: &[u8]) -> Option<i32> {
    guard::choose_errno(data);
    let errno = guard::errno_on_entry();
    let is_found = |judged| matches!(judged, Judged::Found(_));
    (errno != 0 && !is_found(judge_without_errno::<C>(data))).then_some(errno)
}

/// The smallest input that was found with the same class of finding, within a second or what IMPLFUZZ_SHRINK_MS says.
fn shrink<C: Case>(data: Vec<u8>, mut found: Found) -> (Vec<u8>, Found) {
    let millis = std::env::var("IMPLFUZZ_SHRINK_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let end = Instant::now() + Duration::from_millis(millis);
    let mut is_same = |candidate: &[u8]| match judge::<C>(candidate) {
        Judged::Found(other) if other.class == found.class => {
            found = other;
            true
        }
        _ => false,
    };
    let data = shorter(data, end, &mut is_same);
    let data = smaller(data, end, &mut is_same);
    (data, found)
}

/// Halves the lengths of a stretched input while it stays one of those that are wanted, until `end` at most.
fn shorter(mut data: Vec<u8>, end: Instant, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    for at in 0..2 {
        let (head, Some(mut tail)) = Tail::split(&data) else { return data };
        let head = head.to_vec();
        let (mut low, mut high) = (0, tail.lengths[at].1);
        while high - low > 1 && Instant::now() < end {
            let middle = low + (high - low) / 2;
            tail.lengths[at].1 = middle;
            let candidate = tail.behind(&head);
            if is_wanted(&candidate) {
                (high, data) = (middle, candidate);
            } else {
                low = middle;
            }
        }
    }
    data
}

/// Removes and simplifies bytes while the input stays one of those that are wanted, until `end` at most.
pub(super) fn smaller(mut data: Vec<u8>, end: Instant, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut attempt = |candidate: Vec<u8>, data: &mut Vec<u8>| {
        let is_wanted = is_wanted(&candidate);
        if is_wanted {
            *data = candidate;
        }
        is_wanted
    };
    loop {
        let before = data.clone();
        let mut size = data.len().div_ceil(2).max(1);
        while size > 0 && Instant::now() < end {
            let mut at = 0;
            while at < data.len() && Instant::now() < end {
                let mut shorter = data.clone();
                shorter.drain(at..(at + size).min(data.len()));
                if !attempt(shorter, &mut data) {
                    at += size;
                }
            }
            size /= 2;
        }
        for at in 0..data.len() {
            for byte in [0, 1, b'a'] {
                if Instant::now() >= end || data[at] <= byte && data[at] != 0xff {
                    continue;
                }
                let mut simpler = data.clone();
                simpler[at] = byte;
                if attempt(simpler, &mut data) {
                    break;
                }
            }
        }
        if data == before || Instant::now() >= end {
            return data;
        }
    }
}
