//! Minimises an input as long as it shows the same finding.
//! Written by cargo-implfuzz.

use super::codec::Tail;
use super::driver::{Found, Judged, judge};
use super::function::Function;
use std::time::{Duration, Instant};

/// The smallest input with the same class of finding that is found within one second, or within
/// IMPLFUZZ_SHRINK_MS milliseconds.
pub(super) fn shrink(function: &dyn Function, data: Vec<u8>, mut found: Found) -> (Vec<u8>, Found) {
    let millis = std::env::var("IMPLFUZZ_SHRINK_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let end = Instant::now() + Duration::from_millis(millis);
    let mut is_same = |candidate: &[u8]| match judge(function, candidate) {
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

/// Halves the lengths of an input's tail while `is_wanted` holds, until `end` at the latest.
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

/// Removes and simplifies bytes while `is_wanted` holds, until `end` at the latest.
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
