//! Fuzz input to values and back: `decode` takes any bytes, `encode` is its inverse. Written by cargo-implfuzz.
//!
//! Not in the runtime: the library's own types are values, too, and only this crate can say how. What is for one type alone
//! is compiled where it is used.

use crate::runtime::codec::{Reader, Writer, boundary_bytes, show_bytes, show_elements, shown};
use crate::runtime::digest::Digest;
use crate::runtime::plain::{self, Fields, Plain};

/// A value that can be decoded, encoded, compared and shown.
pub trait Value: Clone {
    /// How many bytes of input it takes.
    const WIDTH: usize;
    fn decode(reader: &mut Reader) -> Self;
    fn encode(&self, writer: &mut Writer);
    /// Equality of behaviour: floats bit by bit with one NaN, structs field by field.
    fn same(&self, other: &Self) -> bool;
    fn show(&self) -> String;
    /// As the parent reads and writes it.
    fn plain(&self) -> Plain;
    fn of_plain(plain: &Plain) -> Result<Self, String>;
    /// Adds the value to a hash: the same for values that are the same.
    fn digest(&self, digest: &mut Digest) {
        let mut writer = Writer::default();
        self.encode(&mut writer);
        digest.bytes(&writer.bytes);
    }
    /// Values worth trying first.
    fn boundaries() -> Vec<Self>;
    /// `n` of them. Byte after byte, each step counted for coverage, would cost more than most functions do.
    fn decode_many(reader: &mut Reader, n: usize) -> Vec<Self> {
        (0..n).map(|_| Self::decode(reader)).collect()
    }
    /// Element by element.
    fn all_same(a: &[Self], b: &[Self]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
    }
    /// The byte that it is, where it is one.
    fn byte(&self) -> Option<u8> {
        None
    }
}

/// `n` numbers from their bytes, padded with zeros.
///
/// # Safety
/// Every pattern of bytes must be a value of `T`.
unsafe fn numbers<T: Copy + Default>(reader: &mut Reader, n: usize) -> Vec<T> {
    const { assert!(cfg!(target_endian = "little"), "inputs are little-endian, as the machine must be") };
    let bytes = reader.take(n * std::mem::size_of::<T>());
    let mut all = vec![T::default(); n];
    // SAFETY: `all` has at least as many bytes, and all of them may be anything.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), all.as_mut_ptr().cast::<u8>(), bytes.len()) };
    all
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Value for $t {
            const WIDTH: usize = std::mem::size_of::<$t>();
            #[inline]
            fn decode(reader: &mut Reader) -> Self {
                Self::from_le_bytes(reader.array())
            }
            #[inline]
            fn encode(&self, writer: &mut Writer) {
                writer.put(&self.to_le_bytes());
            }
            #[inline]
            fn same(&self, other: &Self) -> bool {
                self == other
            }
            #[inline]
            fn show(&self) -> String {
                self.to_string()
            }
            fn plain(&self) -> Plain {
                Plain::Integer(*self as i128)
            }
            fn of_plain(plain: &Plain) -> Result<Self, String> {
                let number = if size_of::<$t>() == 1 { plain.of_a_byte()? } else { plain.integer()? };
                <$t>::try_from(number).map_err(|_| format!("{number} is no {}", stringify!($t)))
            }
            fn byte(&self) -> Option<u8> {
                (size_of::<$t>() == 1).then_some(*self as u8)
            }
            #[inline]
            fn digest(&self, digest: &mut Digest) {
                digest.bytes(&self.to_le_bytes());
            }
            #[inline]
            fn decode_many(reader: &mut Reader, n: usize) -> Vec<Self> {
                // SAFETY: an integer.
                unsafe { numbers(reader, n) }
            }
            #[inline]
            fn all_same(a: &[Self], b: &[Self]) -> bool {
                a == b
            }
            #[inline]
            fn boundaries() -> Vec<Self> {
                let half = <$t>::MAX / 2;
                vec![0, 1, 2, <$t>::MIN, <$t>::MAX, <$t>::MIN.wrapping_add(1), <$t>::MAX - 1, half, half + 1,
                     (0 as $t).wrapping_sub(1), (0 as $t).wrapping_sub(2), 7, 10, 31, 32, 63, 64, b'a' as $t, b'0' as $t]
            }
        }
    )*};
}
integers!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize, u128, i128);

