//! Hashes of values that two processes can compare.
//! Written by cargo-implfuzz.

/// A 128-bit hash (FNV-1a).
#[derive(Clone, Copy)]
pub struct Digest(u128);

impl Digest {
    pub fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    /// The hash as hexadecimal digits.
    pub fn text(self) -> String {
        format!("{:032x}", self.0)
    }
}
