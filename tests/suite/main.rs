//! Tests of the tool through its binary: one module a feature, with helpers in `support`. A single test binary keeps
//! all cores busy and links once; `cargo test --test suite planted` runs one module. `tests/architecture.rs` checks the
//! shape of the crate, `tests/codec.rs` the codec of generated harnesses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod abi;
mod abreast;
mod allocators;
mod analyzer;
#[cfg(debug_assertions)]
mod as_it_ships;
mod bad_input;
mod blocks;
mod c_variables;
mod callbacks;
mod candidates;
mod chance;
mod cheats;
mod check;
mod ci;
mod compiler_limits;
mod context;
mod continuous;
mod contract;
mod coverage;
mod documented_commands;
mod drivers;
mod drivers_alone;
mod drivers_answers;
mod drivers_attacks;
mod drivers_cheats;
mod drivers_chosen;
mod drivers_contracts;
mod drivers_ends;
mod drivers_files;
mod drivers_focus;
mod drivers_hostile;
mod drivers_learned;
mod drivers_padding;
mod drivers_programs;
mod drivers_structs;
mod drivers_system;
mod drivers_written;
mod dropin;
mod errno;
mod exhaustive;
mod explain;
mod exported;
mod faults;
mod feasibility;
mod findings;
mod fuzz_target;
mod grades;
mod guard;
mod handles;
mod harness;
mod hermetic;
mod hook;
mod idiomatic;
mod incremental;
mod kill;
mod lengths;
mod list;
mod made;
#[cfg(feature = "mcp-client")]
mod mcp;
mod memory;
mod plain;
mod planted;
mod planted_in_place;
mod port_loop;
mod pre_commit;
mod proofs;
mod real_libs;
mod recorded;
mod redzones;
mod report;
mod resume;
mod routing;
mod safer;
mod same_verdicts;
mod sandbox;
mod shell_files;
mod state;
mod stats;
mod support;
mod testgen;
mod testgen_broken;
mod testgen_recorded;
mod testgen_store;
mod traps;
mod triage;
mod watch;
#[cfg(all(target_arch = "x86_64", debug_assertions))]
mod without_audit;
mod zlib;
