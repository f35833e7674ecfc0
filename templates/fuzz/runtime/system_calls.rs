//! Names the system calls that the port makes (`system_calls.c`). A port that only computes makes none but those of memory
//! and locks.
//! Written by cargo-implfuzz.

use std::ffi::{CStr, c_char, c_int, c_long};
use std::sync::atomic::AtomicI64;

unsafe extern "C" {
    static implfuzz_in_port: u8;
    fn implfuzz_watch_system_calls(byte: *const u8, first: *mut c_long);
    fn implfuzz_system_call(words: *mut c_char, size: usize) -> c_int;
}

/// The number of the first one that failed; only the C side uses it.
static FIRST: AtomicI64 = AtomicI64::new(-1);

/// From now on, system calls of this thread fail while the port runs, unless the parent says that C makes some, too.
pub fn watch() {
    if std::env::var_os("IMPLFUZZ_SYSTEM_CALLS").is_none() {
        // SAFETY: a byte, 0 or 1, and a number, which live as long as the process.
        unsafe { implfuzz_watch_system_calls(&raw const implfuzz_in_port, FIRST.as_ptr()) };
    }
}

/// The first one that failed since the last question, in words.
pub fn made() -> Option<String> {
    let mut words = [0_u8; 64];
    // SAFETY: it writes a string that ends within these bytes.
    let made = unsafe { implfuzz_system_call(words.as_mut_ptr().cast(), words.len()) } != 0;
    let words = CStr::from_bytes_until_nul(&words).ok().filter(|_| made)?;
    Some(format!("the port makes the system call {}", words.to_string_lossy()))
}
