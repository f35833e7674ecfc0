//! What several commands show: tables of functions, their cells, and the places in C and Rust.

pub mod cells;
pub mod overview;
pub mod source_diagnostics;
pub mod symbol_tables;
