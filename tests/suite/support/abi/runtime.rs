//! The program that runs the probes; the check compiles it together with the generated `ffi.rs`. It prints one line
//! per difference, and at the end the number of checked functions.

mod ffi;

use std::ffi::{c_int, c_uint};
use std::mem::{MaybeUninit, size_of};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value as it was passed: what kind of type it has, and its bytes.
#[derive(Debug)]
struct Value {
    class: char,
    bytes: Vec<u8>,
}

/// What should be passed; `mask` tells the bytes of fields from padding.
pub struct Wanted {
    value: Value,
    mask: Vec<bool>,
}

static HEARD: Mutex<Vec<Value>> = Mutex::new(Vec::new());
static CHECKED: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
unsafe extern "C" fn implfuzz_heard(class: c_int, size: usize, from: *const u8) {
    let bytes = if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(from, size) } };
    HEARD.lock().unwrap().push(Value { class: class as u8 as char, bytes: bytes.to_vec() });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn implfuzz_fill(seed: c_uint, bits: c_int, size: usize, to: *mut u8) {
    for at in 0..size {
        unsafe { to.add(at).write(pattern(seed, bits != 0, at)) };
    }
}

/// Bytes that differ from argument to argument and make no NaN; for what holds a `bool` only 0 and 1.
fn pattern(seed: u32, bits: bool, at: usize) -> u8 {
    let at = at as u32;
    if bits {
        (seed.wrapping_mul(0x9e37_79b9) ^ at.wrapping_mul(0x85eb_ca6b)).count_ones() as u8 & 1
    } else {
        1 + ((seed * 31 + at * 7) % 126) as u8
    }
}

fn class<T>() -> char {
    let name = std::any::type_name::<T>();
    match name.as_bytes() {
        b"bool" => 'b',
        b"i8" | b"i16" | b"i32" | b"i64" | b"isize" => 'i',
        b"u8" | b"u16" | b"u32" | b"u64" | b"usize" => 'u',
        b"f32" | b"f64" => 'f',
        [b'*', ..] => 'p',
        _ if name.starts_with("core::option::Option<") => 'p',
        _ => 's',
    }
}

pub fn wanted<T>(seed: u32, bits: bool, mark: fn(&mut [bool], usize)) -> Wanted {
    let size = size_of::<T>();
    let bytes = (0..size).map(|at| pattern(seed, bits, at)).collect();
    let mut mask = vec![false; size];
    mark(&mut mask, 0);
    Wanted { value: Value { class: class::<T>(), bytes }, mask }
}

/// Marks a value that has no padding.
pub fn whole<T>(mask: &mut [bool], at: usize) {
    mask[at..at + size_of::<T>()].fill(true);
}

pub fn filled<T>(seed: u32, bits: bool) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    unsafe {
        implfuzz_fill(seed, bits.into(), size_of::<T>(), value.as_mut_ptr().cast());
        value.assume_init()
    }
}

pub fn heard<T>(value: &T) {
    unsafe { implfuzz_heard(class::<T>() as c_int, size_of::<T>(), (&raw const *value).cast()) };
}

/// Has both sides call the probe. Where C's types are others than Rust's, Rust does not call.
pub fn check(name: &str, wanted: &[Wanted], c: impl FnOnce(), rust: impl FnOnce()) {
    CHECKED.fetch_add(1, Ordering::Relaxed);
    c();
    if differences(name, "from C", wanted) == 0 {
        rust();
        differences(name, "from Rust", wanted);
    }
}

fn differences(name: &str, caller: &str, wanted: &[Wanted]) -> usize {
    let heard = std::mem::take(&mut *HEARD.lock().unwrap());
    if heard.len() != wanted.len() {
        println!("{name}: C has {} parameters and results, Rust has {}", heard.len(), wanted.len());
        return 1;
    }
    let pairs = heard.iter().zip(wanted).enumerate();
    let different = pairs.filter(|(index, (heard, wanted))| {
        let what = difference(heard, wanted);
        if let Some(what) = &what {
            println!("{name}: part {index} (parameters, then result) {caller}: {what}");
        }
        what.is_some()
    });
    different.count()
}

fn difference(heard: &Value, wanted: &Wanted) -> Option<String> {
    let Wanted { value, mask } = wanted;
    if (heard.class, heard.bytes.len()) != (value.class, value.bytes.len()) {
        return Some(format!(
            "C has class {} with {} bytes, Rust class {} with {} bytes",
            heard.class,
            heard.bytes.len(),
            value.class,
            value.bytes.len()
        ));
    }
    let shown = |bytes: &[u8]| -> Vec<Option<u8>> {
        bytes.iter().zip(mask).map(|(byte, counts)| counts.then_some(*byte)).collect()
    };
    let (is, should) = (shown(&heard.bytes), shown(&value.bytes));
    (is != should).then(|| format!("{is:?} instead of {should:?}"))
}

fn main() {
    ffi::implfuzz_checks();
    println!("checked {}", CHECKED.load(Ordering::Relaxed));
}
