//! One file per subcommand, with its arguments and the function that runs it. No logic: options in, results out.

pub mod agent_guide;
pub mod check;
pub mod completions;
pub mod context;
pub mod contract;
pub mod coverage;
pub mod demo;
pub mod doctor;
pub mod drivers;
pub mod dropin;
pub mod export;
pub mod explain;
pub mod findings;
pub mod fuzz;
pub mod hook;
pub mod init;
pub mod list;
pub mod man;
pub mod mcp;
pub mod memory;
pub mod port;
pub mod report;
pub mod stats;
pub mod status;
pub mod testgen;
pub mod verify;
