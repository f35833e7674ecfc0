//! The Rust side of the target repository, as text and syntax: where an item stands, how one is replaced, what a stub
//! is, what is hashed, which signatures and shims follow from C. Nothing here runs a compiler, and whether a candidate
//! may be accepted is `audit`'s business.

pub mod item;
pub mod hash;
pub mod nonlocal_items;
pub mod splice;
pub mod unport;
pub mod stub;
pub mod signature;
pub mod shims;
pub mod pretty;
pub mod emit;
pub mod globals;
pub mod dropin_crate;
pub mod mutants;
