//! The allocator of the fuzz binary. Blocks of the harness and of libFuzzer come from an arena, outside the
//! sanitizer, which is only needed for C and the port and costs more than most functions. Blocks of the port
//! come from `malloc`, where the sanitizer checks them and both sides are counted in the same way. This
//! applies only to builds by the tool (`implfuzz_edges`); under cargo-fuzz the sanitizer's allocator is used
//! for everything.
//! Written by cargo-implfuzz.

use super::arena::{Arena, class};
use super::port_variables;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The blocks of the harness.
static ARENA: Arena = Arena::new();

unsafe extern "C" {
    /// Whether the port is running, and whether C is. They belong to guard.c, which resets both when a jump
    /// leaves C.
    static implfuzz_in_port: AtomicBool;
    static implfuzz_armed: AtomicI32;
}

fn in_port() -> &'static AtomicBool {
    // SAFETY: a byte, 0 or 1, which is only changed as a whole.
    unsafe { &implfuzz_in_port }
}

/// Whether a side is running; its memory comes from the sanitizer.
fn is_watched() -> bool {
    // SAFETY: as above.
    in_port().load(Ordering::Relaxed) || unsafe { implfuzz_armed.load(Ordering::Relaxed) } != 0
}

/// The port counts as running while this value lives.
pub struct Port(bool);

/// Must be held while the port runs, and while its results are read.
pub fn port() -> Port {
    Port(in_port().swap(true, Ordering::Relaxed))
}

/// Whether the port counts as running while this value lives. Unlike with [`Port`], no call begins or ends.
pub struct Turn(bool);

/// In a callback, which is the harness's, and where the harness reads there what the port has.
pub fn turn(of_port: bool) -> Turn {
    Turn(in_port().swap(of_port, Ordering::Relaxed))
}

impl Drop for Turn {
    fn drop(&mut self) {
        in_port().store(self.0, Ordering::Relaxed);
    }
}

/// The port will not return: what runs now belongs to the harness.
pub fn left() {
    in_port().store(false, Ordering::Relaxed);
}

impl Drop for Port {
    fn drop(&mut self) {
        in_port().store(self.0, Ordering::Relaxed);
        if !self.0 {
            port_variables::compare();
        }
    }
}

/// The allocator of the fuzz binary.
pub struct Heap;

// SAFETY: a block is as long as its class, a power of two that is at least length and alignment, and its
// address is a multiple of that in a space that begins at a page boundary. All other blocks come from the
// system.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let at = own(layout);
        // SAFETY: by the caller's promise.
        if at.is_null() { unsafe { System.alloc(layout) } } else { at }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let at = own(layout);
        if at.is_null() {
            // SAFETY: by the caller's promise. Unlike this allocator, the system need not write to fresh
            // memory, which a port may rely on.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: the block has this length.
        unsafe { at.write_bytes(0, layout.size()) };
        at
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !ARENA.owns(at) {
            // SAFETY: by the caller's promise; the block came from the system.
            return unsafe { System.realloc(at, layout, size) };
        }
        // SAFETY: the caller promises a size that is valid for a layout.
        let fresh = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !fresh.is_null() {
            // SAFETY: both blocks have this length, and one of them is new.
            unsafe {
                std::ptr::copy_nonoverlapping(at, fresh, layout.size().min(size));
                self.dealloc(at, layout);
            }
        }
        fresh
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if !ARENA.give(at) {
            // SAFETY: by the caller's promise; the block came from the system.
            unsafe { System.dealloc(at, layout) };
        }
    }
}

/// A block of the arena for the harness; null while a side is running, or if there is no space.
fn own(layout: Layout) -> *mut u8 {
    match class(layout.size(), layout.align()) {
        Some(class) if !is_watched() => ARENA.take(class),
        _ => null_mut(),
    }
}

/// C++'s operators, used only by libFuzzer, which copies every input to a new block.
#[cfg(implfuzz_edges)]
mod operators {
    use super::{ARENA, class};
    use std::ptr::null_mut;

    #[unsafe(no_mangle)]
    extern "C" fn _Znwm(size: usize) -> *mut u8 {
        let at = class(size, 1).map_or(null_mut(), |class| ARENA.take(class));
        // SAFETY: allocates memory.
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
            // SAFETY: it came from `malloc`, or is null.
            unsafe { libc::free(at.cast()) };
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdaPv(at: *mut u8) {
        // SAFETY: by the caller's promise.
        unsafe { _ZdlPv(at) };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdlPvm(at: *mut u8, _size: usize) {
        // SAFETY: by the caller's promise.
        unsafe { _ZdlPv(at) };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn _ZdaPvm(at: *mut u8, _size: usize) {
        // SAFETY: by the caller's promise.
        unsafe { _ZdlPv(at) };
    }
}
