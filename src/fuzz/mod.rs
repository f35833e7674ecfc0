//! Building the fuzz binary and running it.

mod runtime;
pub mod overlay;
pub mod edges;
mod room;
pub mod build;
pub mod libfuzzer;
pub mod report;
pub mod gate;
pub mod abreast;
pub mod triage;
mod leg;
pub mod run;
pub mod once;
pub mod exhaustive;
pub mod mutants;
pub mod replay;
pub mod apart;
mod plain;
pub mod measure;
mod twin;
pub mod standalone;
mod static_library;
