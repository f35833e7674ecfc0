//! Calls of the C original under the guard (`guard.c`): an input that breaks it is a value, not the end.

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

/// What the functions under test find in `errno`.
static ERRNO_ON_ENTRY: AtomicI32 = AtomicI32::new(0);

/// What may stand there: nothing half of the time, else the left-over of an earlier call. E2BIG is none of them.
const LEFT_OVERS: [c_int; 16] = [
    0,
    libc::ERANGE,
    0,
    libc::EINVAL,
    0,
    libc::ENOMEM,
    0,
    libc::ERANGE,
    0,
    libc::EDOM,
    0,
    libc::EINTR,
    0,
    libc::ENOENT,
    0,
    12345,
];

/// Chooses what an input's calls find in `errno`: by the input alone, so that each process chooses the same.
#[inline]
pub fn choose_errno(input: &[u8]) {
    if ERRNO_IS_ZERO.load(Ordering::Relaxed) {
        return;
    }
    // Both ends and the length are enough: inputs may be long, and this is done for each.
    let (head, tail) = (&input[..input.len().min(32)], &input[input.len().saturating_sub(32)..]);
    let mut hash = input.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for chunk in head.chunks(8).chain(tail.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
    }
    ERRNO_ON_ENTRY.store(LEFT_OVERS[(hash >> 60) as usize], Ordering::Relaxed);
}

static ERRNO_IS_ZERO: AtomicBool = AtomicBool::new(false);

/// From here on all calls find 0 in `errno`, as in tests that people read.
pub fn keep_errno_zero() {
    ERRNO_IS_ZERO.store(true, Ordering::Relaxed);
    ERRNO_ON_ENTRY.store(0, Ordering::Relaxed);
}

/// What the calls of this input find in `errno`.
#[inline]
pub fn errno_on_entry() -> c_int {
    ERRNO_ON_ENTRY.load(Ordering::Relaxed)
}

/// Right before each call of either side.
#[inline]
pub fn enter() {
    set_errno(errno_on_entry());
}

/// Sets `errno`.
#[inline]
fn set_errno(value: c_int) {
    // SAFETY: libc gives a valid pointer to this thread's errno.
    unsafe { *libc::__errno_location() = value };
}

/// Reads `errno`.
#[inline]
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
