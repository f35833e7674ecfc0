//! Chance and clocks (`chance.c`): both sides get the same from the input, and ask as often. Written by cargo-implfuzz.

use super::record::Record;
use super::report::Parts;
use std::os::raw::c_uchar;

/// What a side did with them.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct Drawn {
    draws: u64,
    seeds: u64,
    last_seed: u64,
    times: u64,
    clocks: u64,
}

unsafe extern "C" {
    fn implfuzz_chance_begin(from: *const c_uchar, length: usize);
    fn implfuzz_chance_end() -> Drawn;
}

/// Bytes of an input that say what is drawn.
pub const BYTES: usize = 64;

/// Before a call; the bytes stay where they are until [`end`].
pub fn begin(bytes: &[u8]) {
    // SAFETY: so many bytes, which live as long as the arguments of the call.
    unsafe { implfuzz_chance_begin(bytes.as_ptr(), bytes.len()) };
}

/// After it, or after a jump out of it.
pub fn end() -> Drawn {
    // SAFETY: gives a value.
    unsafe { implfuzz_chance_end() }
}

impl Drawn {
    fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("numbers drawn", self.draws),
            ("seeds set", self.seeds),
            ("last seed", self.last_seed),
            ("times asked", self.times),
            ("clocks read", self.clocks),
        ]
    }

    /// The first in which two sides differ.
    pub fn differs(&self, other: &Self) -> Option<String> {
        let mut each = self.named().into_iter().zip(other.named());
        each.find(|(a, b)| a != b).map(|((name, _), _)| name.to_owned())
    }

    /// For people.
    pub fn shown(&self) -> Parts {
        let used = self.named().into_iter().filter(|(_, count)| *count > 0);
        used.map(|(name, count)| (name.to_owned(), count.to_string())).collect()
    }

    pub fn put(&self, record: &mut Record) {
        for (name, count) in self.named() {
            record.number(name, count);
        }
    }
}

/// What is worth drawing first.
pub fn boundaries() -> Vec<Vec<u8>> {
    let ramp = (0..BYTES as u8).map(|n| n.wrapping_mul(37)).collect();
    vec![Vec::new(), vec![0xff; BYTES], ramp, vec![1; BYTES], vec![0x80; 16]]
}
