//! Parts of the runtime of generated harnesses that run without a harness. The codec: every input decodes, and encoding
//! followed by decoding gives the same value. The index of pieces of memory: it finds what a search of all would.

#![allow(clippy::unwrap_used, reason = "test code")]

#[allow(dead_code, clippy::all, reason = "a template, compiled here as it is; harnesses use all of it")]
#[path = "../templates/fuzz/runtime/boundary_inputs.rs"]
mod boundary_inputs;

#[allow(dead_code, unused_imports, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/runtime/codec.rs"]
mod codec;

#[allow(dead_code, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/runtime/digest.rs"]
mod digest;

#[allow(dead_code, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/runtime/pieces.rs"]
mod pieces;

#[allow(dead_code, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/runtime/plain.rs"]
mod plain;

#[allow(dead_code, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/runtime/points.rs"]
mod points;

#[allow(dead_code, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/runtime/report.rs"]
mod report;

#[allow(dead_code, clippy::all, reason = "as above")]
#[path = "../templates/fuzz/value.rs"]
mod value;

/// Where the generated crate has them.
mod runtime {
    pub(crate) use super::{codec, digest, plain};
}

use codec::*;
use pieces::{BEFORE, Piece, PieceIndex};
use plain::Plain;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use value::*;

/// Encodes a value, with other bytes behind it, and reads it back.
fn back<T: Value>(value: &T) -> Result<(), TestCaseError> {
    let mut writer = Writer::default();
    value.encode(&mut writer);
    prop_assert_eq!(writer.bytes.len(), T::WIDTH);
    writer.put(&[0xee; 3]);
    let mut reader = Reader::new(&writer.bytes);
    let read = T::decode(&mut reader);
    prop_assert!(read.same(value), "{} became {}", value.show(), read.show());
    prop_assert_eq!(reader.left(), 3);
    Ok(())
}

/// Writes a value as the parent reads it, and reads it back.
fn plain_back<T: Value>(value: &T) -> Result<(), TestCaseError> {
    let plain = Plain::of_text(&value.plain().text());
    let read = plain.ok_or("unreadable".to_owned()).and_then(|plain| T::of_plain(&plain));
    prop_assert!(read.as_ref().is_ok_and(|read| read.same(value)), "{} is {:?}", value.show(), read.err());
    Ok(())
}

fn buffer_back<T: Value>(buffer: &[T], max: usize, last: bool) -> Result<(), TestCaseError> {
    let mut writer = Writer::default();
    encode_buffer(&mut writer, buffer, max, last);
    let mut reader = Reader::new(&writer.bytes);
    let read = decode_buffer::<T>(&mut reader, max, last);
    prop_assert!(slices_same(&read, buffer), "{} became {}", show_slice(buffer), show_slice(&read));
    prop_assert_eq!(reader.left(), 0);
    Ok(())
}

fn string_back(string: &[u8], max: usize, last: bool) -> Result<(), TestCaseError> {
    let mut writer = Writer::default();
    encode_string(&mut writer, string, max, last);
    if !last {
        writer.put(&[0xee]);
    }
    let mut reader = Reader::new(&writer.bytes);
    prop_assert_eq!(decode_string(&mut reader, max, last), string);
    prop_assert_eq!(reader.left(), usize::from(!last));
    Ok(())
}

/// Any value comes back from any bytes, and is the same after another turn.
fn any_bytes<T: Value>(data: &[u8]) -> Result<(), TestCaseError> {
    back(&T::decode(&mut Reader::new(data)))?;
    for last in [false, true] {
        let buffer = decode_buffer::<T>(&mut Reader::new(data), 20, last);
        prop_assert!(buffer.len() <= 20);
        buffer_back(&buffer, 20, last)?;
    }
    let (n, seed) = decode_output(&mut Reader::new(data), 300);
    prop_assert!(n <= 300);
    prop_assert_eq!(fill::<T>(n, seed).len(), n);
    Ok(())
}

