//! Calls the C original under the guard (`guard.c`): an input that breaks it gives an error instead of ending
//! the process.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

#[repr(C)]
struct RawBroke {
    reason: *const c_char,
    file: *const c_char,
    line: c_uint,
}

unsafe extern "C" {
    fn implfuzz_guard(call: extern "C" fn(*mut c_void), argument: *mut c_void, out: *mut RawBroke) -> c_int;
    fn implfuzz_guard_ticks(allowed: c_uint, as_usual: c_int);
    fn implfuzz_guard_learn_nothing();
    fn implfuzz_guard_begin();
    fn implfuzz_guard_was_slow() -> c_int;
    fn implfuzz_held() -> c_ulong;
    fn implfuzz_guard_arm(on: c_int) -> c_int;
    fn implfuzz_guard_give_up();
}

/// The C original broke on the input; contains the reason, with the place if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broke(pub String);

extern "C" fn run<F: FnMut()>(call: *mut c_void) {
    // SAFETY: `guarded` passes its own closure, which outlives the call.
    let call = unsafe { &mut *call.cast::<F>() };
    call();
}

/// Runs `call`. It must hold nothing that needs dropping, because a jump may leave it.
pub fn guarded<F: FnMut()>(mut call: F) -> Result<(), Broke> {
    let mut broke = RawBroke { reason: std::ptr::null(), file: std::ptr::null(), line: 0 };
    // SAFETY: `run::<F>` gets a closure of its type; the jump crosses only frames without destructors.
    if unsafe { implfuzz_guard(run::<F>, (&raw mut call).cast(), &mut broke) } == 0 {
        return Ok(());
    }
    // SAFETY: the guard returns static strings or null.
    let text = |p: *const c_char| unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned();
    let mut reason = text(broke.reason);
    if !broke.file.is_null() {
        let file = text(broke.file);
        let file = file.rsplit('/').next().unwrap_or_default();
        reason.push_str(&format!(" at {file}:{}", broke.line));
    }
    Err(Broke(reason))
}

/// Sets the time limit for a call of the original, in milliseconds of processor time (steps of 4).
pub fn allow(millis: u32) {
    ALLOWED.store(millis, Ordering::Relaxed);
    // SAFETY: sets numbers.
    unsafe { implfuzz_guard_ticks(millis.div_ceil(4), 1) };
}

/// From now on each call has the whole time limit, however many hung.
pub fn learn_nothing() {
    // SAFETY: sets a number.
    unsafe { implfuzz_guard_learn_nothing() };
}

/// Starts another input.
pub fn begin() {
    // SAFETY: sets a number.
    unsafe { implfuzz_guard_begin() };
}

/// Whether a call of the original on this input used so much of its time that it may exceed the limit next
/// time.
pub fn was_slow() -> bool {
    // SAFETY: reads numbers.
    unsafe { implfuzz_guard_was_slow() != 0 }
}

static ALLOWED: AtomicU32 = AtomicU32::new(100);

/// Runs calls with four times the time limit, because a call that was just in time may take longer again.
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

/// Number of allocated blocks that are not freed, counted from the first call on.
pub fn held() -> i64 {
    // SAFETY: reads a number.
    unsafe { implfuzz_held() as i64 }
}

/// The value of `errno` before calls of the functions under test.
static ERRNO_ON_ENTRY: AtomicI32 = AtomicI32::new(0);

/// The largest value that Linux gives `errno`.
const LAST_ERRNO: u64 = 133;

/// A value of `errno` before calls, from a hash: 0 in half of the cases, else any value that an earlier call may have left,
/// and sometimes one that no call leaves.
fn left_over(hash: u64) -> c_int {
    match hash >> 32 & 0xff {
        0..0x80 => 0,
        0x80 => 12345,
        _ => 1 + ((hash >> 40) % LAST_ERRNO) as c_int,
    }
}

/// Chooses `errno` for an input's calls. It depends on the input alone, so that each process chooses the same
/// value.
#[inline]
pub fn choose_errno(input: &[u8]) {
    if ERRNO_IS_ZERO.load(Ordering::Relaxed) {
        return;
    }
    // Hash only both ends and the length, because inputs may be long and this runs for each.
    let (head, tail) = (&input[..input.len().min(32)], &input[input.len().saturating_sub(32)..]);
    let mut hash = input.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for chunk in head.chunks(8).chain(tail.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
    }
    ERRNO_ON_ENTRY.store(left_over(hash), Ordering::Relaxed);
}

static ERRNO_IS_ZERO: AtomicBool = AtomicBool::new(false);

/// From now on all calls start with `errno` 0, as in tests.
pub fn keep_errno_zero() {
    ERRNO_IS_ZERO.store(true, Ordering::Relaxed);
    ERRNO_ON_ENTRY.store(0, Ordering::Relaxed);
}

/// The value of `errno` before this input's calls.
#[inline]
pub fn errno_on_entry() -> c_int {
    ERRNO_ON_ENTRY.load(Ordering::Relaxed)
}

/// Sets `errno` directly before a call of either side.
#[inline]
pub fn enter() {
    set_errno(errno_on_entry());
}

#[inline]
fn set_errno(value: c_int) {
    // SAFETY: libc returns a valid pointer to this thread's errno.
    unsafe { *libc::__errno_location() = value };
}

#[inline]
pub fn errno() -> c_int {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() }
}

/// Skips the input if the original is running, because its call does not end.
pub fn give_up() {
    // SAFETY: the jump crosses only frames without destructors, as for every skipped input.
    unsafe { implfuzz_guard_give_up() };
}

/// Arms or disarms the guard while the original runs, and returns the earlier state. No jump may leave Rust
/// code that the original calls. Outside a guarded call the guard stays disarmed.
pub fn arm(on: bool) -> bool {
    // SAFETY: sets a flag.
    unsafe { implfuzz_guard_arm(c_int::from(on)) != 0 }
}
