//! Runs a C library with its drivers, and judges functions inside of these executions: where the program calls a
//! function, C runs, memory is put back, a candidate runs on the same memory, and both results are compared.
//!
//! `driver` finds drivers, `driver_check` says whether one that a model wrote may run, `corpus` makes their inputs (with
//! `corpus_folders` and `dictionary`), `breaking` shows how C breaks on one, `focus` makes further ones for one function. `exported` makes a
//! driver's program for other machines. `build` makes the program in a `build_site` (with `patchable`, `driver_object`,
//! `table`, `runtime`, `returned`, `port`, `outside` with `leaving`, and `tape`), `run` runs it (with `sandboxed_run`), `difference` reads how a candidate was told from C,
//! `watched` what calls look like. `typed` says what a difference means (with `padding`, `pointee_type` and
//! `nested_difference`), and `values` which values differ. The judge itself is C, in `templates/in_place`; DESIGN.md
//! describes it.

pub mod driver;
pub mod build_site;
mod patchable;
mod driver_object;
mod weak_definitions;
mod around_driver;
mod sandboxed_run;
mod tape;
mod leaving;
pub mod outside;
mod padding;
pub mod candidates;
mod eightbytes;
mod passing;
mod returned;
mod pointee_type;
mod floats;
pub mod table;
mod runtime;
mod port;
pub mod build;
pub mod dictionary;
mod environment;
pub mod corpus_folders;
pub mod corpus;
pub mod exported;
pub mod breaking;
pub mod driver_check;
pub mod focus;
pub mod difference;
pub mod watched;
pub mod run;
pub mod whole_runs;
pub mod values;
mod nested_difference;
pub mod typed;
