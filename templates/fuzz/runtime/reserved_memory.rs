//! Address space that is reserved at the first use; only used pages take memory.
//! Written by cargo-implfuzz.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size in bytes.
pub(super) const SPACE: usize = 1 << 30;
pub(super) const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

/// Address space that is reserved at the first use.
pub(super) struct Space {
    /// 0 before the reservation, 1 if it failed.
    start: AtomicUsize,
}

impl Space {
    pub(super) const fn new() -> Self {
        Self { start: AtomicUsize::new(0) }
    }

    /// The first address; `None` if the reservation failed. Must be called by one thread at a time. `access`
    /// is the initial protection of all pages.
    pub(super) fn start(&self, access: libc::c_int) -> Option<usize> {
        let known = self.start.load(Ordering::Relaxed);
        if known > 0 {
            return (known > 1).then_some(known);
        }
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: maps new memory at an address that the system chooses.
        let at = unsafe { libc::mmap(null_mut(), SPACE, access, kind, -1, 0) };
        let start = if at == libc::MAP_FAILED { 1 } else { at as usize };
        self.start.store(start, Ordering::Relaxed);
        (start > 1).then_some(start)
    }

    /// The offset of an address in the space.
    pub(super) fn offset(&self, at: *mut u8) -> Option<usize> {
        let start = self.start.load(Ordering::Relaxed);
        let offset = (at as usize).wrapping_sub(start);
        (start > 1 && offset < SPACE).then_some(offset)
    }
}
