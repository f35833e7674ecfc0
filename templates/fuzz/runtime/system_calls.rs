//! Names the system calls that the port makes (`system_calls.c`). A port that only computes makes none but those of memory
//! and locks.
//! Written by cargo-implfuzz.

use std::ffi::{CStr, c_char, c_long};
use std::sync::atomic::AtomicI64;

unsafe extern "C" {
    static implfuzz_in_port: u8;
    fn implfuzz_watch_system_calls(byte: *const u8, first: *mut c_long);
    fn implfuzz_system_call() -> *const c_char;
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
    // SAFETY: a static string, or null.
    let name = unsafe {
        let name = implfuzz_system_call();
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }?;
    Some(format!("the port makes the system call `{}`", name.to_string_lossy()))
}