macro_rules! floats {
    ($($t:ty: $bits:path, $of_bits:path;)*) => {$(
        impl Value for $t {
            const WIDTH: usize = std::mem::size_of::<$t>();
            #[inline]
            fn decode(reader: &mut Reader) -> Self {
                Self::from_le_bytes(reader.array())
            }
            #[inline]
            fn encode(&self, writer: &mut Writer) {
                writer.put(&self.to_le_bytes());
            }
            #[inline]
            fn same(&self, other: &Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
            #[inline]
            fn show(&self) -> String {
                format!("{self:?} (bits {:#x})", self.to_bits())
            }
            fn plain(&self) -> Plain {
                Plain::Float($bits(*self))
            }
            fn of_plain(plain: &Plain) -> Result<Self, String> {
                match plain.meant()? {
                    Plain::Float(bits) => match $of_bits(*bits) {
                        value if value.is_infinite() && f64::from_bits(*bits).is_finite() => {
                            Err(format!("{} is no {}", f64::from_bits(*bits), stringify!($t)))
                        }
                        value => Ok(value),
                    },
                    Plain::Integer(number) => Ok(*number as $t),
                    _ => Err(format!("a float is wanted, not {}", plain.kind())),
                }
            }
            #[inline]
            fn digest(&self, digest: &mut Digest) {
                let one_nan = if self.is_nan() { <$t>::NAN } else { *self };
                digest.bytes(&one_nan.to_le_bytes());
            }
            #[inline]
            fn decode_many(reader: &mut Reader, n: usize) -> Vec<Self> {
                // SAFETY: a float.
                unsafe { numbers(reader, n) }
            }
            #[inline]
            fn boundaries() -> Vec<Self> {
                vec![0.0, -0.0, 1.0, -1.0, 0.5, 1e10, <$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE, <$t>::INFINITY,
                     <$t>::NEG_INFINITY, <$t>::NAN, <$t>::EPSILON]
            }
        }
    )*};
}
floats!(f32: plain::of_single, plain::single; f64: f64::to_bits, f64::from_bits;);

impl Value for bool {
    const WIDTH: usize = 1;
    #[inline]
    fn decode(reader: &mut Reader) -> Self {
        reader.array::<1>()[0] & 1 == 1
    }
    #[inline]
    fn encode(&self, writer: &mut Writer) {
        writer.put(&[u8::from(*self)]);
    }
    #[inline]
    fn same(&self, other: &Self) -> bool {
        self == other
    }
    #[inline]
    fn show(&self) -> String {
        self.to_string()
    }
    fn plain(&self) -> Plain {
        Plain::Integer(i128::from(*self))
    }
    fn of_plain(plain: &Plain) -> Result<Self, String> {
        match plain.integer()? {
            0 => Ok(false),
            1 => Ok(true),
            number => Err(format!("{number} is no bool")),
        }
    }
    #[inline]
    fn boundaries() -> Vec<Self> {
        vec![false, true]
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    const WIDTH: usize = N * T::WIDTH;
    fn decode(reader: &mut Reader) -> Self {
        std::array::from_fn(|_| T::decode(reader))
    }
    fn encode(&self, writer: &mut Writer) {
        for element in self {
            element.encode(writer);
        }
    }
    fn same(&self, other: &Self) -> bool {
        slices_same(self, other)
    }
    fn show(&self) -> String {
        show_slice(self)
    }
    fn plain(&self) -> Plain {
        plain_slice(self)
    }
    fn of_plain(plain: &Plain) -> Result<Self, String> {
        let list: Vec<T> = buffer_of(plain)?;
        let n = list.len();
        list.try_into().map_err(|_| format!("{n} elements, and {N} are wanted"))
    }
    fn digest(&self, digest: &mut Digest) {
        for element in self {
            element.digest(digest);
        }
    }
    fn boundaries() -> Vec<Self> {
        // Once: an array of arrays may have a hundred thousand elements.
        let values = T::boundaries();
        let list =
            |offset: usize| std::array::from_fn(|at| values.get(at + offset).unwrap_or(&values[0]).clone());
        let all = |value: &T| std::array::from_fn(|_| value.clone());
        values.iter().map(all).chain([list(0), list(3)]).collect()
    }
}

/// An integer that a contract can narrow.
pub trait Narrow: Value + Copy {
    fn wide(self) -> i128;
    fn narrow(wide: i128) -> Self;
    const LEAST: i128;
    const MOST: i128;
}

macro_rules! narrow {
    ($($t:ty),*) => {$(
        impl Narrow for $t {
            #[inline]
            fn wide(self) -> i128 {
                self as i128
            }
            #[inline]
            fn narrow(wide: i128) -> Self {
                wide as $t
            }
            const LEAST: i128 = <$t>::MIN as i128;
            const MOST: i128 = <$t>::MAX as i128;
        }
    )*};
}
narrow!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);

/// The value itself where the limits hold, else one within them: narrow limits would reject almost every input.
pub fn within<T: Narrow>(value: T, min: Option<i64>, max: Option<i64>) -> T {
    let low = min.map_or(T::LEAST, i128::from).max(T::LEAST);
    let high = max.map_or(T::MOST, i128::from).min(T::MOST);
    let wide = value.wide();
    if low > high || (low..=high).contains(&wide) {
        return value;
    }
    T::narrow(low + (wide - low).rem_euclid(high - low + 1))
}

/// Values within the limits worth trying first, the limits among them.
pub fn boundaries_within<T: Narrow>(min: Option<i64>, max: Option<i64>) -> Vec<T> {
    let limits = [min, max].into_iter().flatten().map(|limit| T::narrow(i128::from(limit)));
    limits.chain(T::boundaries()).map(|value| within(value, min, max)).collect()
}

/// Element by element.
pub fn slices_same<T: Value>(a: &[T], b: &[T]) -> bool {
    T::all_same(a, b)
}

/// A buffer as a person reads it: bytes as a byte string, other elements as a list.
pub fn show_slice<T: Value>(slice: &[T]) -> String {
    let mut writer = Writer::default();
    slice.iter().for_each(|element| element.encode(&mut writer));
    if T::WIDTH == 1 {
        return show_bytes(&writer.bytes);
    }
    let first = slice.iter().take(shown(&writer.bytes, T::WIDTH));
    show_elements(&first.map(Value::show).collect::<Vec<String>>(), slice.len())
}

/// A buffer of at most `max` elements.
pub fn decode_buffer<T: Value>(reader: &mut Reader, max: usize, last: bool) -> Vec<T> {
    let size = T::WIDTH.max(1);
    // The last buffer takes what is left: no length to get wrong by mutation.
    let n = if last { (reader.left().div_ceil(size)).min(max) } else { reader.length(max) };
    // A length beyond the input is no reason to invent content.
    let n = n.min(reader.left().div_ceil(size));
    T::decode_many(reader, n)
}

/// The inverse of [`decode_buffer`].
pub fn encode_buffer<T: Value>(writer: &mut Writer, buffer: &[T], max: usize, last: bool) {
    if !last {
        writer.length(buffer.len(), max);
    }
    for element in buffer {
        element.encode(writer);
    }
}

/// The elements that [`decode_output`] stands for.
pub fn fill<T: Value>(n: usize, seed: [u8; 4]) -> Vec<T> {
    let size = T::WIDTH.max(1);
    T::decode_many(&mut Reader::new(&seed.repeat((n * size).div_ceil(4))), n)
}

/// Buffers worth trying first.
pub fn boundary_buffers<T: Value>(max: usize, around: &[usize]) -> Vec<Vec<T>> {
    let all = boundary_bytes(T::WIDTH, max, around);
    all.iter().map(|bytes| T::decode_many(&mut Reader::new(bytes), bytes.len() / T::WIDTH.max(1))).collect()
}

/// Makes a buffer `n` elements long, by leaving out or by repeating.
pub fn fit<T: Value + Copy>(buffer: &mut Vec<T>, n: usize) {
    if buffer.is_empty() {
        buffer.push(T::decode(&mut Reader::new(&[])));
    }
    *buffer = buffer.iter().copied().cycle().take(n).collect();
}

/// As [`fit`] for a text, which has no NUL.
pub fn fit_text(text: &mut Vec<u8>, n: usize) {
    if text.is_empty() {
        text.push(b'a');
    }
    fit(text, n);
}

/// Uses a value where it lies; if its address is not aligned, a copy on the heap. It never moves through the stack,
/// which may be smaller than an array.
///
/// # Safety
/// A value must be there, at any address.
pub unsafe fn in_place<T, R>(at: *const T, uses: impl FnOnce(&T) -> R) -> R {
    if at.is_aligned() {
        // SAFETY: by the caller's promise.
        return uses(unsafe { &*at });
    }
    let mut copy = Box::<T>::new_uninit();
    // SAFETY: the box has room for the value, and is one then.
    let copy = unsafe {
        std::ptr::copy_nonoverlapping(at.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size_of::<T>());
        copy.assume_init()
    };
    uses(&copy)
}

/// The width of what a field accessor gives; lets generated code speak of a field without naming its type. By value:
/// fields of packed structs cannot be borrowed.
pub const fn width_of<S, T: Value>(_field: fn(&S) -> T) -> usize {
    T::WIDTH
}

/// Boundary values of the type of an example.
pub fn boundaries_like<T: Value>(_example: T) -> Vec<T> {
    T::boundaries()
}

/// One of the values that the C text looks for, a small number, or any: a function that is one step among many should
/// mostly get what it can do something with.
pub fn decode_likely<T: Narrow>(reader: &mut Reader, likely: &[i64]) -> T {
    let tag = reader.array::<1>()[0];
    match tag {
        0xff => T::decode(reader),
        0xf0.. => T::narrow(i128::from(i8::decode(reader))),
        _ if likely.is_empty() => T::narrow(i128::from(u8::decode(reader))),
        _ => T::narrow(i128::from(likely[usize::from(tag) % likely.len()])),
    }
}

/// The inverse of [`decode_likely`].
pub fn encode_likely<T: Narrow>(writer: &mut Writer, value: T, likely: &[i64]) {
    let (wide, at) = (value.wide(), likely.iter().position(|l| T::narrow(i128::from(*l)).same(&value)));
    match at {
        Some(at) => writer.put(&[at as u8]),
        None if likely.is_empty() && (0..256).contains(&wide) => writer.put(&[0, wide as u8]),
        None if T::narrow(i128::from(wide as i8)).same(&value) => writer.put(&[0xf0, wide as u8]),
        None => {
            writer.put(&[0xff]);
            value.encode(writer);
        }
    }
}

/// The values that the C text looks for, and then the usual ones.
pub fn boundaries_likely<T: Narrow>(likely: &[i64]) -> Vec<T> {
    likely.iter().map(|value| T::narrow(i128::from(*value))).chain(T::boundaries()).collect()
}

/// A buffer as the parent reads it: bytes where its elements are.
pub fn plain_slice<T: Value>(slice: &[T]) -> Plain {
    let bytes: Option<Vec<u8>> = slice.iter().map(Value::byte).collect();
    match bytes {
        Some(bytes) if T::WIDTH == 1 => Plain::Bytes(bytes),
        _ => Plain::List(slice.iter().map(Value::plain).collect()),
    }
}

/// The inverse of [`plain_slice`].
pub fn buffer_of<T: Value>(plain: &Plain) -> Result<Vec<T>, String> {
    match plain.meant()? {
        Plain::Bytes(bytes) if T::WIDTH == 1 => Ok(T::decode_many(&mut Reader::new(bytes), bytes.len())),
        Plain::List(list) => list.iter().map(T::of_plain).collect(),
        _ if T::WIDTH == 1 => Err(format!("bytes are wanted, not {}", plain.kind())),
        _ => Err(format!("a list is wanted, not {}", plain.kind())),
    }
}

/// Exactly `n` elements; those that are left out are zero.
pub fn filled<T: Value>(plain: &Plain, n: usize) -> Result<Vec<T>, String> {
    let mut list = buffer_of(plain)?;
    if list.len() > n {
        return Err(format!("{} elements, and there is room for {n}", list.len()));
    }
    list.resize_with(n, || T::decode(&mut Reader::new(&[])));
    Ok(list)
}

/// A field of a struct; of one that is left out the value is zero.
pub fn field<T: Value>(fields: &Fields, name: &str, zero: T) -> Result<T, String> {
    fields.read_or(name, || zero, T::of_plain)
}
