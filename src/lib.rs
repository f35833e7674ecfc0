//! `cargo implfuzz`: ports a C library to Rust symbol by symbol. A model proposes, the C original disposes, the
//! evidence stays. The floors of the modules are described in `DESIGN.md` and held by `tests/architecture.rs`.

// floor 0
pub mod error;
pub mod symbol;
pub mod verdict;
pub mod event;
// floor 1
pub mod process;
pub mod toolchain;
pub mod workspace;
pub mod config;
pub mod store;
pub mod llm;
// floor 2
pub mod c;
pub mod contract;
pub mod rust;
pub mod harness;
// floor 3
pub mod audit;
pub mod fuzz;
// floor 4
pub mod doctor;
pub mod ported;
pub mod project;
pub mod listing;
pub mod init;
pub mod judge;
pub mod verify;
pub mod port;
pub mod demo;
// floor 5
pub mod report;
// floor 6
pub mod commands;
pub mod cli;
