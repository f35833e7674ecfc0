#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|samples: Vec<i8>| {
    // SAFETY: pointer and length are of one slice.
    let c = unsafe { peer::kit_rolling16(samples.as_ptr(), samples.len()) };
    assert_eq!(c, peer::rolling16(&samples));
});
