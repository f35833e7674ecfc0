//! Memory that is handed to one side: a copy of its own, with canaries around it where no sanitizer watches.

use super::loans::{self, Within};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

const CANARY: u8 = 0xa5;

/// `len` elements, and `front` more before and `back` more behind them that nobody may write.
pub struct Region<T: Copy> {
    base: *mut u8,
    layout: Layout,
    /// Elements before those that are lent, and behind them.
    front: usize,
    back: usize,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Region<T> {
    /// For the C original: exactly as long as promised, so that ASan sees every step outside. Of four lengths one stands at an
    /// odd place, as memory of the caller's may: what C does there is compared, too. Less than eight bytes before it can then be
    /// reached without anybody's seeing it.
    pub fn exact(values: &[T]) -> Self {
        let front = if values.len() % 4 == 3 { 1 + values.len() / 4 % 7 } else { 0 };
        Self::new(values, front, 0)
    }

    /// As [`Region::exact`], with the alignment that any C type may count on.
    pub fn whole(values: &[T]) -> Self {
        Self::new(values, 0, 0)
    }

    /// For the port: canaries on both sides. The pad is longer by up to seven elements, by the number of elements, so
    /// that a port which counts on more alignment than `T` has is found out.
    pub fn padded(values: &[T]) -> Self {
        let pad = (64 / std::mem::size_of::<T>().max(1)).max(2) + values.len() % 8;
        Self::new(values, pad, pad)
    }

    /// As [`Region::padded`], with the alignment that any C type may count on.
    pub fn aligned(values: &[T]) -> Self {
        Self::new(values, 64, 64)
    }

    /// Its place and its size in bytes, by name.
    pub fn known(&self, name: &'static str) -> (&'static str, *const std::ffi::c_void, usize) {
        (name, self.start().cast_const().cast(), self.len * std::mem::size_of::<T>())
    }

    fn new(values: &[T], front: usize, back: usize) -> Self {
        let layout = Layout::array::<T>(front + values.len() + back).expect("harness buffers are small");
        let base = if layout.size() == 0 {
            nowhere()
        } else {
            take(layout, within::<T>(front, back, values.len()))
        };
        let region = Self { base, layout, front, back, len: values.len(), of: PhantomData };
        // SAFETY: the block has room for the pads and the values.
        unsafe {
            std::ptr::write_bytes(base, CANARY, layout.size());
            std::ptr::copy_nonoverlapping(values.as_ptr(), region.start(), values.len());
        }
        region
    }

    fn start(&self) -> *mut T {
        self.base.cast::<T>().wrapping_add(self.front)
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
        let front = self.front * std::mem::size_of::<T>();
        let value = self.len * std::mem::size_of::<T>();
        // SAFETY: pads and values together are the block.
        let block = unsafe { std::slice::from_raw_parts(self.base, self.layout.size()) };
        let is_whole = |pad: &[u8]| pad.chunks(64).all(|part| *part == [CANARY; 64][..part.len()]);
        is_whole(&block[..front]) && is_whole(&block[front + value..])
    }
}

impl<T: Copy> Drop for Region<T> {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with these.
            unsafe { give(self.base, self.layout, within::<T>(self.front, self.back, self.len)) };
        } else {
            EMPTY.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Where the values are in a block with canaries; none without.
fn within<T>(front: usize, back: usize, len: usize) -> Option<Within> {
    let size = std::mem::size_of::<T>();
    (back > 0).then_some(Within { offset: front * size, size: len * size })
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

/// How many regions there are that have no memory.
static EMPTY: AtomicUsize = AtomicUsize::new(0);

/// An address for no memory at all, aligned for anything, where nobody can read. Each region has another one, so that a pointer
/// to one of them says to which.
fn nowhere() -> *mut u8 {
    let number = EMPTY.fetch_add(1, Ordering::Relaxed) % 128;
    (16 * (number + 1)) as *mut u8
}

/// Where a returned pointer leads: addresses themselves are another on each side. None where it is in none of these.
pub fn place(at: usize, arguments: &[Option<(&str, usize, usize)>]) -> Option<String> {
    if at == 0 {
        return Some("NULL".into());
    }
    let leads = |(name, from, size): &(&str, usize, usize)| {
        (*from..=from + size).contains(&at).then(|| format!("`{name}` + {}", at - from))
    };
    arguments.iter().flatten().find_map(leads)
}

/// Elements that a returned pointer leads to. Made before the call: what C returns is read under the guard, from which a jump
/// may leave.
pub struct Table<T> {
    held: Vec<T>,
    elements: usize,
    is_null: bool,
}

impl<T: Copy> Table<T> {
    pub fn with_room(elements: usize) -> Self {
        Self { held: Vec::with_capacity(elements), elements, is_null: true }
    }

    /// Copies them from there.
    ///
    /// # Safety
    /// Null, or so many can be read there.
    pub unsafe fn read(&mut self, from: *const T) {
        self.is_null = from.is_null();
        if !self.is_null {
            // SAFETY: as the caller promises. By the C library's function, which the sanitizer watches.
            unsafe {
                libc::memcpy(self.held.as_mut_ptr().cast(), from.cast(), self.elements * size_of::<T>());
                self.held.set_len(self.elements);
            }
        }
    }

    pub fn content(self) -> Option<Vec<T>> {
        (!self.is_null).then_some(self.held)
    }
}
