//! The Rust side of the target repository, as text and syntax.

pub mod signature;
pub mod shims;
pub mod emit;
pub mod globals;