proptest! {
    #[test]
    fn numbers_come_back(
        a: (u8, i8, u16, i16, u32, i32, u64, i64), b: (usize, isize, u128, i128, f32, f64, bool),
    ) {
        back(&a.0)?; back(&a.1)?; back(&a.2)?; back(&a.3)?;
        back(&a.4)?; back(&a.5)?; back(&a.6)?; back(&a.7)?;
        back(&b.0)?; back(&b.1)?; back(&b.2)?; back(&b.3)?;
        back(&b.4)?; back(&b.5)?; back(&b.6)?;
    }

    #[test]
    fn arrays_come_back(a: [u8; 5], b: [[i16; 3]; 2], c: [f64; 4], d: [bool; 7]) {
        back(&a)?; back(&b)?; back(&c)?; back(&d)?;
    }

    #[test]
    fn buffers_come_back(bytes: Vec<u8>, wide: Vec<i64>, pairs: Vec<[u16; 2]>, spare in 0usize..70_000, last: bool) {
        buffer_back(&bytes, bytes.len() + spare, last)?;
        buffer_back(&wide, wide.len() + spare, last)?;
        buffer_back(&pairs, pairs.len() + spare, last)?;
    }

    #[test]
    fn strings_come_back(string in prop::collection::vec(1u8.., 0..60), spare in 0usize..3, last: bool) {
        string_back(&string, string.len() + spare, last)?;
    }

    #[test]
    fn choices_come_back(values in prop::collection::btree_set(any::<i32>(), 1..20), at: prop::sample::Index) {
        let values: Vec<i32> = values.into_iter().collect();
        let value = values[at.index(values.len())];
        let mut writer = Writer::default();
        choice(&mut writer, &values, &value);
        prop_assert_eq!(choose(&mut Reader::new(&writer.bytes), &values), value);
    }

    #[test]
    fn lengths_come_back(n in 0usize..200_000, spare in 0usize..200_000) {
        let mut writer = Writer::default();
        writer.length(n, n + spare);
        prop_assert_eq!(Reader::new(&writer.bytes).length(n + spare), n);
    }

    #[test]
    fn any_bytes_are_values(data: Vec<u8>) {
        any_bytes::<u8>(&data)?; any_bytes::<i32>(&data)?; any_bytes::<u128>(&data)?;
        any_bytes::<f32>(&data)?; any_bytes::<bool>(&data)?; any_bytes::<[[u16; 3]; 2]>(&data)?;
        for last in [false, true] {
            let string = decode_string(&mut Reader::new(&data), 10, last);
            prop_assert!(string.len() <= 10 && !string.contains(&0));
            string_back(&string, 10, last)?;
        }
        prop_assert!([3, 5, 9].contains(&choose(&mut Reader::new(&data), &[3, 5, 9])));
    }

    #[test]
    fn limits_hold_and_leave_what_is_within_alone(value: i32, a in -300i64..300, b in -300i64..300, byte: u8) {
        let (min, max) = (a.min(b), a.max(b));
        let folded = i64::from(within(value, Some(min), Some(max)));
        prop_assert!((min..=max).contains(&folded));
        prop_assert!(!(min..=max).contains(&i64::from(value)) || folded == i64::from(value));
        prop_assert!(within(value, None, Some(max)) <= max as i32);
        prop_assert!(within(value, Some(min), None) >= min as i32);
        // A limit that the type cannot reach limits nothing.
        prop_assert_eq!(within(byte, Some(-5), Some(999)), byte);
        prop_assert!(boundaries_within::<i32>(Some(min), Some(max)).contains(&(max as i32)));
    }

    #[test]
    fn tails_come_back_and_are_found_nowhere_else(head: Vec<u8>, is_long: bool, lengths: [(u8, u32); 2], cut in 1usize..8, at: prop::sample::Index, bit in 0..8) {
        prop_assert_eq!(Tail::split(&head), (&head[..], None));
        let tail = Tail { is_long, lengths };
        let input = tail.behind(&head);
        prop_assert_eq!(Tail::split(&input), (&head[..], Some(tail)));
        // One tail at a time, and no part of one.
        let twice = tail.behind(&input);
        prop_assert_eq!(Tail::split(&twice).0, &input[..]);
        // A mutation does not make a long input from a usual one.
        let mut other = input.clone();
        other[at.index(input.len())] ^= 1u8 << bit;
        prop_assert!(is_long || Tail::split(&other).1.is_none_or(|tail| !tail.is_long));
        for part in [&input[..input.len() - cut], &input[input.len() - 17..]] {
            prop_assert_eq!(Tail::split(part), (part, None));
        }
    }

    #[test]
    fn a_long_buffer_that_repeats_itself_is_shown_once(piece in prop::collection::vec(any::<u16>(), 1..20), n in 4_097usize..20_000) {
        let long: Vec<u16> = piece.iter().copied().cycle().take(n).collect();
        let (shown, count) = (show_slice(&long), format!("] over and over ({n} elements)"));
        prop_assert!(shown.ends_with(&count), "{}", shown);
        let (bytes_end, end) = (format!("\" over and over ({n} bytes)"), format!("… ({n} elements)"));
        let start = show_slice(&piece);
        prop_assert!(start.starts_with(&shown[..shown.len() - count.len()]), "{} {}", shown, start);
        let bytes: Vec<u8> = long.iter().map(|n| *n as u8).collect();
        let bytes_shown = show_slice(&bytes);
        prop_assert!(bytes_shown.ends_with(&bytes_end), "{}", bytes_shown);
        // One element that breaks the rhythm: the beginning, as of any buffer.
        let (mut other, at) = (long, 4_096);
        other[at] ^= 1;
        prop_assert!(show_slice(&other).ends_with(&end));
        prop_assert!(!show_slice(&other[..4_096]).contains("over and over"));
    }

    #[test]
    fn a_fitted_text_has_no_nul(mut text in prop::collection::vec(1u8.., 0..9), n in 0usize..300) {
        fit_text(&mut text, n);
        prop_assert!(text.len() == n && !text.contains(&0));
    }

    #[test]
    fn a_fitted_buffer_has_its_length(mut buffer: Vec<u16>, n in 0usize..300) {
        let before = buffer.clone();
        fit(&mut buffer, n);
        prop_assert_eq!(buffer.len(), n);
        prop_assert!(before.is_empty() || buffer.iter().zip(before.iter().cycle()).all(|(a, b)| a == b));
    }
}

