//! Memory that the port is lent: apart from all other, so that only canaries and closed memory lie around it, where the tool itself
//! builds (`implfuzz_edges`). Under cargo-fuzz the sanitizer's allocator has it. Written by cargo-implfuzz.

use super::space::{READ_WRITE, SPACE, Space};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::sync::atomic::{AtomicUsize, Ordering};

/// So much more can be reached at a time: what lies behind is no memory.
const STEP: usize = 1 << 16;
/// Loans begin at multiples of this, and so much follows that nobody may touch.
const GAP: usize = 16;

static LENT: Stack = Stack::new();

unsafe extern "C" {
    fn implfuzz_close(at: *const u8, size: usize);
    fn implfuzz_open(at: *const u8, size: usize);
}

/// Memory that goes back in one piece, as soon as nobody has any of it: what one run lends is gone before the next.
struct Stack {
    space: Space,
    used: AtomicUsize,
    /// Bytes from the start that are memory.
    reached: AtomicUsize,
    lent: AtomicUsize,
}

impl Stack {
    const fn new() -> Self {
        let (used, reached, lent) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Self { space: Space::new(), used, reached, lent }
    }

    /// Makes the space memory, up to here; false where the system does not.
    fn reach(&self, start: usize, end: usize) -> bool {
        let reached = self.reached.load(Ordering::Relaxed);
        if end <= reached {
            return true;
        }
        let more = (end - reached).next_multiple_of(STEP);
        // SAFETY: a part of the space that nobody has.
        let is_memory = unsafe { libc::mprotect((start + reached) as *mut _, more, READ_WRITE) } == 0;
        if is_memory {
            // SAFETY: as above.
            unsafe { implfuzz_close((start + reached) as *const u8, more) };
            self.reached.store(reached + more, Ordering::Relaxed);
        }
        is_memory
    }
}

/// What is lent of a block: so many bytes behind its start, and so many of them.
#[derive(Clone, Copy)]
pub struct Within {
    pub offset: usize,
    pub size: usize,
}

/// Memory for the port, which canaries watch. What checks addresses finds only a part of it open.
///
/// # Safety
/// The size is not zero, and no other thread lends.
pub unsafe fn lend(layout: Layout, within: Within) -> *mut u8 {
    let at = LENT.used.load(Ordering::Relaxed).next_multiple_of(layout.align().max(GAP));
    // Something that nobody may touch follows.
    let end = at + layout.size() + GAP;
    let start = if cfg!(implfuzz_edges) { LENT.space.start(libc::PROT_NONE) } else { None };
    let at = match start {
        Some(start) if end <= SPACE - STEP && LENT.reach(start, end) => {
            LENT.used.store(end, Ordering::Relaxed);
            LENT.lent.fetch_add(1, Ordering::Relaxed);
            // SAFETY: in the block.
            unsafe { implfuzz_open((start + at + within.offset) as *const u8, within.size) };
            (start + at) as *mut u8
        }
        // SAFETY: as the caller promises.
        _ => unsafe { System.alloc(layout) },
    };
    if at.is_null() {
        handle_alloc_error(layout);
    }
    at
}

/// Takes back what [`lend`] gave with these.
///
/// # Safety
/// Nobody uses it any more, and no other thread lends.
pub unsafe fn take_back(at: *mut u8, layout: Layout, within: Within) {
    if LENT.space.offset(at).is_none() {
        // SAFETY: it came from there.
        unsafe { System.dealloc(at, layout) };
        return;
    }
    // Eight bytes share what says which of them are open.
    let start = (at as usize + within.offset) & !7;
    let end = (at as usize + within.offset + within.size).next_multiple_of(8);
    // SAFETY: in the block and what follows it.
    unsafe { implfuzz_close(start as *const u8, end - start) };
    if LENT.lent.fetch_sub(1, Ordering::Relaxed) == 1 {
        LENT.used.store(0, Ordering::Relaxed);
    }
}
