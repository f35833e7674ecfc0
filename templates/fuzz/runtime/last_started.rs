//! A number in a file that survives this process. It tells the parent what was running when the process
//! ended.
//! Written by cargo-implfuzz.

use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nothing is running.
pub const NONE: u64 = u64::MAX;

/// Writes the number of what runs from now on to the file IMPLFUZZ_CURRENT.
pub fn set(number: u64) {
    current().store(number, Ordering::Relaxed);
}

/// The number of what is running.
pub fn get() -> u64 {
    current().load(Ordering::Relaxed)
}

fn current() -> &'static AtomicU64 {
    static CURRENT: OnceLock<&'static AtomicU64> = OnceLock::new();
    static NOWHERE: AtomicU64 = AtomicU64::new(NONE);
    CURRENT.get_or_init(|| map().unwrap_or(&NOWHERE))
}

fn map() -> Option<&'static AtomicU64> {
    const SIZE: usize = std::mem::size_of::<AtomicU64>();
    let path = std::env::var_os("IMPLFUZZ_CURRENT")?;
    let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).ok()?;
    file.set_len(SIZE as u64).ok()?;
    // SAFETY: the file is open and has this size; the mapping stays until the process ends.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    // SAFETY: a mapping begins at a page boundary, which is aligned for any number.
    (at != libc::MAP_FAILED).then(|| unsafe { &*at.cast::<AtomicU64>() })
}
