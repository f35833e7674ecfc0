//! Builds the port crate, and the fuzz binary, with cargo.

pub mod leftovers;
pub mod runtime;
pub mod port_variables;
pub mod overlay;
pub mod port_compilation;
pub mod cargo;
pub mod cache;
pub mod fuzz_binary;
pub mod libfuzzer;
pub mod standalone;
pub mod static_library;
