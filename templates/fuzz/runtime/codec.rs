//! Fuzz input to values and back. `decode` takes any bytes; `encode` is its inverse: decoding what was encoded gives
//! the same value. What is missing at the end reads as zero.

use super::digest::Digest;
use std::fmt::Write as _;

/// Reads values off a fuzz input.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// The next `N` bytes, padded with zeros.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let n = N.min(self.rest.len());
        bytes[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        bytes
    }

    /// The next `n` bytes, or what is left of them.
    pub fn take(&mut self, n: usize) -> &'a [u8] {
        let (head, tail) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = tail;
        head
    }

    /// A length of at most `max`, from two bytes, or four where two do not suffice.
    pub fn length(&mut self, max: usize) -> usize {
        if max <= usize::from(u16::MAX) {
            usize::from(u16::from_le_bytes(self.array())) % (max + 1)
        } else {
            u32::from_le_bytes(self.array()) as usize % (max + 1)
        }
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }
}

/// Writes values as a fuzz input.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The inverse of [`Reader::length`].
    pub fn length(&mut self, n: usize, max: usize) {
        if max <= usize::from(u16::MAX) {
            self.put(&(n as u16).to_le_bytes());
        } else {
            self.put(&(n as u32).to_le_bytes());
        }
    }
}

/// A value that can be decoded, encoded, compared and shown.
pub trait Value: Clone {
    /// How many bytes of input it takes.
    const WIDTH: usize;
    fn decode(reader: &mut Reader) -> Self;
    fn encode(&self, writer: &mut Writer);
    /// Equality of behaviour: floats bit by bit with one NaN, structs field by field.
    fn same(&self, other: &Self) -> bool;
    fn show(&self) -> String;
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
            fn decode(reader: &mut Reader) -> Self {
                Self::from_le_bytes(reader.array())
            }
            fn encode(&self, writer: &mut Writer) {
                writer.put(&self.to_le_bytes());
            }
            fn same(&self, other: &Self) -> bool {
                self == other
            }
            fn show(&self) -> String {
                self.to_string()
            }
            fn digest(&self, digest: &mut Digest) {
                digest.bytes(&self.to_le_bytes());
            }
            fn decode_many(reader: &mut Reader, n: usize) -> Vec<Self> {
                // SAFETY: an integer.
                unsafe { numbers(reader, n) }
            }
            fn all_same(a: &[Self], b: &[Self]) -> bool {
                a == b
            }
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
    ($($t:ty),*) => {$(
        impl Value for $t {
            const WIDTH: usize = std::mem::size_of::<$t>();
            fn decode(reader: &mut Reader) -> Self {
                Self::from_le_bytes(reader.array())
            }
            fn encode(&self, writer: &mut Writer) {
                writer.put(&self.to_le_bytes());
            }
            fn same(&self, other: &Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
            fn show(&self) -> String {
                format!("{self:?} (bits {:#x})", self.to_bits())
            }
            fn digest(&self, digest: &mut Digest) {
                let one_nan = if self.is_nan() { <$t>::NAN } else { *self };
                digest.bytes(&one_nan.to_le_bytes());
            }
            fn decode_many(reader: &mut Reader, n: usize) -> Vec<Self> {
                // SAFETY: a float.
                unsafe { numbers(reader, n) }
            }
            fn boundaries() -> Vec<Self> {
                vec![0.0, -0.0, 1.0, -1.0, 0.5, 1e10, <$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE, <$t>::INFINITY,
                     <$t>::NEG_INFINITY, <$t>::NAN, <$t>::EPSILON]
            }
        }
    )*};
}
floats!(f32, f64);

impl Value for bool {
    const WIDTH: usize = 1;
    fn decode(reader: &mut Reader) -> Self {
        reader.array::<1>()[0] & 1 == 1
    }
    fn encode(&self, writer: &mut Writer) {
        writer.put(&[u8::from(*self)]);
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
    fn show(&self) -> String {
        self.to_string()
    }
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
            fn wide(self) -> i128 {
                self as i128
            }
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

/// How many elements of a buffer are shown.
const SHOWN: usize = 300;

/// A buffer as a person reads it: bytes as a byte string, other elements as a list.
pub fn show_slice<T: Value>(slice: &[T]) -> String {
    let mut text = String::new();
    let bytes = T::WIDTH == 1;
    if bytes {
        text.push_str("b\"");
        for element in slice.iter().take(SHOWN) {
            let mut one = Writer::default();
            element.encode(&mut one);
            for byte in one.bytes {
                text.extend(std::ascii::escape_default(byte).map(char::from));
            }
        }
        text.push('"');
    } else {
        let list: Vec<String> = slice.iter().take(SHOWN).map(Value::show).collect();
        _ = write!(text, "[{}]", list.join(", "));
    }
    if slice.len() > SHOWN {
        text.push('…');
    }
    _ = write!(text, " ({} {})", slice.len(), if bytes { "bytes" } else { "elements" });
    text
}

/// One of `values`, by index; what is not among them maps onto them.
pub fn choose<T: Copy>(reader: &mut Reader, values: &[T]) -> T {
    values[usize::from(u16::from_le_bytes(reader.array())) % values.len()]
}

/// The inverse of [`choose`].
pub fn choice<T: PartialEq>(writer: &mut Writer, values: &[T], value: &T) {
    let index = values.iter().position(|v| v == value).unwrap_or(0);
    writer.put(&(index as u16).to_le_bytes());
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

/// A NUL-terminated string of at most `max` bytes before its NUL.
pub fn decode_string(reader: &mut Reader, max: usize, last: bool) -> Vec<u8> {
    if last {
        let bytes = reader.take(max);
        let n = std::ffi::CStr::from_bytes_until_nul(bytes).map_or(bytes.len(), |text| text.count_bytes());
        return bytes[..n].to_vec();
    }
    let mut string = Vec::new();
    while string.len() < max && reader.left() > 0 {
        match reader.array::<1>()[0] {
            0 => return string,
            byte => string.push(byte),
        }
    }
    string
}

/// The inverse of [`decode_string`].
pub fn encode_string(writer: &mut Writer, string: &[u8], max: usize, last: bool) {
    writer.put(string);
    if !last && string.len() < max {
        writer.put(&[0]);
    }
}

/// A memory of unknown content for an output: `n` elements that repeat four bytes of the input.
pub fn decode_output(reader: &mut Reader, max: usize) -> (usize, [u8; 4]) {
    (reader.length(max), reader.array())
}

/// The elements that [`decode_output`] stands for.
pub fn fill<T: Value>(n: usize, seed: [u8; 4]) -> Vec<T> {
    let size = T::WIDTH.max(1);
    T::decode_many(&mut Reader::new(&seed.repeat((n * size).div_ceil(4))), n)
}

const LENGTHS: [usize; 24] =
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257];

/// Contents that tell implementations apart: extremes of signs and carries, text, digits, encodings.
const CONTENTS: [&[u8]; 10] = [
    &[0xff],
    &[0],
    &[0x80],
    &[0x7f],
    b"The quick brown fox jumps over the lazy dog. ",
    b"0123456789abcdefABCDEF+-",
    b"-12345678 ",
    b"QUJDREVGR0g=",
    "h\u{e9}llo \u{20ac} \u{1f600}\u{7ff}".as_bytes(),
    &[1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 254, 129, 0, 77],
];

/// Lengths around which behaviour may change: small ones, powers of two, the constants of the C text, the maximum.
pub fn boundary_lengths(max: usize, around: &[usize]) -> Vec<usize> {
    let near = around.iter().flat_map(|n| [n.saturating_sub(1), *n, n + 1]);
    let mut lengths: Vec<usize> =
        LENGTHS.into_iter().chain(near).chain([max]).filter(|n| *n <= max).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Buffers worth trying first.
pub fn boundary_buffers<T: Value>(max: usize, around: &[usize]) -> Vec<Vec<T>> {
    let lengths = boundary_lengths(max, around);
    let mut all = Vec::new();
    for content in CONTENTS {
        for n in &lengths {
            let bytes: Vec<u8> = content.iter().copied().cycle().take(n * T::WIDTH).collect();
            let mut reader = Reader::new(&bytes);
            all.push((0..*n).map(|_| T::decode(&mut reader)).collect());
        }
    }
    all
}

/// Makes a buffer `n` elements long, by leaving out or by repeating.
pub fn fit<T: Value + Copy>(buffer: &mut Vec<T>, n: usize) {
    if buffer.is_empty() {
        buffer.push(T::decode(&mut Reader::new(&[])));
    }
    *buffer = buffer.iter().copied().cycle().take(n).collect();
}

/// Strings worth trying first.
pub fn boundary_strings(max: usize, around: &[usize]) -> Vec<Vec<u8>> {
    const NUMBERS: [&str; 16] = [
        "0",
        "-0",
        "+1",
        "2147483647",
        "2147483648",
        "-2147483648",
        "-2147483649",
        "9223372036854775807",
        "9223372036854775808",
        "0x1f",
        "1e3",
        " 42",
        "42 ",
        "4 2",
        "99999999999999999999",
        "*a?b*",
    ];
    let strings = boundary_buffers::<u8>(max, around).into_iter();
    let strings = strings.map(|s| s.into_iter().take_while(|b| *b != 0).collect::<Vec<u8>>());
    let mut all: Vec<_> = NUMBERS.iter().map(|n| n.as_bytes().to_vec()).filter(|n| n.len() <= max).collect();
    all.extend(strings);
    all.dedup();
    all
}

/// A string that is the same as another, or nearly so.
pub fn alike(text: &[u8], turn: usize) -> Vec<u8> {
    let mut text = text.to_vec();
    match turn % 5 {
        0 => {}
        1 => text.iter_mut().filter(|b| b.is_ascii_alphabetic()).for_each(|b| *b ^= 0x20),
        2 => drop(text.pop()),
        3 => text.reverse(),
        // Never to zero, which would end the string.
        _ => text.last_mut().into_iter().for_each(|b| *b = b.wrapping_add(1).max(1)),
    }
    text
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

/// One of the texts that the C text looks for, or any.
pub fn decode_text(reader: &mut Reader, texts: &[&str], max: usize) -> Vec<u8> {
    let tag = reader.array::<1>()[0];
    match tag {
        0..0xe0 if !texts.is_empty() => texts[usize::from(tag) % texts.len()].as_bytes().to_vec(),
        _ => decode_string(reader, max, false),
    }
}

/// The inverse of [`decode_text`].
pub fn encode_text(writer: &mut Writer, text: &[u8], texts: &[&str], max: usize) {
    match texts.iter().position(|known| known.as_bytes() == text) {
        Some(at) => writer.put(&[at as u8]),
        None => {
            writer.put(&[0xff]);
            encode_string(writer, text, max, false);
        }
    }
}
