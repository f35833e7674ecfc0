//! Differential harnesses, generated from contracts; a model cannot change them.

pub mod emit;
pub mod records_in_types;
pub mod struct_values;
mod strings_in_structs;
pub mod registry;
pub mod files;
