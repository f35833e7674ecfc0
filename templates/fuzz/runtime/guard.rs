//! Calls of the C original under the guard (`guard.c`): an input that breaks it is a value, not the end.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

#[repr(C)]
struct RawBroke {
    reason: *const c_char,
    file: *const c_char,
    line: c_uint,
}

unsafe extern "C" {
    fn implfuzz_guard(call: extern "C" fn(*mut c_void), argument: *mut c_void, out: *mut RawBroke) -> c_int;
    fn implfuzz_guard_ticks(allowed: c_uint, as_usual: c_int);
    fn implfuzz_guard_begin();
    fn implfuzz_guard_was_slow() -> c_int;
    fn implfuzz_held() -> c_ulong;
    fn implfuzz_guard_arm(on: c_int) -> c_int;
    fn implfuzz_guard_give_up();
}

/// The C original broke on the input: the reason, with the place where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broke(pub String);

extern "C" fn run<F: FnMut()>(call: *mut c_void) {
    // SAFETY: `guarded` passes its own closure, which outlives the call.
    let call = unsafe { &mut *call.cast::<F>() };
    call();
}

/// Runs `call`, which must hold nothing that needs dropping: it may be left by a jump.
pub fn guarded<F: FnMut()>(mut call: F) -> Result<(), Broke> {
    let mut broke = RawBroke { reason: std::ptr::null(), file: std::ptr::null(), line: 0 };
    // SAFETY: `run::<F>` gets the closure that it expects; the jump crosses only frames without destructors.
    if unsafe { implfuzz_guard(run::<F>, (&raw mut call).cast(), &mut broke) } == 0 {
        return Ok(());
    }
    // SAFETY: the guard gives static strings or null.
    let text = |p: *const c_char| unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned();
    let mut reason = text(broke.reason);
    if !broke.file.is_null() {
        let file = text(broke.file);
        let file = file.rsplit('/').next().unwrap_or_default();
        reason.push_str(&format!(" at {file}:{}", broke.line));
    }
    Err(Broke(reason))
}

/// How long one call of the original may take, in milliseconds of processor time (steps of 4).
pub fn allow(millis: u32) {
    ALLOWED.store(millis, Ordering::Relaxed);
    // SAFETY: sets numbers.
    unsafe { implfuzz_guard_ticks(millis.div_ceil(4), 1) };
}

/// Another input begins.
pub fn begin() {
    // SAFETY: sets a number.
    unsafe { implfuzz_guard_begin() };
}

/// Whether a call of the original, on this input, took much of its time, so that it may be too late the next time.
pub fn was_slow() -> bool {
    // SAFETY: reads numbers.
    unsafe { implfuzz_guard_was_slow() != 0 }
}

static ALLOWED: AtomicU32 = AtomicU32::new(100);

/// Runs calls that may take four times as long: what was just in time once may not be so again.
pub fn patiently<T>(calls: impl FnOnce() -> T) -> T {
    let millis = ALLOWED.load(Ordering::Relaxed);
    let set = |millis: u32| {
        // SAFETY: sets a number.
        unsafe { implfuzz_guard_ticks(millis.div_ceil(4), 0) }
    };
    set(millis.saturating_mul(4));
    let result = calls();
    set(millis);
    result
}

/// How many blocks of memory are allocated and not freed, counted from the first call on.
pub fn held() -> i64 {
    // SAFETY: reads a number.
    unsafe { implfuzz_held() as i64 }
}

/// Sets `errno`.
pub fn set_errno(value: c_int) {
    // SAFETY: libc gives a valid pointer to this thread's errno.
    unsafe { *libc::__errno_location() = value };
}

/// Reads `errno`.
pub fn errno() -> c_int {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() }
}

/// Skips the input if the original runs: it has no end.
pub fn give_up() {
    // SAFETY: jumps over frames without destructors, as every skip does.
    unsafe { implfuzz_guard_give_up() };
}

/// Arms or disarms the guard while the original runs, and says what it was: code of ours that the original calls must not
/// be left by a jump. Outside of a guarded call it stays disarmed.
pub fn arm(on: bool) -> bool {
    // SAFETY: sets a flag.
    unsafe { implfuzz_guard_arm(c_int::from(on)) != 0 }
}
