//! Rust source text of the target crate: where an item stands, how one is replaced, what a stub is, what text is
//! hashed. Nothing here runs a compiler, and whether a candidate may be accepted is `audit`'s business.

pub mod item;
pub mod hash;
pub mod splice;
pub mod stub;
