//! Where the fuzz binary allocates. The harness' own lists, and libFuzzer's, come from an arena, past the sanitizer, which is made
//! for what C and the port do and costs more than most functions. What the port allocates comes from `malloc`, where the
//! sanitizer sees it and both sides are counted alike. All that only where the tool
//! itself builds (`implfuzz_edges`): under cargo-fuzz the sanitizer's allocator has everything. Written by cargo-implfuzz.

use super::arena::{Arena, class};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The harness' own blocks.
static ARENA: Arena = Arena::new();

unsafe extern "C" {
    /// Whether the port is running, and whether C is: guard.c's, which sets both back where C is left by a jump.
    static implfuzz_in_port: AtomicBool;
    static implfuzz_armed: AtomicI32;
}

fn in_port() -> &'static AtomicBool {
    // SAFETY: a byte, 0 or 1, which everybody changes only whole.
    unsafe { &implfuzz_in_port }
}

/// Whether a side is running, whose memory is the sanitizer's.
fn is_watched() -> bool {
    // SAFETY: as above.
    in_port().load(Ordering::Relaxed) || unsafe { implfuzz_armed.load(Ordering::Relaxed) } != 0
}

/// As long as it lives, the port is running.
pub struct Port(bool);

/// To be held while the port runs, and while what it returned is read.
pub fn port() -> Port {
    Port(in_port().swap(true, Ordering::Relaxed))
}

impl Drop for Port {
    fn drop(&mut self) {
        in_port().store(self.0, Ordering::Relaxed);
    }
}

/// The allocator of the fuzz binary.
pub struct Heap;

// SAFETY: a block is as long as its class, a power of two above length and alignment, and stands at a multiple of that in a space
// that begins at a page; everything else is the system's.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let at = own(layout);
        // SAFETY: as the caller promises.
        if at.is_null() { unsafe { System.alloc(layout) } } else { at }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let at = own(layout);
        if at.is_null() {
            // SAFETY: as the caller promises. It does not touch what it need not, which a port may count on.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: the block is as long.
        unsafe { at.write_bytes(0, layout.size()) };
        at
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !ARENA.owns(at) {
            // SAFETY: as the caller promises; it came from there.
            return unsafe { System.realloc(at, layout, size) };
        }
        // SAFETY: the caller promises a size that a layout can have.
        let fresh = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !fresh.is_null() {
            // SAFETY: both blocks are as long, and one is new.
            unsafe {
                std::ptr::copy_nonoverlapping(at, fresh, layout.size().min(size));
                self.dealloc(at, layout);
            }
        }
        fresh
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if !ARENA.give(at) {
            // SAFETY: as the caller promises; it came from there.
            unsafe { System.dealloc(at, layout) };
        }
    }
}

/// A block of the arena for the harness; null where a side is running, or there is no room.
fn own(layout: Layout) -> *mut u8 {
    match class(layout.size(), layout.align()) {
        Some(class) if !is_watched() => ARENA.take(class),
        _ => null_mut(),
    }
}

/// C++'s operators, which only libFuzzer uses: it copies every input to a block of its own.
#[cfg(implfuzz_edges)]
mod operators {
    use super::{ARENA, class};
    use std::ptr::null_mut;

    #[unsafe(no_mangle)]
    extern "C" fn _Znwm(size: usize) -> *mut u8 {
        let at = class(size, 1).map_or(null_mut(), |class| ARENA.take(class));
        // SAFETY: asks for memory.
        let at = if at.is_null() { unsafe { libc::malloc(size.max(1)) }.cast() } else { at };
        if at.is_null() { std::process::abort() } else { at }
    }

    #[unsafe(no_mangle)]
    extern "C" fn _Znam(size: usize) -> *mut u8 {
        _Znwm(size)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdlPv(at: *mut u8) {
        if !ARENA.give(at) {
            // SAFETY: it came from there, or is null.
            unsafe { libc::free(at.cast()) };
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdaPv(at: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { _ZdlPv(at) };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdlPvm(at: *mut u8, _size: usize) {
        // SAFETY: as the caller promises.
        unsafe { _ZdlPv(at) };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdaPvm(at: *mut u8, _size: usize) {
        // SAFETY: as the caller promises.
        unsafe { _ZdlPv(at) };
    }
}
