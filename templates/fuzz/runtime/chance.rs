//! Random numbers and clocks (`chance.c`): both sides get the same values from the input, and must draw
//! equally often, with the same seeds in between.
//! Written by cargo-implfuzz.

use super::record::Record;
use super::report::Parts;
use std::os::raw::c_uchar;

/// The number of draws of a side, by kind.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct Drawn {
    draws: u64,
    seeds: u64,
    last_seed: u64,
    times: u64,
    clocks: u64,
    order: u64,
}

unsafe extern "C" {
    fn implfuzz_chance_begin(from: *const c_uchar, length: usize);
    fn implfuzz_chance_end() -> Drawn;
}

/// A hash, which says nothing to people.
const ORDER: &str = "order of draws and seeds";

/// Number of bytes in an input from which values are drawn.
pub const BYTES: usize = 64;

/// Starts drawing before a call; the bytes must stay valid until [`end`].
pub fn begin(bytes: &[u8]) {
    // SAFETY: pointer and length are of one slice, which lives as long as the arguments of the call.
    unsafe { implfuzz_chance_begin(bytes.as_ptr(), bytes.len()) };
}

/// Ends drawing after a call, also one that was left by a jump.
pub fn end() -> Drawn {
    // SAFETY: returns a value.
    unsafe { implfuzz_chance_end() }
}

impl Drawn {
    fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("numbers drawn", self.draws),
            ("seeds set", self.seeds),
            ("last seed", self.last_seed),
            ("times asked", self.times),
            ("clocks read", self.clocks),
            (ORDER, self.order),
        ]
    }

    /// The first difference between two sides.
    pub fn differs(&self, other: &Self) -> Option<String> {
        let mut each = self.named().into_iter().zip(other.named());
        each.find(|(a, b)| a != b).map(|((name, _), _)| name.to_owned())
    }

    pub fn shown(&self) -> Parts {
        let used = self.named().into_iter().filter(|(name, count)| *count > 0 && *name != ORDER);
        used.map(|(name, count)| (name.to_owned(), count.to_string())).collect()
    }

    pub fn put(&self, record: &mut Record) {
        for (name, count) in self.named() {
            record.number(name, count);
        }
    }
}

/// Values for boundary inputs.
pub fn boundaries() -> Vec<Vec<u8>> {
    let ramp = (0..BYTES as u8).map(|n| n.wrapping_mul(37)).collect();
    vec![Vec::new(), vec![0xff; BYTES], ramp, vec![1; BYTES], vec![0x80; 16]]
}
