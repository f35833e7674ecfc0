//! The status of every function: the tree beside `implfuzz.lock`. `check`, `status`, `verify --stale`, `port` and the git hook
//! all ask here. It needs files and nothing else: no compiler, no libclang, no database, no lock of the workspace. What it read of
//! modules it may note for the next time, in a file of its own.
//!
//! The audit is repeated on what stands in the tree. What a port may use follows from `ffi.rs`, `globals.rs` and the other
//! modules; the lock adds what only the analysis of C knows: the signature, the functions of the system and the variables
//! that the original uses, and which functions lead back to it.

mod c_side;
mod cache;
mod audit;
mod problem;
mod rust_side;
mod symbols;
mod check_result;

pub use check_result::{Checked, Complaint, Passed};
pub use problem::{Problem, Trouble, below_least};
pub use symbols::{Status, SymbolStatus, status};

/// Where a repository has the notes of its last status, relative to its root.
pub const NOTES: &str = ".implfuzz/cache/check.json";
