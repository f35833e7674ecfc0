//! Converts fuzz inputs to bytes, lengths, strings and choices, and back. `decode` accepts any bytes;
//! `encode` is its inverse: decoding encoded values gives the same values. Bytes missing at the end read as
//! zero. The generated crate's `value` converts the library's own types.

pub use super::boundary_inputs::{alike, boundary_bytes, boundary_lengths, boundary_strings};
use std::sync::atomic::{AtomicU8, Ordering};

/// Extra counters for libFuzzer, in addition to code coverage: for each of the first values its size in units
/// of four bits, whether it is negative, and whether the input ends before it. So the corpus keeps accepted
/// inputs with values of all sizes.
#[cfg_attr(target_os = "linux", unsafe(link_section = "__libfuzzer_extra_counters"))]
#[used]
static SHAPES: [[AtomicU8; 32]; 32] = [const { [const { AtomicU8::new(0) }; 32] }; 32];

/// Records the size of value number `at`, of which `there` bytes are in the input.
#[inline]
fn note(at: usize, bytes: &[u8], there: usize) {
    let Some(shapes) = SHAPES.get(at) else { return };
    let negative = bytes.last().is_some_and(|last| *last >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    // The highest significant byte, and whether its upper half is significant.
    let half = |top: usize| usize::from((bytes[top] ^ fill) >= 0x10);
    let size = bytes.iter().rposition(|byte| *byte != fill).map_or(0, |top| 1 + 2 * top + half(top));
    let shape = if there < bytes.len() { 15 } else { size.min(14) + usize::from(negative) * 16 };
    shapes[shape].store(1, Ordering::Relaxed);
}

/// Reads values from a fuzz input.
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Number of values read so far.
    values: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    pub fn new(data: &'a [u8]) -> Self {
        Self { rest: data, values: 0 }
    }

    /// The next `N` bytes, padded with zeros.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let n = N.min(self.rest.len());
        bytes[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        note(self.values, &bytes, n);
        self.values += 1;
        bytes
    }

    /// The next `n` bytes, or fewer at the end of the input.
    #[inline]
    pub fn take(&mut self, n: usize) -> &'a [u8] {
        let (head, tail) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = tail;
        head
    }

    /// A length of at most `max`: two bytes, or four if `max` needs them.
    #[inline]
    pub fn length(&mut self, max: usize) -> usize {
        if max <= usize::from(u16::MAX) {
            usize::from(u16::from_le_bytes(self.array())) % (max + 1)
        } else {
            u32::from_le_bytes(self.array()) as usize % (max + 1)
        }
    }

    /// Number of bytes left.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }
}

/// An optional tail of an input: lengths to which parts of its arguments are resized after decoding
/// (`stretch.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// Whether the lengths may exceed the usual limits.
    pub is_long: bool,
    /// The parts and their numbers of elements.
    pub lengths: [(u8, u32); 2],
}

impl Tail {
    /// The marks at the end of usual and of long inputs. They differ in every byte, so that no small mutation
    /// turns one into the other.
    const MARKS: [[u8; 8]; 2] = [*b"\xf5stretch", *b"LONGEST\n"];

    /// Splits an input into the part before its tail, and the tail, if it has one.
    #[inline]
    pub fn split(input: &[u8]) -> (&[u8], Option<Self>) {
        let Some((rest, mark)) = input.split_last_chunk() else { return (input, None) };
        let kind = Self::MARKS.iter().position(|known| known == mark);
        let (Some(kind), Some((head, [a, a0, a1, a2, a3, b, b0, b1, b2, b3]))) =
            (kind, rest.split_last_chunk())
        else {
            return (input, None);
        };
        let length = |bytes: [&u8; 4]| u32::from_le_bytes(bytes.map(|byte| *byte));
        let lengths = [(*a, length([a0, a1, a2, a3])), (*b, length([b0, b1, b2, b3]))];
        (head, Some(Self { is_long: kind == 1, lengths }))
    }

    /// The input with this tail; the inverse of [`Tail::split`].
    pub fn behind(self, head: &[u8]) -> Vec<u8> {
        let mut input = head.to_vec();
        for (part, length) in self.lengths {
            input.push(part);
            input.extend(length.to_le_bytes());
        }
        input.extend(Self::MARKS[usize::from(self.is_long)]);
        input
    }
}

/// Writes values to a fuzz input.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The inverse of [`Reader::length`].
    #[inline]
    pub fn length(&mut self, n: usize, max: usize) {
        if max <= usize::from(u16::MAX) {
            self.put(&(n as u16).to_le_bytes());
        } else {
            self.put(&(n as u32).to_le_bytes());
        }
    }
}

/// Number of elements of a buffer that are shown.
pub const SHOWN: usize = 300;

/// Above this length, a buffer with repeating content is shown as one repetition.
const LONG: usize = 4096;

/// Number of elements of an encoded buffer that are shown: all up to [`SHOWN`], or one period of a long
/// buffer with repeating content.
pub fn shown(bytes: &[u8], width: usize) -> usize {
    let count = bytes.len() / width.max(1);
    let repeats = |turn: &usize| bytes[turn * width..] == bytes[..bytes.len() - turn * width];
    let turn = (1..=SHOWN).find(|turn| count > LONG && repeats(turn));
    turn.unwrap_or(count.min(SHOWN))
}

/// Bytes, for people.
pub fn show_bytes(bytes: &[u8]) -> String {
    let first = shown(bytes, 1);
    let escaped = bytes[..first].iter().flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from);
    format!("b\"{}\"{}", escaped.collect::<String>(), size(first, bytes.len(), "bytes"))
}

/// Elements, for people: `first` are the shown ones, `count` is the number of all.
pub fn show_elements(first: &[String], count: usize) -> String {
    format!("[{}]{}", first.join(", "), size(first.len(), count, "elements"))
}

fn size(first: usize, count: usize, of: &str) -> String {
    let more = match (count > first, first < SHOWN) {
        (false, _) => "",
        (true, true) => " over and over",
        (true, false) => "…",
    };
    format!("{more} ({count} {of})")
}

/// One of `values`, by index; larger indexes wrap around.
pub fn choose<T: Copy>(reader: &mut Reader, values: &[T]) -> T {
    values[usize::from(u16::from_le_bytes(reader.array())) % values.len()]
}

/// The inverse of [`choose`].
pub fn choice<T: PartialEq>(writer: &mut Writer, values: &[T], value: &T) {
    let index = values.iter().position(|v| v == value).unwrap_or(0);
    writer.put(&(index as u16).to_le_bytes());
}

/// Makes a value one of `values` if it is none of them; `number` is the value.
pub fn to_enumerator<T: Copy + PartialEq>(value: &mut T, number: usize, values: &[T]) {
    if !values.contains(value) {
        *value = values[number % values.len()];
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

/// Memory for an output: `n` elements, filled with four repeated bytes of the input.
pub fn decode_output(reader: &mut Reader, max: usize) -> (usize, [u8; 4]) {
    (reader.length(max), reader.array())
}

/// One of the texts that occur in the C text, or any text.
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
