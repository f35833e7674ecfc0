//! Memory that is handed to one side: a copy of its own, with canaries around it where no sanitizer watches.

use super::loans::{self, Within};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::marker::PhantomData;

const CANARY: u8 = 0xa5;

/// `len` elements, and `pad` more before and behind them that nobody may write.
pub struct Region<T: Copy> {
    base: *mut u8,
    layout: Layout,
    pad: usize,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Region<T> {
    /// For the C original: exactly as long as promised, so that ASan sees every step outside.
    pub fn exact(values: &[T]) -> Self {
        Self::new(values, 0)
    }

    /// For the port: canaries on both sides. The pad is longer by up to seven elements, by the number of elements, so
    /// that a port which counts on more alignment than `T` has is found out.
    pub fn padded(values: &[T]) -> Self {
        Self::new(values, (64 / std::mem::size_of::<T>().max(1)).max(2) + values.len() % 8)
    }

    /// As [`Region::padded`], with the alignment that any C type may count on.
    pub fn aligned(values: &[T]) -> Self {
        Self::new(values, 64)
    }

    /// Its place and its size in bytes, by name.
    pub fn known(&self, name: &'static str) -> (&'static str, *const std::ffi::c_void, usize) {
        (name, self.start().cast_const().cast(), self.len * std::mem::size_of::<T>())
    }

    fn new(values: &[T], pad: usize) -> Self {
        let layout = Layout::array::<T>(values.len() + 2 * pad).expect("harness buffers are small");
        let base = if layout.size() == 0 {
            layout.align() as *mut u8
        } else {
            take(layout, within::<T>(pad, values.len()))
        };
        let region = Self { base, layout, pad, len: values.len(), of: PhantomData };
        // SAFETY: the block has room for the pads and the values.
        unsafe {
            std::ptr::write_bytes(base, CANARY, layout.size());
            std::ptr::copy_nonoverlapping(values.as_ptr(), region.start(), values.len());
        }
        region
    }

    fn start(&self) -> *mut T {
        self.base.cast::<T>().wrapping_add(self.pad)
    }

    /// The first element, for C and for ports with C's signature.
    pub fn ptr(&self) -> *mut T {
        self.start()
    }

    /// The elements.
    pub fn slice(&self) -> &[T] {
        // SAFETY: `len` elements were written at `start`, and this region owns them.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }

    /// The elements.
    pub fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }

    /// Whether the canaries are untouched.
    pub fn intact(&self) -> bool {
        let pad = self.pad * std::mem::size_of::<T>();
        let value = self.len * std::mem::size_of::<T>();
        // SAFETY: pads and values together are the block.
        let block = unsafe { std::slice::from_raw_parts(self.base, self.layout.size()) };
        let is_whole = |pad: &[u8]| pad.chunks(64).all(|part| *part == [CANARY; 64][..part.len()]);
        is_whole(&block[..pad]) && is_whole(&block[pad + value..])
    }
}

impl<T: Copy> Drop for Region<T> {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with these.
            unsafe { give(self.base, self.layout, within::<T>(self.pad, self.len)) };
        }
    }
}

/// Where the values are in a block with canaries; none without.
fn within<T>(pad: usize, len: usize) -> Option<Within> {
    let size = std::mem::size_of::<T>();
    (pad > 0).then_some(Within { offset: pad * size, size: len * size })
}

/// A block that the sanitizer watches, or one in which canaries do.
fn take(layout: Layout, within: Option<Within>) -> *mut u8 {
    if let Some(within) = within {
        // SAFETY: harnesses run on one thread, and the size is not zero.
        return unsafe { loans::lend(layout, within) };
    }
    // SAFETY: the size is not zero.
    let base = unsafe { System.alloc(layout) };
    if base.is_null() {
        handle_alloc_error(layout);
    }
    base
}

/// # Safety
/// [`take`] gave it for these, and nobody uses it any more.
unsafe fn give(base: *mut u8, layout: Layout, within: Option<Within>) {
    match within {
        // SAFETY: as the caller promises.
        Some(within) => unsafe { loans::take_back(base, layout, within) },
        // SAFETY: as the caller promises.
        None => unsafe { System.dealloc(base, layout) },
    }
}
