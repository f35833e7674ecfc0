//! The effects of a call, part by part, as hashes that two processes can compare.
//! Written by cargo-implfuzz.

use super::digest::Digest;
use super::report::Parts;

/// The parent knows this value too (`fuzz::isolated_replay`).
const UNKNOWN: &str = "?";

/// The parts of an effect, each with its hash: equal if the harness finds no difference.
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

    /// A part that this side cannot know: it equals anything.
    pub fn unknown(&mut self, name: &str) {
        self.0.push((name.to_owned(), UNKNOWN.to_owned()));
    }

    pub fn parts(self) -> Parts {
        self.0
    }
}
