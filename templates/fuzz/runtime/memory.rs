//! Separate memory for one side, with canaries around it where no sanitizer watches.

use super::port_memory::{self, Within};
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::marker::PhantomData;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const CANARY: u8 = 0xa5;

/// `len` elements, with `front` elements before and `back` elements after them that must not be written.
pub struct Region<T: Copy> {
    base: *mut u8,
    layout: Layout,
    /// Number of elements before and after the lent ones.
    front: usize,
    back: usize,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Region<T> {
    /// For the C original: exactly the promised length, so that ASan detects every access outside. For one
    /// length in four the address is odd, as the caller's memory may be, so that C's behaviour there is
    /// compared too. In that case, ASan does not detect accesses to fewer than eight bytes before the memory; writes there
    /// are detected by [`Region::intact`].
    pub fn exact(values: &[T]) -> Self {
        let front = if values.len() % 4 == 3 { 1 + values.len() / 4 % 7 } else { 0 };
        Self::new(values, front, 0)
    }

    /// Like [`Region::exact`], with an alignment that suits any C type.
    pub fn whole(values: &[T]) -> Self {
        Self::new(values, 0, 0)
    }

    /// For the port: canaries on both sides. The pad is up to seven elements longer, depending on the number
    /// of elements, so that a port which relies on more alignment than `T` has is detected.
    pub fn padded(values: &[T]) -> Self {
        let pad = (64 / std::mem::size_of::<T>().max(1)).max(2) + values.len() % 8;
        Self::new(values, pad, pad)
    }

    /// Like [`Region::padded`], with an alignment that suits any C type.
    pub fn aligned(values: &[T]) -> Self {
        Self::new(values, 64, 64)
    }

    /// Its name, address and size in bytes.
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

    /// The address of the first element, for C and for ports with C's signature.
    pub fn ptr(&self) -> *mut T {
        self.start()
    }

    pub fn slice(&self) -> &[T] {
        // SAFETY: `len` elements were written at `start`, and this region owns them.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }

    pub fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }

    /// Whether the canaries are untouched.
    pub fn intact(&self) -> bool {
        let front = self.front * std::mem::size_of::<T>();
        let value = self.len * std::mem::size_of::<T>();
        // SAFETY: pads and values together form the block.
        let block = unsafe { std::slice::from_raw_parts(self.base, self.layout.size()) };
        let is_whole = |pad: &[u8]| pad.chunks(64).all(|part| *part == [CANARY; 64][..part.len()]);
        is_whole(&block[..front]) && is_whole(&block[front + value..])
    }
}

impl<T: Copy> Drop for Region<T> {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with these arguments.
            unsafe { give(self.base, self.layout, within::<T>(self.front, self.back, self.len)) };
        } else {
            EMPTY.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The range of the values in a block with canaries; `None` without canaries.
fn within<T>(front: usize, back: usize, len: usize) -> Option<Within> {
    let size = std::mem::size_of::<T>();
    (back > 0).then_some(Within { offset: front * size, size: len * size })
}

/// Allocates a block that the sanitizer watches, or one with canaries.
fn take(layout: Layout, within: Option<Within>) -> *mut u8 {
    if let Some(within) = within {
        // SAFETY: harnesses run in one thread, and the size is not zero.
        return unsafe { port_memory::lend(layout, within) };
    }
    // SAFETY: the size is not zero.
    let base = unsafe { System.alloc(layout) };
    if base.is_null() {
        handle_alloc_error(layout);
    }
    base
}

/// # Safety
/// [`take`] returned the block for these arguments, and it is not used any more.
unsafe fn give(base: *mut u8, layout: Layout, within: Option<Within>) {
    match within {
        // SAFETY: by the caller's promise.
        Some(within) => unsafe { port_memory::take_back(base, layout, within) },
        // SAFETY: by the caller's promise.
        None => unsafe { System.dealloc(base, layout) },
    }
}

/// Number of regions without memory so far.
static EMPTY: AtomicUsize = AtomicUsize::new(0);

/// An unreadable address for an empty region, aligned for any type. Each region gets another one, so that a
/// pointer shows which region it belongs to. A picture would take no small number for a pointer. `AROUND` bytes on both
/// sides cannot be accessed either.
fn nowhere() -> *mut u8 {
    const APART: usize = 32;
    const AROUND: usize = 1 << 20;
    static NO_ACCESS: LazyLock<usize> = LazyLock::new(|| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which stays.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), AROUND + PAGE + AROUND, libc::PROT_NONE, flags, -1, 0) };
        assert!(at != libc::MAP_FAILED, "there is no room for addresses");
        at as usize + AROUND
    });
    let number = EMPTY.fetch_add(1, Ordering::Relaxed) % (PAGE / APART);
    (*NO_ACCESS + APART * number) as *mut u8
}

