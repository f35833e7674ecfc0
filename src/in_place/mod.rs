//! Runs a C library with its drivers, and judges functions inside of these executions: where the program calls a
//! function, C runs, memory is put back, a candidate runs on the same memory, and both results are compared.
//!
//! `driver` finds drivers, `corpus` makes their inputs, `build` makes the program, `run` runs it. The judge itself is C,
//! in `templates/in_place`; DESIGN.md describes it.

pub mod driver;
mod outside;
pub mod table;
pub mod build;
pub mod corpus;
pub mod run;
