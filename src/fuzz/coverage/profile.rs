//! LLVM's raw profile: the counters of each function when a process ends.

use super::bytes::{Bytes, Malformed, Read, small};
use std::collections::HashMap;

/// The supported version of the format; LLVM 19 to 22 write it.
pub const KNOWN_PROFILE: u64 = 10;

/// The size of a function's record in that version, bytes.
pub const RECORD: usize = 64;

/// `\xfflprofr\x81`: 64-bit counters, little-endian.
const MAGIC: u64 = 0xff6c_7072_6f66_7281;

/// The counters of each function, by the hashes of its name and shape.
pub type Counters = HashMap<(u64, u64), Vec<u64>>;

/// Adds the counters in a profile.
pub fn add(into: &mut Counters, profile: &[u8]) -> Read<()> {
    let mut bytes = Bytes::new(profile);
    if bytes.u64()? != MAGIC {
        return Err(Malformed("it is not a raw profile of a 64-bit machine".into()));
    }
    let version = bytes.u64()?;
    // The upper half is the kind of instrumentation; front-end instrumentation sets no bit there.
    if version != KNOWN_PROFILE {
        return Err(Malformed(format!("version {version:#x} of raw profiles is not known")));
    }
    let mut head = [0; 14];
    for field in &mut head {
        *field = bytes.u64()?;
    }
    let [build_ids, functions, pad, counters, _, _, _, _, start, ..] = head;
    bytes.take(small(build_ids)?)?;
    let functions = small(functions)?;
    let data = bytes.take(functions.checked_mul(RECORD).ok_or_else(too_long)?)?;
    bytes.take(small(pad)?)?;
    let counters = bytes.take(small(counters)?.checked_mul(8).ok_or_else(too_long)?)?;
    for (index, record) in data.chunks_exact(RECORD).enumerate() {
        let mut fields = Bytes::new(record);
        let (key, relative) = ((fields.u64()?, fields.u64()?), fields.u64()?);
        fields.take(24)?;
        let count = small(fields.u32()?.into())?;
        // The position of the counters is relative to the record, in the memory of the process.
        let at = small(relative.wrapping_sub(start).wrapping_add((index * RECORD) as u64))?;
        let mut own = Bytes::new(counters);
        own.take(at)?;
        let sums = into.entry(key).or_default();
        sums.resize(sums.len().max(count), 0);
        for sum in sums.iter_mut().take(count) {
            *sum = sum.saturating_add(own.u64()?);
        }
    }
    Ok(())
}

fn too_long() -> Malformed {
    Malformed("it claims to be longer than memory".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The profile that a process writes for these functions, with its counters at the address `start`.
    fn encode(functions: &[((u64, u64), Vec<u64>)], start: u64) -> Vec<u8> {
        let total: usize = functions.iter().map(|(_, counters)| counters.len()).sum();
        let (n, total) = (functions.len() as u64, total as u64);
        let head = [MAGIC, KNOWN_PROFILE, 8, n, 16, total, 0, 0, 0, 0, start, 0, 0, 0, 0, 2];
        let mut bytes: Vec<u8> = head.iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes.extend([0xee; 8]);
        let mut at = start;
        for (index, (key, counters)) in functions.iter().enumerate() {
            let relative = at.wrapping_sub((index * RECORD) as u64);
            let fields = [key.0, key.1, relative, 0, 0, 0, counters.len() as u64, 0];
            bytes.extend(fields.iter().flat_map(|n| n.to_le_bytes()));
            at = at.wrapping_add(8 * counters.len() as u64);
        }
        bytes.extend([0; 16]);
        bytes.extend(functions.iter().flat_map(|(_, counters)| counters).flat_map(|n| n.to_le_bytes()));
        bytes
    }

    proptest! {
        #[test]
        fn every_profile_comes_back_and_adds_up(
            all in proptest::collection::hash_map(
                any::<(u64, u64)>(), proptest::collection::vec(0_u64..1 << 60, 1..6), 0..6),
            start: u64,
        ) {
            let all: Vec<_> = all.into_iter().collect();
            let bytes = encode(&all, start);
            let mut read = Counters::new();
            add(&mut read, &bytes).unwrap();
            prop_assert_eq!(&read, &all.iter().cloned().collect::<Counters>());
            add(&mut read, &bytes).unwrap();
            prop_assert!(all.iter().all(|(key, once)| read[key].iter().zip(once).all(|(a, b)| *a == 2 * b)));
        }

        #[test]
        fn no_bytes_make_it_panic(noise in proptest::collection::vec(any::<u8>(), 0..200), at in 16_usize..128) {
            let mut bytes = encode(&[((1, 2), vec![3, 4])], 4096);
            let end = bytes.len().min(at + noise.len());
            bytes[at..end].copy_from_slice(&noise[..end - at]);
            drop(add(&mut Counters::new(), &bytes));
            drop(add(&mut Counters::new(), &noise));
        }
    }

    #[test]
    fn an_unknown_version_is_told() {
        let mut bytes = encode(&[], 0);
        bytes[8] = 11;
        assert!(add(&mut Counters::new(), &bytes).unwrap_err().0.contains("0xb"));
    }
}
