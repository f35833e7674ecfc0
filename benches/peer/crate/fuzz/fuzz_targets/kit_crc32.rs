#![no_main]
use libfuzzer_sys::{arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Input {
    crc: u32,
    buf: Vec<u8>,
}

fuzz_target!(|input: Input| {
    // SAFETY: pointer and length are of one slice.
    let c = unsafe { peer::kit_crc32(input.crc, input.buf.as_ptr(), input.buf.len()) };
    assert_eq!(c, peer::crc32(input.crc, &input.buf));
});
