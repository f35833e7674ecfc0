//! Blocks past the sanitizer, by lengths: given out and taken back in a few steps. Written by cargo-implfuzz.

use super::space::{READ_WRITE, SPACE, Space};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

const PART: usize = SPACE / 16;
const PAGE: usize = 4096;
/// Blocks of 16 bytes to 64 KiB, each twice as long as the one before; there are no longer ones.
const CLASSES: usize = 13;
const SHORTEST: usize = 16;
/// Tries until another thread has changed what it changes: it may never end, where a signal has come in between.
const PATIENCE: usize = 1 << 16;

/// Blocks of certain lengths, each kind in a part of the space, with a list of those that nobody has.
pub(super) struct Arena {
    space: Space,
    /// While a kind is changed; other threads seldom allocate.
    busy: AtomicBool,
    kinds: UnsafeCell<[Kind; CLASSES]>,
}

/// What is known of the blocks of one length.
struct Kind {
    free: *mut Free,
    /// Bytes of its part that were ever given out.
    used: usize,
}

/// A block that nobody has.
struct Free {
    next: *mut Free,
}

// SAFETY: `kinds` is touched only by whoever has set `busy`.
unsafe impl Sync for Arena {}

impl Arena {
    pub(super) const fn new() -> Self {
        let kinds = UnsafeCell::new([const { Kind { free: null_mut(), used: 0 } }; CLASSES]);
        Self { space: Space::new(), busy: AtomicBool::new(false), kinds }
    }

    /// Changes a kind, one thread at a time; none where another one does not end.
    fn with<R>(&self, class: usize, change: impl FnOnce(&mut Kind) -> R) -> Option<R> {
        let take = || self.busy.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if !(0..PATIENCE).any(|_| take()) {
            return None;
        }
        // SAFETY: nobody else has set `busy`.
        let kinds = unsafe { &mut *self.kinds.get() };
        let result = change(&mut kinds[class]);
        self.busy.store(false, Ordering::Release);
        Some(result)
    }

    /// A block; null where there is no room.
    pub(super) fn take(&self, class: usize) -> *mut u8 {
        let taken = self.with(class, |kind| {
            let first = kind.free;
            if !first.is_null() {
                // SAFETY: a block in a list was written by `give`.
                kind.free = unsafe { (*first).next };
                return first.cast();
            }
            let (at, size) = (kind.used, SHORTEST << class);
            match self.space.start(READ_WRITE) {
                Some(start) if at + size <= PART => {
                    kind.used += size;
                    (start + class * PART + at) as *mut u8
                }
                _ => null_mut(),
            }
        });
        taken.unwrap_or(null_mut())
    }

    /// The class of a block of these.
    fn class_of(&self, at: *mut u8) -> Option<usize> {
        self.space.offset(at).map(|offset| offset / PART).filter(|class| *class < CLASSES)
    }

    pub(super) fn owns(&self, at: *mut u8) -> bool {
        self.class_of(at).is_some()
    }

    /// Takes a block back; false where it is none of these.
    pub(super) fn give(&self, at: *mut u8) -> bool {
        let Some(class) = self.class_of(at) else { return false };
        // Where it cannot be given back, nobody has it any more.
        self.with(class, |kind| {
            let block: *mut Free = at.cast();
            // SAFETY: the caller gives a block back, which nobody has any more.
            unsafe { block.write(Free { next: kind.free }) };
            kind.free = block;
        });
        true
    }
}

/// The class of blocks of this length and alignment.
pub(super) fn class(size: usize, align: usize) -> Option<usize> {
    let size = size.max(align).max(SHORTEST).checked_next_power_of_two()?;
    let class = (size / SHORTEST).trailing_zeros() as usize;
    (class < CLASSES && align <= PAGE).then_some(class)
}
