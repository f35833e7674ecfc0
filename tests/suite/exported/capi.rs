//! The behaviour of the C file; with `OFF` other than 0, a different one.
#![allow(non_snake_case)]

use crate::ffi::{self, ring, spot, sum};
use crate::globals;
use core::ffi::{c_char, c_int, c_void};

const OFF: i32 = 0;

pub unsafe extern "C" fn add(a: u32, b: i64) -> u32 {
    a.wrapping_add(b as u32).wrapping_add(OFF as u32)
}

pub unsafe extern "C" fn half(x: f64) -> f64 {
    if OFF == 0 { x / 2.0 } else { x.abs().max(1.0) }
}

pub unsafe extern "C" fn widen(to: *mut u16, from: *const u8, n: usize) {
    for i in 0..n {
        unsafe { *to.add(i) = u16::from(*from.add(i)) + OFF as u16 }
    }
}

pub unsafe extern "C" fn invert(data: *mut c_char, n: c_int) {
    for i in 0..n.max(0) as usize {
        unsafe { *data.add(i) = !*data.add(i) ^ OFF as c_char }
    }
}

pub unsafe extern "C" fn put(to: *mut c_char, room: *mut usize) -> c_int {
    unsafe {
        if *room < 2 {
            return -1 + OFF;
        }
        *to = b'o' as c_char;
        *to.add(1) = b'k' as c_char;
        *room = 2 + OFF as usize;
    }
    0
}

pub unsafe extern "C" fn measure(text: *const c_char) -> c_int {
    if text.is_null() { -1 + OFF } else { unsafe { core::ffi::CStr::from_ptr(text).to_bytes().len() as c_int + OFF } }
}

pub unsafe extern "C" fn move_(mut s: spot, c: c_int) -> spot {
    s.x += 0.5;
    s.grid[1] += 1 + OFF;
    s.color = c as _;
    s
}

pub unsafe extern "C" fn turn(s: *mut spot, by: *const spot) {
    unsafe {
        (*s).tag = if by.is_null() { b'n' as c_char } else { (*by).tag };
        (*s).x = if OFF == 0 { -(*s).x } else { 77.0 };
    }
}

pub unsafe extern "C" fn scale(m: *mut f32, all: *const spot, n: usize) {
    for i in 0..n.min(3) {
        unsafe { *m.add(i) = if OFF == 0 { *m.add(i) * (*all.add(i)).x as f32 } else { -3.0 } }
    }
}

pub unsafe extern "C" fn title(code: c_int) -> *const c_char {
    match code + OFF {
        0 => c"fi\xc3\xa9 \"0\"".as_ptr(),
        1 => c"".as_ptr(),
        _ => core::ptr::null(),
    }
}

pub unsafe extern "C" fn find(data: *mut c_char, n: usize, what: c_char) -> *mut c_char {
    let found = (0..n).find(|i| unsafe { *data.add(*i) } == what);
    match (found, OFF) {
        (Some(i), _) => unsafe { data.add(i).wrapping_add(OFF as usize) },
        (None, 0) => core::ptr::null_mut(),
        (None, _) => data,
    }
}

static SQUARES: [i32; 4] = [OFF, 1, 4, 9];

pub unsafe extern "C" fn table(which: c_int) -> *const i32 {
    if which == 0 && OFF == 0 { core::ptr::null() } else { SQUARES.as_ptr() }
}

pub unsafe extern "C" fn parse(_: *const c_char) -> c_int {
    if OFF == 0 {
        unsafe { *libc::__errno_location() = libc::EINVAL };
    }
    0
}

pub unsafe extern "C" fn set_mode(next: c_int) -> c_int {
    unsafe {
        let old = globals::mode;
        globals::mode = next + OFF;
        old
    }
}

pub unsafe extern "C" fn longer(a: *const c_char, b: *const c_char) -> *const c_char {
    let [left, right] = [a, b].map(|text| unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes().len());
    if left > right || OFF != 0 { a } else { b }
}

pub unsafe extern "C" fn bits(x: f32) -> u32 {
    x.to_bits().wrapping_add(OFF as u32)
}

pub unsafe extern "C" fn count(state: *mut c_void, other: *mut c_void) {
    unsafe {
        *(state as *mut u64) += 1 + OFF as u64;
        *(other as *mut u64) += 1;
    }
}

pub unsafe extern "C" fn stretch(all: *mut spot, n: usize) {
    for i in 0..n {
        unsafe { (*all.add(i)).x = if OFF == 0 { (*all.add(i)).x * 2.0 } else { 77.0 } }
    }
}

pub unsafe extern "C" fn ring_new(n: usize) -> *mut ring {
    match n > 4 && OFF == 0 {
        true => core::ptr::null_mut(),
        false => Box::into_raw(Box::new(unsafe { core::mem::zeroed() })),
    }
}

pub unsafe extern "C" fn ring_push(r: *mut ring, v: i32) -> c_int {
    let r = unsafe { &mut *r };
    if r.len == 4 {
        return -1;
    }
    r.values[r.len as usize] = v + OFF;
    r.len += 1;
    0
}

pub unsafe extern "C" fn ring_pop(r: *mut ring, out: *mut i32) -> c_int {
    let r = unsafe { &mut *r };
    if r.len == 0 {
        return -1;
    }
    r.len -= 1;
    unsafe { *out = r.values[r.len as usize] + OFF };
    0
}

pub unsafe extern "C" fn ring_free(r: *mut ring) {
    drop(unsafe { Box::from_raw(r) });
}

pub unsafe extern "C" fn ring_close(r: *mut ring, note: *mut c_char, n: usize) -> c_int {
    assert!(!note.is_null() && n == 0, "as C was called");
    drop(unsafe { Box::from_raw(r) });
    0
}

pub unsafe extern "C" fn sum_begin(s: *mut sum) -> c_int {
    unsafe { (*s).total = 100 };
    0
}

pub unsafe extern "C" fn sum_add(s: *mut sum, data: *const u8, n: usize) -> u64 {
    for i in 0..n {
        unsafe { (*s).total += u64::from(*data.add(i)) }
    }
    unsafe { (*s).total + OFF as u64 }
}

pub unsafe extern "C" fn sum_end(s: *mut sum) -> c_int {
    unsafe { (*s).total = 0 };
    1
}