/// Where a returned pointer leads, in words, because addresses differ between the sides.
#[derive(Debug, Clone)]
pub struct Led {
    pub place: String,
    /// The number or the string there, if that is a constant; empty where C's has no end that the sanitizer knows.
    content: Vec<u8>,
}

/// What of a constant is compared: what lies behind may be something else, or another constant of the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Nothing,
    /// One number of so many bytes.
    Number(usize),
    String,
}

/// Bytes of a string that are compared.
const STRING: usize = 256;
/// A port's constant is read to the end of such a page at most: what lies behind may not be there.
const PAGE: usize = 4096;

/// Which of the two functions returned a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    ByC,
    ByPort,
}

unsafe extern "C" {
    fn implfuzz_object_rest(at: *const u8) -> usize;
}

impl Led {
    pub fn to(place: String) -> Self {
        Self { place, content: Vec::new() }
    }

    /// To a constant, a variable or a function of the program.
    pub fn to_constant(at: usize, (what, by): (Content, Returned)) -> Self {
        let rest = match by {
            // SAFETY: it only asks.
            Returned::ByC => unsafe { implfuzz_object_rest(at as *const u8) },
            Returned::ByPort => PAGE - at % PAGE,
        };
        // SAFETY: less than `rest` bytes behind it belong to the object, or are on a page of the program. Byte by byte,
        // which no sanitizer watches: behind a constant of the port may be a red zone of C's.
        let byte = |offset: usize| unsafe { ((at + offset) as *const u8).read_volatile() };
        let content = match what {
            Content::Nothing => Vec::new(),
            Content::Number(bytes) if bytes > rest => Vec::new(),
            Content::Number(bytes) => (0..bytes).map(byte).collect(),
            Content::String => {
                let text = (0..rest.min(STRING)).map(byte).take_while(|byte| *byte != 0);
                if rest == 0 { Vec::new() } else { text.chain([0]).collect() }
            }
        };
        Self { place: "a constant".into(), content }
    }

    /// For people.
    pub fn shown(&self) -> String {
        match self.content[..] {
            [] => self.place.clone(),
            _ => format!("{} (bytes {})", self.place, super::report::hex(&self.content)),
        }
    }
}

impl PartialEq for Led {
    /// Where the content is not known on both sides, it says nothing.
    fn eq(&self, other: &Self) -> bool {
        let is_known = !self.content.is_empty() && !other.content.is_empty();
        self.place == other.place && (!is_known || self.content == other.content)
    }
}

/// The target of a returned pointer in words, because addresses differ between the sides. `None` if it is in
/// none of these arguments.
pub fn place(at: usize, arguments: &[Option<(&str, usize, usize)>]) -> Option<String> {
    if at == 0 {
        return Some("NULL".into());
    }
    let leads = |(name, from, size): &(&str, usize, usize)| {
        (*from..=from + size).contains(&at).then(|| format!("`{name}` + {}", at - from))
    };
    arguments.iter().flatten().find_map(leads)
}

/// A copy of the elements behind a returned pointer. It is allocated before the call, because C's result is
/// read under the guard, and a jump may leave that code.
pub struct Table<T> {
    held: Vec<T>,
    elements: usize,
    is_null: bool,
}

impl<T: Copy> Table<T> {
    pub fn with_room(elements: usize) -> Self {
        Self { held: Vec::with_capacity(elements), elements, is_null: true }
    }

    /// Copies the elements from there.
    ///
    /// # Safety
    /// The pointer is null, or this number of elements can be read there.
    pub unsafe fn read(&mut self, from: *const T) {
        self.is_null = from.is_null();
        if !self.is_null {
            // SAFETY: by the caller's promise. The C library's function is used because the sanitizer checks
            // it.
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
