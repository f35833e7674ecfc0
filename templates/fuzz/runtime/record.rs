//! What a call left behind, part by part and in full, as numbers that two processes can compare. Written by
//! cargo-implfuzz.

use super::codec::Value;
use super::digest::Digest;
use super::report::Parts;

/// The parts of an effect, each with its hash: equal where the harness finds no difference.
#[derive(Default)]
pub struct Record(Parts);

impl Record {
    pub fn value<T: Value>(&mut self, name: &str, value: &T) {
        let mut digest = Digest::new();
        value.digest(&mut digest);
        self.put(name, digest);
    }

    /// A whole buffer; none where the argument was null.
    pub fn slice<T: Value>(&mut self, name: &str, slice: Option<&[T]>) {
        let mut digest = Digest::new();
        digest.bytes(&slice.map_or(u64::MAX, |s| s.len() as u64).to_le_bytes());
        for element in slice.into_iter().flatten() {
            element.digest(&mut digest);
        }
        self.put(name, digest);
    }

    pub fn put(&mut self, name: &str, digest: Digest) {
        self.0.push((name.to_owned(), digest.text()));
    }

    pub fn parts(self) -> Parts {
        self.0
    }
}
