//! Reading C: sources and flags, syntax through libclang, types and signatures through bindgen, order.
//!
//! `discover` finds the sources and their flags (in `compdb`, `build_system` or `include_guess`), `parse` reads their
//! functions, `graph` orders them, `bind` makes `ffi.rs`, `front` does all of it.

mod cursor;
pub mod libclang;
mod workers;
mod modules;
mod sources;
mod places;
mod command_line;
mod compdb;
mod build_system;
mod include_guess;
pub mod archive;
pub mod data;
pub mod flags;
mod discover;
mod types;
mod expr;
mod parse_uses;
mod parse_body;
mod parse_unit;
mod merge_records;
mod merge;
mod parse;
pub mod graph;
mod bind_generate;
mod bind_rename;
mod bind_merge;
mod rust_type;
mod record_names;
pub mod bind;
pub mod front;

pub use build_system::BuildTools;
pub use front::{Loaded, load};

#[cfg(test)]
mod front_tests;