#[test]
fn other_numbers_than_enumerators_become_some() {
    let mut numbers = [7u32, 8, 10, 20, u32::MAX];
    numbers.iter_mut().for_each(|n| to_enumerator(n, *n as usize, &[10, 20, 30]));
    assert_eq!(numbers, [20, 30, 10, 20, 10]);
}

#[test]
fn boundaries_stay_within_their_limits() {
    for max in [0, 1, 16, 4096] {
        let around = [3, 16, 5000];
        assert!(boundary_lengths(max, &around).iter().all(|n| *n <= max));
        assert!(boundary_lengths(max, &around).contains(&max));
        assert!(boundary_buffers::<u32>(max, &around).iter().all(|b| b.len() <= max));
        assert!(boundary_strings(max, &around).iter().all(|s| s.len() <= max && !s.contains(&0)));
    }
}

#[test]
fn floats_are_the_same_by_their_bits_with_one_nan() {
    assert!(f64::NAN.same(&f64::from_bits(f64::NAN.to_bits() | 1)));
    assert!(!0.0f32.same(&-0.0));
    assert!(1.5f32.same(&1.5));
}

#[test]
fn a_value_is_used_at_any_address() {
    let bytes: Vec<u8> = (0..64).collect();
    for at in 0..9 {
        // SAFETY: so many bytes are there.
        let used = unsafe { in_place(bytes[at..].as_ptr().cast::<[u32; 4]>(), |value| *value) };
        let wanted: Vec<u8> = used.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(wanted, bytes[at..at + 16]);
    }
}

#[test]
fn a_read_past_the_end_gives_zeros() {
    let mut reader = Reader::new(&[1, 2]);
    assert_eq!(u32::decode(&mut reader), 0x0201);
    assert_eq!(u64::decode(&mut reader), 0);
}

