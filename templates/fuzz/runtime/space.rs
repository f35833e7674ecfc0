//! Address space that is asked for when it is first used, and of which only what is used costs memory. Written by cargo-implfuzz.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes.
pub(super) const SPACE: usize = 1 << 30;
pub(super) const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

/// Address space that is asked for when it is first used.
pub(super) struct Space {
    /// 0 before it is there, 1 where there is none.
    start: AtomicUsize,
}

impl Space {
    pub(super) const fn new() -> Self {
        Self { start: AtomicUsize::new(0) }
    }

    /// Its first address; none where the system gave none. Only for one thread at a time. `access`: of all of it.
    pub(super) fn start(&self, access: libc::c_int) -> Option<usize> {
        let known = self.start.load(Ordering::Relaxed);
        if known > 0 {
            return (known > 1).then_some(known);
        }
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new memory, at an address of the system's choice.
        let at = unsafe { libc::mmap(null_mut(), SPACE, access, kind, -1, 0) };
        let start = if at == libc::MAP_FAILED { 1 } else { at as usize };
        self.start.store(start, Ordering::Relaxed);
        (start > 1).then_some(start)
    }

    /// How far into it an address is.
    pub(super) fn offset(&self, at: *mut u8) -> Option<usize> {
        let start = self.start.load(Ordering::Relaxed);
        let offset = (at as usize).wrapping_sub(start);
        (start > 1 && offset < SPACE).then_some(offset)
    }
}
