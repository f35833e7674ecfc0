//! Reading C: sources and flags, syntax through libclang, types and signatures through bindgen, order.
//!
//! `flags` finds the sources, `parse` reads their functions, `graph` orders them, `bind` makes `ffi.rs`, `front`
//! does all of it.

pub mod bind;
mod bind_generate;
mod bind_merge;
mod bind_rename;
mod compdb;
mod cursor;
mod expr;
pub mod archive;
pub mod data;
pub mod flags;
pub mod front;
pub mod graph;
pub mod libclang;
mod merge;
mod merge_records;
mod modules;
mod parse;
mod parse_body;
mod parse_unit;
mod parse_uses;
mod record_names;
mod rust_type;
mod sources;
mod types;
mod workers;

pub use front::{load, parse_only};

#[cfg(test)]
mod front_tests;