/// Every point is another input, and one more is none.
#[test]
fn points_are_taken_apart_into_different_inputs() {
    let take = |point, outputs| {
        let mut digits = points::Digits::new(point, outputs);
        let one = digits.below(3);
        let text = digits.nullable(1 + 2 + 4, |digits| digits.buffer(2, 2, |digits| digits.below(2)));
        let (length, seed) = digits.outputs(1);
        let output = if outputs { (length, seed, fill::<u32>(1, digits.fill())[0]) } else { (0, [0; 4], 0) };
        digits.is_spent().then_some((one, text, output))
    };
    for (outputs, count) in [(false, 3 * 8), (true, 2 * 3 * 8)] {
        let all: std::collections::BTreeSet<_> =
            (0..count).map(|point| take(point, outputs).unwrap()).collect();
        assert_eq!(all.len() as u64, count);
        assert!((count..3 * count).all(|point| take(point, outputs).is_none()));
    }
    // Two contents of an output have no bit in common.
    let [a, b] = [4, 5].map(|point| fill::<u64>(1, points::Digits::new(point, true).fill())[0]);
    assert_eq!(a, !b);
}

#[test]
fn many_at_once_are_the_same_as_one_by_one() {
    fn check<T: Value>(data: &[u8]) {
        for n in 0..9 {
            let (mut one, mut many) = (Reader::new(data), Reader::new(data));
            let single: Vec<T> = (0..n).map(|_| T::decode(&mut one)).collect();
            assert!(slices_same(&T::decode_many(&mut many, n), &single));
            assert_eq!(one.left(), many.left());
        }
    }
    for length in 0..40 {
        let data: Vec<u8> = (0..length).map(|n: u8| n.wrapping_mul(151) ^ 0x80).collect();
        check::<u8>(&data);
        check::<i16>(&data);
        check::<f32>(&data);
        check::<i64>(&data);
        check::<[u16; 3]>(&data);
    }
    assert!(
        !slices_same(&[1u8, 2], &[1, 3]) && !slices_same(&[1u8], &[1, 3]) && !slices_same(&[0.0f32], &[-0.0])
    );
    assert!(slices_same(&[f32::NAN], &[-f32::NAN]));
}

proptest! {
    #[test]
    fn values_come_back_from_the_parents_words(
        a: u64, b: i8, c: i128, d: f64, e: f32, f: bool, g: [u8; 3], h: [i32; 2], bytes: Vec<u8>, words: Vec<u16>
    ) {
        plain_back(&a)?;
        plain_back(&b)?;
        plain_back(&c)?;
        plain_back(&d)?;
        plain_back(&e)?;
        plain_back(&f)?;
        plain_back(&g)?;
        plain_back(&h)?;
        prop_assert_eq!(buffer_of::<u8>(&plain_slice(&bytes)), Ok(bytes));
        prop_assert_eq!(buffer_of::<u16>(&plain_slice(&words)), Ok(words));
    }

    #[test]
    fn floats_keep_all_their_bits(
        single in prop_oneof![any::<u32>(), 0x7f80_0000_u32..=0x7fff_ffff, 0xff80_0000_u32..],
        double in prop_oneof![any::<u64>(), 0x7ff0_0000_0000_0000_u64..=0x7fff_ffff_ffff_ffff],
    ) {
        prop_assert_eq!(f32::of_plain(&f32::from_bits(single).plain()).unwrap().to_bits(), single);
        prop_assert_eq!(f64::of_plain(&f64::from_bits(double).plain()).unwrap().to_bits(), double);
        // What is beyond the largest one is none, and not infinite.
        let (double, shorter) = (f64::from_bits(double), f32::of_plain(&Plain::Float(double)));
        let is_beyond = double.is_finite() && (double as f32).is_infinite();
        prop_assert_eq!(shorter.is_err(), is_beyond);
        prop_assert!(shorter.is_err() || shorter.unwrap().is_nan() == double.is_nan());
    }

    #[test]
    fn any_words_are_read_or_refused(text in "[~?!ifx\\[\\]{};0-9a-f-]{0,80}") {
        if let Some(plain) = Plain::of_text(&text) {
            let again = plain.text();
            prop_assert!(Plain::of_text(&again).is_some_and(|again| again == plain));
        }
    }
}

