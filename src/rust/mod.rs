//! The Rust side of the target repository as text and syntax: finding and replacing items, stubs, hashes,
//! signatures and shims. Nothing here runs a compiler; `audit` decides whether a candidate may be accepted.

pub mod item;
pub mod macro_names;
mod token_text;
pub mod hash;
pub mod nonlocal_items;
pub mod splice;
pub mod unport;
pub mod stub_detection;
pub mod c_numbers;
pub mod signature;
pub mod unsafe_code;
pub mod shims;
pub mod pretty;
pub mod stub_text;
pub mod globals;
pub mod dropin_crate;
pub mod mutants;
