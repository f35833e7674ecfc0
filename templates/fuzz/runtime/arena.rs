//! Memory blocks by size class, outside the sanitizer, allocated and freed in a few steps.
//! Written by cargo-implfuzz.

use super::reserved_memory::{READ_WRITE, SPACE, Space};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

const PART: usize = SPACE / 16;
const PAGE: usize = 4096;
/// Classes of blocks from 16 bytes to 64 KiB, each twice as long as the one before. Longer blocks do not come
/// from here.
const CLASSES: usize = 13;
const SHORTEST: usize = 16;
/// Number of attempts to get the lock. The holder may never release it, if a signal interrupted it.
const PATIENCE: usize = 1 << 16;

/// Blocks in size classes. Each class has a part of the space and a list of free blocks.
pub(super) struct Arena {
    space: Space,
    /// Set while a class is being changed; other threads seldom allocate.
    busy: AtomicBool,
    kinds: UnsafeCell<[Kind; CLASSES]>,
}

/// The blocks of one length.
struct Kind {
    free: *mut Free,
    /// Number of bytes in its part that were ever used.
    used: usize,
}

/// A free block.
struct Free {
    next: *mut Free,
}

// SAFETY: `kinds` is accessed only by the thread that has set `busy`.
unsafe impl Sync for Arena {}

impl Arena {
    pub(super) const fn new() -> Self {
        let kinds = UnsafeCell::new([const { Kind { free: null_mut(), used: 0 } }; CLASSES]);
        Self { space: Space::new(), busy: AtomicBool::new(false), kinds }
    }

    /// Changes a class, one thread at a time; `None` if another thread does not release the lock.
    fn with<R>(&self, class: usize, change: impl FnOnce(&mut Kind) -> R) -> Option<R> {
        let take = || self.busy.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if !(0..PATIENCE).any(|_| take()) {
            return None;
        }
        // SAFETY: no other thread has set `busy`.
        let kinds = unsafe { &mut *self.kinds.get() };
        let result = change(&mut kinds[class]);
        self.busy.store(false, Ordering::Release);
        Some(result)
    }

    /// Allocates a block; null if there is no space.
    pub(super) fn take(&self, class: usize) -> *mut u8 {
        let taken = self.with(class, |kind| {
            let first = kind.free;
            if !first.is_null() {
                // SAFETY: `give` initialised each block in the list.
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

    /// The class of a block of this arena.
    fn class_of(&self, at: *mut u8) -> Option<usize> {
        self.space.offset(at).map(|offset| offset / PART).filter(|class| *class < CLASSES)
    }

    pub(super) fn owns(&self, at: *mut u8) -> bool {
        self.class_of(at).is_some()
    }

    /// Frees a block; `false` if it is not from this arena.
    pub(super) fn give(&self, at: *mut u8) -> bool {
        let Some(class) = self.class_of(at) else { return false };
        // If the lock cannot be taken, the block is lost.
        self.with(class, |kind| {
            let block: *mut Free = at.cast();
            // SAFETY: the caller frees the block, so it is not used any more.
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
