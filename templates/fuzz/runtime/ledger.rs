//! The memory of one side: the blocks that it allocated (`ledger.c`).
//! Written by cargo-implfuzz.

use super::pieces::Piece;
use std::ffi::{c_int, c_uint};

#[repr(C)]
struct RawBlock {
    at: usize,
    size: usize,
    live: c_int,
}

unsafe extern "C" {
    fn implfuzz_ledger_start();
    fn implfuzz_ledger_watch(on: c_int);
    fn implfuzz_ledger_watching() -> c_int;
    fn implfuzz_ledger_bad_count() -> c_uint;
    fn implfuzz_ledger_blocks(count: *mut usize) -> *const RawBlock;
    fn implfuzz_ledger_release();
    fn implfuzz_ledger_fail(nth: c_uint);
    fn implfuzz_ledger_limit(most: usize);
    static __executable_start: u8;
    static _end: u8;
}

/// Clears the ledger before a side starts.
pub fn start() {
    // SAFETY: sets numbers.
    unsafe { implfuzz_ledger_start() };
}

/// Frees the remaining blocks of a side, after they were counted.
pub fn release() {
    // SAFETY: frees only blocks that were allocated while the side was watched, and the side is finished.
    unsafe { implfuzz_ledger_release() };
}

/// Makes the allocation with this number, counted from now on, fail as if memory ran out; 0 for none.
pub fn fail(nth: u8) {
    // SAFETY: sets a number.
    unsafe { implfuzz_ledger_fail(c_uint::from(nth)) };
}

/// Until the next start, allocations of more than `most` bytes fail.
pub(super) fn limit(most: usize) {
    // SAFETY: sets a number.
    unsafe { implfuzz_ledger_limit(most) };
}

/// Switches the recording of allocations on or off.
pub fn watch(on: bool) {
    // SAFETY: sets a number.
    unsafe { implfuzz_ledger_watch(c_int::from(on)) };
}

/// Records allocations while this value lives, including during a panic.
pub struct Watch;

impl Watch {
    pub fn on() -> Self {
        watch(true);
        Self
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        watch(false);
    }
}

/// Records no allocations while this value lives: in a callback of the harness, which a side calls.
pub struct Pause(bool);

impl Pause {
    pub fn begin() -> Self {
        // SAFETY: reads a number.
        let was_on = unsafe { implfuzz_ledger_watching() != 0 };
        watch(false);
        Self(was_on)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        watch(self.0);
    }
}

/// Number of frees of memory that was not allocated.
pub fn bad_frees() -> usize {
    // SAFETY: reads a number.
    unsafe { implfuzz_ledger_bad_count() as usize }
}

/// All blocks since the start, the oldest first.
pub fn blocks() -> Vec<Piece> {
    let mut count = 0;
    // SAFETY: the ledger returns a valid list of `count` blocks.
    let raw = unsafe { std::slice::from_raw_parts(implfuzz_ledger_blocks(&mut count), count) };
    raw.iter().map(|b| Piece { at: b.at, size: b.size, live: b.live != 0 }).collect()
}

/// Number of blocks that are not freed.
pub fn live() -> usize {
    blocks().iter().filter(|b| b.live).count()
}

/// Whether an address is in the program's functions, tables or constants.
pub fn in_program(address: usize) -> bool {
    let (start, end) = (&raw const __executable_start as usize, &raw const _end as usize);
    (start..end).contains(&address)
}

/// The value of bytes that were never written (`FRESH` in `ledger.c`).
pub(super) const FRESH: u8 = 0xbe;
pub(super) fn copy(piece: Piece) -> Vec<u8> {
    // SAFETY: the piece is allocated, and no other thread runs.
    unsafe { std::slice::from_raw_parts(piece.at as *const u8, piece.size) }.to_vec()
}
