//! How a candidate was told from C, as the judge reports it.

use crate::verdict::{Answered, OtherAnswer};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// How a candidate was told from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::FromRepr)]
#[strum(serialize_all = "kebab-case")]
#[repr(u8)]
pub enum Difference {
    Result = 1,
    Memory,
    Variable,
    Stack,
    Errno,
    Allocation,
    Crash,
    Hang,
    Exit,
    Outside,
    /// The port did not free what it took from Rust's heap.
    RustHeap,
    /// The driver ends with another result, other variables or other blocks in use.
    Whole,
    /// The port calls other functions of the driver than C, or in another order.
    Callbacks,
}

/// Where a candidate was told from C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub difference: Difference,
    pub input: PathBuf,
    /// Number of the function's call in the run on that input, from 1.
    pub call: u64,
    /// Number of the allocation that fails in this call, from 1.
    pub failing: Option<NonZeroU64>,
    /// What the system answers otherwise than it did, for both sides.
    pub other_answer: Option<OtherAnswer>,
    /// Why it may be right.
    pub excuse: Option<Excuse>,
    /// Where memory differs: the first words.
    pub places: Vec<MemoryDifference>,
    /// Where words differ that look like addresses of constants, as far as arguments lead there.
    pub excused: Vec<MemoryDifference>,
    /// The results, where they differ: their first bytes.
    pub results: Option<Words>,
    /// What a panic printed.
    pub said: String,
}

/// Why a difference may be right; as in `in_place.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::FromRepr)]
#[repr(u8)]
pub enum Excuse {
    /// Addresses, after other allocations than C's.
    Moved = 1,
    /// Addresses of constants or functions, of which C and the port have one each.
    OtherConstant,
    /// Texts that are the same, but C's constant goes on behind it, and the port's does not.
    SameStart = 4,
    /// Memory, where both end the program.
    AtEnd,
    /// Other calls of the driver's own functions.
    OtherCalls,
    /// Other memory while one of them runs.
    OtherMemory,
    /// NaNs of other bits, or integers that look like NaNs.
    OtherNans,
}

/// Where memory differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryDifference {
    /// The arguments that point to or before it, with the bytes from there, the nearest first.
    pub at: Vec<(usize, u64)>,
    /// The bytes of an aligned word of eight that differ, a bit for each.
    pub bytes: u8,
    /// The word.
    pub words: Option<Words>,
    /// How arguments or the result lead to it.
    pub way: Option<Way>,
}

/// A way over pointers to a place, as memory was before the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The argument that it begins with; without one, the result of C.
    pub argument: Option<usize>,
    /// How many bytes behind each pointer the next one is, and at last the place.
    pub offsets: Vec<u64>,
}

/// Eight bytes that C and a candidate left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// Where the place is in them.
    pub at: u8,
    pub c: [u8; 8],
    pub own: [u8; 8],
}

impl Told {
    /// Reads what `judge.c` says of a candidate that was told from C, behind its number; `file_of` knows the inputs.
    pub(super) fn read(words: &[&str], file_of: impl Fn(&str) -> PathBuf) -> Self {
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let places = word(6);
        Self {
            difference: word(0).parse().ok().and_then(Difference::from_repr).unwrap_or(Difference::Memory),
            input: file_of(word(1)),
            call: parse(word(2)) as u64,
            failing: NonZeroU64::new(parse(word(3)) as u64),
            other_answer: other_answer(word(4)),
            excuse: word(5).parse().ok().and_then(Excuse::from_repr),
            results: places.strip_prefix('=').and_then(two_words),
            excused: places.split(',').filter_map(|word| word.strip_prefix('~')).map(place).collect(),
            places: places
                .split(',')
                .filter(|word| word.contains('@') && !word.starts_with('~'))
                .map(place)
                .collect(),
            said: words.get(7..).unwrap_or_default().join(" "),
        }
    }
}

fn other_answer(word: &str) -> Option<OtherAnswer> {
    let (function, how) = word.split_once(':')?;
    let how = match how {
        "fewer" => Answered::Fewer,
        "end" => Answered::End,
        "fails" => Answered::Failure,
        _ => Answered::Other,
    };
    Some(OtherAnswer { function: function.to_owned(), how })
}

fn place(word: &str) -> MemoryDifference {
    let (at, rest) = word.split_once('@').unwrap_or((word, ""));
    let pointer = |word: &str| {
        let (argument, offset) = word.split_once(':')?;
        Some((argument.parse().ok()?, offset.parse().ok()?))
    };
    let at = at.split('+').filter_map(pointer).collect();
    let (rest, found) = rest.split_once('>').unwrap_or((rest, ""));
    let (bytes, both) = rest.split_once('=').unwrap_or((rest, ""));
    MemoryDifference { at, bytes: bytes.parse().unwrap_or(0), words: two_words(both), way: way(found) }
}

fn way(text: &str) -> Option<Way> {
    let (from, offsets) = text.split_once('.')?;
    let offsets = offsets.split('.').map(|offset| offset.parse().ok()).collect::<Option<_>>()?;
    let argument = if from == "r" { None } else { Some(from.parse().ok()?) };
    Some(Way { argument, offsets })
}

fn two_words(text: &str) -> Option<Words> {
    let mut parts = text.split(':');
    let at = parts.next()?.parse().ok().filter(|at| *at < 8)?;
    let mut word = || Some(u64::from_str_radix(parts.next()?, 16).ok()?.to_le_bytes());
    Some(Words { at, c: word()?, own: word()? })
}

/// A number, or 0.
pub(super) fn parse(word: &str) -> usize {
    word.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_judge_is_read() {
        let line = "2 3 7 0 read:fewer 0 1:16+0:816@240=4:5:a>0.16.8,?@3=0:1:2>r.40,?@4=0:1:2,~0:8@0=0:400010:400013 it panicked";
        let told = Told::read(&line.split(' ').collect::<Vec<_>>(), |input| PathBuf::from(input));
        assert_eq!((told.difference, told.call, told.failing), (Difference::Memory, 7, None));
        let answer = OtherAnswer { function: "read".into(), how: Answered::Fewer };
        assert_eq!(told.other_answer, Some(answer));
        assert_eq!((told.input, told.excuse, &*told.said), ("3".into(), None, "it panicked"));
        let words = Words { at: 4, c: 5u64.to_le_bytes(), own: 10u64.to_le_bytes() };
        let way = Way { argument: Some(0), offsets: vec![16, 8] };
        let first =
            MemoryDifference { at: vec![(1, 16), (0, 816)], bytes: 240, words: Some(words), way: Some(way) };
        assert_eq!(told.places[0], first);
        let ways: Vec<_> = told.places[1..].iter().map(|place| (place.bytes, place.way.clone())).collect();
        assert_eq!(ways, [(3, Some(Way { argument: None, offsets: vec![40] })), (4, None)]);
        let words = Words { at: 0, c: 0x400010u64.to_le_bytes(), own: 0x400013u64.to_le_bytes() };
        assert_eq!(
            told.excused,
            [MemoryDifference { at: vec![(0, 8)], bytes: 0, words: Some(words), way: None }]
        );
        assert_eq!(told.results, None);
        let result = Told::read(&["1", "1", "1", "2", "-", "1", "=0:ff:0"], |input| PathBuf::from(input));
        assert_eq!((result.excuse, result.places.len()), (Some(Excuse::Moved), 0));
        assert_eq!(result.results.unwrap().c[0], 255);
        assert_eq!(
            Told::read(&["12", "1", "1", "0", "-", "0", "-"], |input| PathBuf::from(input)).places,
            []
        );
    }
}
