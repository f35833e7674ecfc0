//! The Rust side of the target repository, as text and syntax: where an item stands, how one is replaced, what a stub
//! is, what is hashed, which signatures and shims follow from C. Nothing here runs a compiler, and whether a candidate
//! may be accepted is `audit`'s business.

pub mod item;
pub mod hash;
pub mod open;
pub mod splice;
pub mod unport;
pub mod stub;
pub mod signature;
pub mod shims;
pub mod emit;
pub mod exported;
pub mod globals;
pub mod in_program;
pub mod mutants;
