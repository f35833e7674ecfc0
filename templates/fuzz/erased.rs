//! Values for the runtime, which knows no types: as kinds, bytes and hashes. Written by cargo-implfuzz.

use crate::runtime::callback::{self, Seen};
use crate::runtime::codec::Reader;
use crate::runtime::digest::Digest;
use crate::runtime::value_kind::Kind;
use crate::runtime::points::Digits;
use crate::runtime::state::Global;
use crate::value::{Value, fill, in_place};
use std::ffi::c_void;

/// The kind of the values of a type.
pub fn kind<T: Value>() -> Kind {
    Kind {
        size: size_of::<T>(),
        decode: |reader| held(&T::decode(reader)),
        encode: |held, writer| with(held, |value: &T| value.encode(writer)),
        same: |a, b| with(a, |a: &T| with(b, |b: &T| a.same(b))),
        show: |held| with(held, T::show),
        plain: |held| with(held, T::plain),
        of_plain: |plain| Ok(held(&T::of_plain(plain)?)),
        digest: |held, digest| with(held, |value: &T| value.digest(digest)),
        boundaries: || T::boundaries().iter().map(held).collect(),
    }
}

/// A value as memory has it.
pub fn held<T>(value: &T) -> Vec<u8> {
    let mut held = vec![0; size_of::<T>()];
    // SAFETY: so many bytes are there.
    unsafe { std::ptr::copy_nonoverlapping((&raw const *value).cast(), held.as_mut_ptr(), held.len()) };
    held
}

/// Uses a value that memory has: a variable may be larger than the stack.
fn with<T, R>(held: &[u8], uses: impl FnOnce(&T) -> R) -> R {
    assert_eq!(held.len(), size_of::<T>());
    // SAFETY: so many bytes of a `T` that one side had or that was decoded.
    unsafe { in_place(held.as_ptr().cast(), uses) }
}

/// A number that a callback got.
pub fn seen<T: Value>(value: T) -> Seen {
    Seen::value(kind::<T>(), (&raw const value).cast())
}

/// A pointer to one number that a callback got.
pub fn seen_behind<T: Value>(at: *const c_void) -> Seen {
    Seen::one(kind::<T>(), at)
}

/// The next answer of a callback; zero when the input says no more.
pub fn answer<T: Value>(index: usize) -> T {
    T::decode(&mut Reader::new(callback::answers_left(index, T::WIDTH)))
}

/// The variable at these two places; `T` is what bindgen makes of the C type.
pub fn global<T: Value, U>(
    name: &'static str,
    (c, port): (*mut T, *mut U),
    vary: bool,
    values: &'static [i64],
) -> Global {
    assert_eq!(size_of::<T>(), size_of::<U>(), "`{name}` has another size in Rust");
    Global::of(name, kind::<T>(), (c.cast(), port.cast()), vary, values)
}

/// The content of an output before the call.
pub fn output<T: Value>(digits: &Digits) -> T {
    fill::<T>(1, digits.fill()).swap_remove(0)
}

/// A value, for another process.
pub fn hashed<T: Value>(value: &T) -> Digest {
    let mut digest = Digest::new();
    value.digest(&mut digest);
    digest
}

/// The same of a whole buffer; none where the argument was null.
pub fn hashed_all<T: Value>(slice: Option<&[T]>) -> Digest {
    let mut digest = Digest::new();
    digest.bytes(&slice.map_or(u64::MAX, |s| s.len() as u64).to_le_bytes());
    for element in slice.into_iter().flatten() {
        element.digest(&mut digest);
    }
    digest
}
