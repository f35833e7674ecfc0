//! `cargo implfuzz`: ports a C library to Rust symbol by symbol. A model proposes, the C original disposes, the
//! evidence stays. The layers of the modules are described in `DESIGN.md` and checked by `tests/architecture.rs`.

// layer 0: plain data
pub mod error;
pub mod count;
pub mod digest;
pub mod symbol;
pub mod verdict;
pub mod test_record;
pub mod event;
// layer 1: the outside
pub mod platform;
pub mod config;
pub mod store;
pub mod llm;
// layer 2: the two languages
pub mod libc_facts;
pub mod c;
pub mod contract;
pub mod rust;
pub mod harness;
// layer 3: running and reading candidates
pub mod audit;
pub mod fuzz;
pub mod in_place;
// layer 4: what the tool does
pub mod project;
pub mod evidence;
pub mod drivers;
pub mod judge;
pub mod port;
pub mod testgen;
pub mod dropin;
pub mod survey;
pub mod export;
// layer 5: output
pub mod report;
// layer 6: the command line
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod cli;
