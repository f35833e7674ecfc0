//! Builds the fuzz binary (`build`) and runs it.

pub mod coverage;
pub mod disk_full;
pub mod build;
pub mod values;
pub mod report;
pub mod held_back;
pub mod parallel;
pub mod attribution;
mod libfuzzer_process;
pub mod campaign;
mod compared_inputs;
mod run_campaign;
pub mod confirm;
pub mod exhaustive;
pub mod mutants;
pub mod coverage_replay;
pub mod isolated_replay;
mod long_inputs;
pub mod evaluate_inputs;
pub mod sanitizer_report;
mod c_alone;
pub mod c_code;
mod changed_copies;
