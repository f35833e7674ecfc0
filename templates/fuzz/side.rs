//! What a fuzz target that a model wrote has to do with: the input, and one side, whichever it is. Everything else is decided
//! where no target reaches: whom a call reaches, what is compared. Written by cargo-implfuzz.

use crate::erased;
use crate::runtime::codec::Reader;
use crate::runtime::target_side::{Callee, Ground};
use crate::runtime::guard::{self, Broke};
use crate::runtime::{heap, ledger};
use crate::value::Value;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;

/// The bytes of the fuzzer, read off as values. What is missing at the end reads as zero.
pub struct Input<'a> {
    reader: Reader<'a>,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes) }
    }

    /// Any number, or array of numbers.
    pub fn value<T: Value>(&mut self) -> T {
        T::decode(&mut self.reader)
    }

    pub fn flag(&mut self) -> bool {
        self.value()
    }

    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { self.reader.length(n - 1) }
    }

    /// One of `values`, which are not empty.
    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        crate::runtime::codec::choose(&mut self.reader, values)
    }

    /// Up to `most` numbers.
    pub fn values<T: Value>(&mut self, most: usize) -> Vec<T> {
        crate::value::decode_buffer(&mut self.reader, most, false)
    }

    /// Up to `most` bytes.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        self.values(most)
    }

    /// Up to `most` bytes, none of them 0.
    pub fn text(&mut self, most: usize) -> Vec<u8> {
        crate::runtime::codec::decode_string(&mut self.reader, most, false)
    }
}

/// C or the port. `F` is the function under test, whose harness adds `call`.
pub struct Side<'g, F> {
    ground: &'g mut Ground,
    of: PhantomData<F>,
}

/// Numbers and pointers: all their bytes are theirs.
pub trait Plain: Copy + 'static {
    /// Whether the bytes mean the same on both sides.
    const IS_NUMBER: bool;
}

macro_rules! plain {
    ($($t:ty),*) => {$(impl Plain for $t { const IS_NUMBER: bool = true; })*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize, u128, i128, f32, f64);

impl<T: 'static> Plain for *mut T {
    const IS_NUMBER: bool = false;
}

impl<T: 'static> Plain for *const T {
    const IS_NUMBER: bool = false;
}

impl<F> Side<'_, F> {
    /// Memory with these numbers or pointers, exactly as long; compared after every call.
    pub fn memory<T: Plain>(&mut self, values: &[T]) -> *mut T {
        self.ground.lend(values, T::IS_NUMBER)
    }

    /// Memory for `count` structs, all zero; compared after every call, with all that it leads to.
    pub fn zeroed<T: Copy + 'static>(&mut self, count: usize) -> *mut T {
        // SAFETY: structs of C, for which zero is a value.
        let values = vec![unsafe { std::mem::zeroed::<T>() }; count];
        let at = self.ground.lend(&values, false);
        // SAFETY: memory of so many; what no field covers is zero, too.
        unsafe { at.write_bytes(0, count) };
        at
    }

    /// The same from `calloc`: memory that the function may free.
    pub fn allocate<T: Copy + 'static>(&mut self, count: usize) -> *mut T {
        ledger::watch(true);
        // SAFETY: asks for memory.
        let at = unsafe { libc::calloc(count.max(1), size_of::<T>().max(1)) };
        ledger::watch(false);
        self.ground.see_block(at as usize);
        at.cast()
    }

    /// Memory with these bytes and a 0 behind them.
    pub fn text(&mut self, text: &[u8]) -> *mut c_char {
        self.ground.lend(&[text, &[0]].concat(), true).cast()
    }

    /// Has a value compared, beside what is compared anyway.
    pub fn see<T: Value>(&mut self, what: &str, value: T) {
        self.ground.see(what, erased::kind::<T>(), erased::held(&value));
    }

    /// Has a NUL-terminated text compared; null is one of its own.
    pub fn see_text(&mut self, what: &str, text: *const c_char) {
        let bytes = match self.ground.callee() {
            _ if text.is_null() => None,
            Callee::C(_) | Callee::Nobody => {
                let mut size = 0;
                // Under the guard: a text without an end is an input on which C breaks.
                // SAFETY: C says that a text stands there.
                let ran = guard::guarded(|| size = unsafe { libc::strlen(text) });
                ended(self, ran);
                // SAFETY: so many bytes were read just now.
                Some(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) }.to_vec())
            }
            Callee::Port => {
                let _port = heap::port();
                // SAFETY: the port says so; the sanitizer sees what is not there.
                Some(unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes().to_vec())
            }
        };
        self.ground.see_text(what, bytes);
    }

    /// Has it compared where a pointer leads, and what stands there in memory that was given or allocated.
    pub fn see_pointer<T>(&mut self, pointer: *const T) {
        self.ground.see_pointer(pointer as usize);
    }
}

// What follows is for harnesses: no path of a target leads here.

/// One side, for a target.
pub fn over<F>(ground: &mut Ground) -> Side<'_, F> {
    Side { ground, of: PhantomData }
}

pub fn callee<F>(side: &Side<'_, F>) -> Callee {
    side.ground.callee()
}

/// The target cannot go on where C broke.
pub fn ended<F>(side: &mut Side<'_, F>, ran: Result<(), Broke>) {
    if let Err(Broke(why)) = ran {
        side.ground.stop(Some(why));
    }
}

/// Nobody is called.
pub fn nobody<F>(side: &mut Side<'_, F>) -> ! {
    side.ground.show_memory();
    side.ground.stop(None)
}

pub fn given<F, T: Value>(side: &mut Side<'_, F>, name: &str, value: &T) {
    side.ground.given(name, value.show());
}

/// A pointer that a call gets, or that C made.
pub fn handed<F>(side: &mut Side<'_, F>, at: *const c_void) {
    side.ground.see_block(at as usize);
}

/// A call of C beside the function under test: on the port's side it may take longer than on C's.
pub fn helped<F>(side: &mut Side<'_, F>, call: impl FnMut()) {
    ledger::watch(true);
    let ran = match callee(side) {
        Callee::Port => guard::patiently(|| guard::guarded(call)),
        Callee::C(_) | Callee::Nobody => guard::guarded(call),
    };
    ledger::watch(false);
    ended(side, ran);
}

pub fn given_pointer<F>(side: &mut Side<'_, F>, name: &str, at: *const c_void) {
    let place = side.ground.place(at as usize);
    side.ground.given(name, place);
}

/// The call is over, and what it returned was noted.
pub fn called<F>(side: &mut Side<'_, F>) {
    side.ground.called();
}

/// A slice of a safe port, from C's arguments.
///
/// # Safety
/// As C promises of them.
pub unsafe fn slice<'a, T>(start: *const T, len: usize) -> &'a [T] {
    // SAFETY: as the caller promises.
    if start.is_null() || len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, len) } }
}

/// The same to write to.
///
/// # Safety
/// As C promises of them.
pub unsafe fn slice_mut<'a, T>(start: *mut T, len: usize) -> &'a mut [T] {
    // SAFETY: as the caller promises.
    if start.is_null() || len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start, len) } }
}
