//! Building the fuzz binary and running it.

pub mod coverage;
mod runtime;
mod leftovers;
pub mod overlay;
pub mod instrumentation;
mod disk_space;
mod cargo;
pub mod build;
pub mod libfuzzer;
pub mod report;
pub mod gate;
pub mod parallel;
pub mod triage;
mod libfuzzer_process;
pub mod campaign;
mod run_campaign;
pub mod confirm;
pub mod exhaustive;
pub mod mutants;
pub mod replay;
pub mod isolated_replay;
pub mod value_json;
mod value_text;
pub mod evaluate_inputs;
mod attribution;
pub mod standalone;
mod static_library;
