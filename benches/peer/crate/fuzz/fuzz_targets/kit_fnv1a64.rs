#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|buf: Vec<u8>| {
    // SAFETY: pointer and length are of one slice.
    let c = unsafe { peer::kit_fnv1a64(buf.as_ptr(), buf.len()) };
    assert_eq!(c, peer::fnv1a64(&buf));
});
