//! (being written)

pub mod data;
