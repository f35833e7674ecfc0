//! Differential harnesses, generated from contracts; a model cannot change them.

pub mod emit;
pub mod struct_values;
pub mod registry;
pub mod files;
