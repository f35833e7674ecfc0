//! Memory for the port, separate from all other memory, so that it is surrounded only by canaries and
//! inaccessible memory. This applies to builds by the tool (`implfuzz_edges`); under cargo-fuzz the
//! sanitizer's allocator is used.
//! Written by cargo-implfuzz.

use super::reserved_memory::{READ_WRITE, SPACE, Space};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory becomes accessible in steps of this size, bytes.
const STEP: usize = 1 << 16;
/// Alignment of loans, and size of the inaccessible gap after each, bytes.
const GAP: usize = 16;

static LENT: Stack = Stack::new();

unsafe extern "C" {
    fn implfuzz_close(at: *const u8, size: usize);
    fn implfuzz_open(at: *const u8, size: usize);
}

/// Memory that is freed as a whole when all of it was returned: the loans of one run end before the next run.
struct Stack {
    space: Space,
    used: AtomicUsize,
    /// Number of accessible bytes from the start.
    reached: AtomicUsize,
    lent: AtomicUsize,
}

impl Stack {
    const fn new() -> Self {
        let (used, reached, lent) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Self { space: Space::new(), used, reached, lent }
    }

    /// Makes the space accessible up to `end`; `false` if the system refuses.
    fn reach(&self, start: usize, end: usize) -> bool {
        let reached = self.reached.load(Ordering::Relaxed);
        if end <= reached {
            return true;
        }
        let more = (end - reached).next_multiple_of(STEP);
        // SAFETY: a part of the space that is not used yet.
        let is_memory = unsafe { libc::mprotect((start + reached) as *mut _, more, READ_WRITE) } == 0;
        if is_memory {
            // SAFETY: as above.
            unsafe { implfuzz_close((start + reached) as *const u8, more) };
            self.reached.store(reached + more, Ordering::Relaxed);
        }
        is_memory
    }
}

/// The part of a block that is lent: its offset and its size in bytes.
#[derive(Clone, Copy)]
pub struct Within {
    pub offset: usize,
    pub size: usize,
}

/// Lends memory to the port, with canaries around it. Address checks see only the part `within` as
/// accessible.
///
/// # Safety
/// The size is not zero, and no other thread lends.
pub unsafe fn lend(layout: Layout, within: Within) -> *mut u8 {
    let at = LENT.used.load(Ordering::Relaxed).next_multiple_of(layout.align().max(GAP));
    // An inaccessible gap follows.
    let end = at + layout.size() + GAP;
    let start = if cfg!(implfuzz_edges) { LENT.space.start(libc::PROT_NONE) } else { None };
    let at = match start {
        Some(start) if end <= SPACE - STEP && LENT.reach(start, end) => {
            LENT.used.store(end, Ordering::Relaxed);
            LENT.lent.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the range is in the block.
            unsafe { implfuzz_open((start + at + within.offset) as *const u8, within.size) };
            (start + at) as *mut u8
        }
        // SAFETY: by the caller's promise.
        _ => unsafe { System.alloc(layout) },
    };
    if at.is_null() {
        handle_alloc_error(layout);
    }
    at
}

/// Takes back memory that [`lend`] returned for these arguments.
///
/// # Safety
/// The memory is not used any more, and no other thread lends.
pub unsafe fn take_back(at: *mut u8, layout: Layout, within: Within) {
    if LENT.space.offset(at).is_none() {
        // SAFETY: it came from the system's allocator.
        unsafe { System.dealloc(at, layout) };
        return;
    }
    // Accessibility is tracked in units of eight bytes.
    let start = (at as usize + within.offset) & !7;
    let end = (at as usize + within.offset + within.size).next_multiple_of(8);
    // SAFETY: the range is in the block and its gap.
    unsafe { implfuzz_close(start as *const u8, end - start) };
    if LENT.lent.fetch_sub(1, Ordering::Relaxed) == 1 {
        LENT.used.store(0, Ordering::Relaxed);
    }
}
