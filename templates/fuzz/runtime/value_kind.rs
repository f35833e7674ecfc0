//! Describes the values of a type without naming it: the runtime handles their bytes in memory.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::digest::Digest;
use super::plain::Plain;

/// A kind of values; the generated crate defines one for each type that it needs.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Size in memory, bytes.
    pub size: usize,
    pub decode: fn(&mut Reader) -> Vec<u8>,
    pub encode: fn(&[u8], &mut Writer),
    pub same: fn(&[u8], &[u8]) -> bool,
    pub show: fn(&[u8]) -> String,
    pub plain: fn(&[u8]) -> Plain,
    pub of_plain: fn(&Plain) -> Result<Vec<u8>, String>,
    pub digest: fn(&[u8], &mut Digest),
    pub boundaries: fn() -> Vec<Vec<u8>>,
}
