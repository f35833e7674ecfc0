//! Reading C: sources and flags, syntax from libclang, types and signatures from bindgen, porting order.
//!
//! `source_discovery` finds the sources and their flags (with `compdb`, `build_system` or `include_guess`), `parse`
//! reads their functions, `graph` orders them, `bind` generates `ffi.rs`, and `front` runs all of these.

pub mod text;
mod cursor;
mod libclang;
mod workers;
pub mod bindgen_names;
mod modules;
pub mod glob;
mod sources;
mod project_paths;
mod shell_words;
mod kept_flags;
mod compdb;
mod build_system;
mod include_guess;
pub mod header_only;
pub mod flags;
mod source_discovery;
mod inputs;
mod analysis_cache;
mod types;
mod expr;
mod memory_before;
mod text_loops;
mod parse_uses;
mod atomics;
mod comments_above;
mod constant_pointers;
mod never_written;
mod parse_body;
mod parse_copies;
mod parse_types;
mod parse_unit;
mod merge_records;
mod merge;
mod layout_assertions;
mod alias_unit;
pub mod archive;
pub mod data;
mod unit_text;
mod translate;
mod parse;
pub mod porting_order;
mod bind_generate;
mod unit_work;
mod compiler_disagreements;
mod bind_rename;
mod bind_merge;
mod rust_type;
mod rust_text;
mod record_names;
pub mod bind;
pub mod front;
pub mod mutants;
pub mod entries;
pub mod own_copies;
pub mod signatures;
pub mod call_sites;
pub mod optimised;

pub use analysis_cache::Tools;
pub use build_system::{Programs, copy_sources};
pub use front::{Analysis, load};

#[cfg(test)]
mod analysis_tests;
#[cfg(test)]
mod bind_tests;
#[cfg(test)]
pub(crate) mod front_tests;
#[cfg(test)]
mod variable_tests;
