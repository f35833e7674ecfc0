//! What the tool does, seen over its binary: one module for each part of it, and `support` for what they share. One test
//! binary, so that the machine is busy to the end and no code is linked twice; `cargo test --test suite planted` runs one part.
//! The shape of the crate is in `tests/architecture.rs`, the codec of generated harnesses in `tests/codec.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod abi;
mod abreast;
mod analyzer;
mod bad_input;
mod blocks;
mod callbacks;
mod candidates;
mod chance;
mod cheats;
mod check;
mod contract;
mod coverage;
mod dropin;
mod exhaustive;
mod exported;
mod faults;
mod feasibility;
mod findings;
mod fuzz_target;
mod grades;
mod handles;
mod harness;
mod hook;
mod incremental;
mod kill;
mod list;
mod made;
mod memory;
mod plain;
mod planted;
mod port_loop;
mod pre_commit;
mod proofs;
mod real_libs;
mod recorded;
mod resume;
mod routing;
mod state;
mod stats;
mod support;
mod testgen;
mod testgen_broken;
mod testgen_recorded;
mod testgen_store;
mod traps;
mod triage;
mod zlib;