#[test]
fn words_that_fit_no_value_are_refused_with_a_reason() {
    let refused = |plain: Plain| u8::of_plain(&plain).unwrap_err();
    assert_eq!(refused(Plain::Integer(256)), "256 is no u8");
    assert_eq!(refused(Plain::Null), "an integer is wanted, not null");
    assert_eq!(u8::of_plain(&Plain::Float(7.0_f64.to_bits())), Ok(7));
    assert!(u8::of_plain(&Plain::Float(7.5_f64.to_bits())).is_err());
    assert!(<[u8; 3]>::of_plain(&Plain::Bytes(vec![1, 2])).unwrap_err().contains("3 are wanted"));
    assert!(bool::of_plain(&Plain::Integer(2)).is_err());
    assert!(buffer_of::<u16>(&Plain::Bytes(vec![1, 2])).is_err());
    let object = Plain::Object(vec![("n".into(), Plain::Integer(-3)), ("m".into(), Plain::Integer(2))]);
    assert!(object.fields(&["n"]).is_err(), "`m` is unknown");
    let fields = object.fields(&["n", "m", "k"]).unwrap();
    assert_eq!(fields.length("m", &[Some(2), None]), Ok((false, 2)));
    assert!(fields.length("m", &[Some(3)]).is_err());
    assert_eq!(fields.length("n", &[Some(2)]), Ok((true, 2)));
    assert_eq!(fields.length("n", &[None]), Ok((true, 2)));
    assert_eq!(fields.length("k", &[Some(5), Some(5)]), Ok((false, 5)));
    assert!(fields.length("k", &[Some(5), Some(6)]).is_err());
}

#[test]
fn who_reads_decides_which_of_both_is_meant() {
    // {"hex": "4142"}
    let either = Plain::of_text("?x4142;{686578;x34313432;}").unwrap();
    assert_eq!(either.bytes(), Ok(b"AB".to_vec()));
    assert_eq!(buffer_of::<u8>(&either), Ok(b"AB".to_vec()));
    assert_eq!(either.fields(&["hex"]).unwrap().read("hex", Plain::bytes), Ok(b"4142".to_vec()));
    let wrong = Plain::of_text("?!6e6f;{686578;x34;}").unwrap();
    assert_eq!(wrong.bytes(), Err("no".to_owned()));
    assert_eq!(wrong.fields(&["hex"]).unwrap().read("hex", Plain::bytes), Ok(b"4".to_vec()));
    let float = Plain::of_text("?f3ff8000000000000;{62697473;x30;}").unwrap();
    assert_eq!((f64::of_plain(&float), f32::of_plain(&float)), (Ok(1.5), Ok(1.5)));
    assert_eq!(<[u16; 2]>::of_plain(&Plain::of_text("?[i1;i2;]{}").unwrap()), Ok([1, 2]));
}

proptest! {
    /// Pieces may overlap, be empty, and begin at address 0.
    #[test]
    fn the_index_of_pieces_finds_what_a_search_of_all_does(
        pieces in proptest::collection::vec((0usize..400, 0usize..60), 0..40),
        addresses in proptest::collection::vec(0usize..500, 1..60),
    ) {
        let pieces: Vec<Piece> = pieces.into_iter().map(|(at, size)| Piece { at, size, live: true }).collect();
        let index = PieceIndex::of(pieces.iter().copied().enumerate());
        for address in addresses {
            let within = |piece: &Piece| (piece.at..=piece.at + piece.size).contains(&address);
            let behind = |piece: &Piece| (piece.at.saturating_sub(BEFORE)..piece.at).contains(&address);
            let last = pieces.iter().rposition(within).or_else(|| pieces.iter().rposition(behind));
            let first = pieces.iter().position(within).or_else(|| pieces.iter().position(behind));
            prop_assert_eq!(index.last(address), last);
            prop_assert_eq!(index.first(address), first);
        }
    }
}
