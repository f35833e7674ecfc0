//! What a call left behind, part by part and in full, as numbers that two processes can compare. Written by
//! cargo-implfuzz.

use super::digest::Digest;
use super::report::Parts;

/// Known to the parent, too (`fuzz::apart`).
const UNKNOWN: &str = "?";

/// The parts of an effect, each with its hash: equal where the harness finds no difference.
#[derive(Default)]
pub struct Record(Parts);

impl Record {
    pub fn number(&mut self, name: &str, number: u64) {
        let mut digest = Digest::new();
        digest.bytes(&number.to_le_bytes());
        self.put(name, digest);
    }

    pub fn put(&mut self, name: &str, digest: Digest) {
        self.0.push((name.to_owned(), digest.text()));
    }

    /// A part of which this side cannot say what it is: it differs from nothing.
    pub fn unknown(&mut self, name: &str) {
        self.0.push((name.to_owned(), UNKNOWN.to_owned()));
    }

    pub fn parts(self) -> Parts {
        self.0
    }
}
