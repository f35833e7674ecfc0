//! The machine that the tool runs on: child processes, the target repository's directory, compilers, git and other programs.

pub mod process;
pub mod workspace;
pub mod toolchain;
pub mod free_space;
pub mod git;
pub mod doctor;
