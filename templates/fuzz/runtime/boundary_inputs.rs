//! The lengths, contents and texts that boundary inputs are made of. The generated harness combines them.
//! Written by cargo-implfuzz.

const LENGTHS: [usize; 24] =
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257];

/// Contents that distinguish implementations: extremes of signs and carries, text, digits, encodings.
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

/// Lengths at which behaviour may change: small ones, powers of two, the constants of the C text, the
/// maximum.
pub fn boundary_lengths(max: usize, around: &[usize]) -> Vec<usize> {
    let near = around.iter().flat_map(|n| [n.saturating_sub(1), *n, n + 1]);
    let mut lengths: Vec<usize> =
        LENGTHS.into_iter().chain(near).chain([max]).filter(|n| *n <= max).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Contents of buffers for boundary inputs; an element has `width` bytes.
pub fn boundary_bytes(width: usize, max: usize, around: &[usize]) -> Vec<Vec<u8>> {
    let lengths = boundary_lengths(max, around);
    let each = CONTENTS.iter().flat_map(|content| lengths.iter().map(move |n| (content, n * width)));
    each.map(|(content, n)| content.iter().copied().cycle().take(n).collect()).collect()
}

/// Strings for boundary inputs.
pub fn boundary_strings(max: usize, around: &[usize]) -> Vec<Vec<u8>> {
    // The last number of each width, and the first one beyond it; then what only C's readers of floats take for numbers.
    const NUMBERS: [&str; 42] = [
        "0", "-0", "+1", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32768", "-32769",
        "65535", "65536", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295",
        "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "0x1f", "1e3", " 42", "42 ",
        "4 2", "99999999999999999999", "*a?b*", "inf", "-infinity", "NAN", "0x1p3", ".5", "1e400", "1e-400",
        "1e+",
    ];
    let strings = boundary_bytes(1, max, around).into_iter();
    let strings = strings.map(|s| s.into_iter().take_while(|b| *b != 0).collect::<Vec<u8>>());
    let mut all: Vec<_> = NUMBERS.iter().map(|n| n.as_bytes().to_vec()).filter(|n| n.len() <= max).collect();
    all.extend(strings);
    all.dedup();
    all
}

/// A string that equals another, or nearly.
pub fn alike(text: &[u8], turn: usize) -> Vec<u8> {
    let mut text = text.to_vec();
    match turn % 5 {
        0 => {}
        1 => text.iter_mut().filter(|b| b.is_ascii_alphabetic()).for_each(|b| *b ^= 0x20),
        2 => drop(text.pop()),
        3 => text.reverse(),
        // Never zero, which would end the string.
        _ => text.last_mut().into_iter().for_each(|b| *b = b.wrapping_add(1).max(1)),
    }
    text
}
