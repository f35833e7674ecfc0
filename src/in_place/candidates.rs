//! What is judged in a program beside C: its mutants, or ports; or what else the program does.

use crate::c::mutants::Mutants;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What is judged in a program.
#[derive(Debug, Clone, Copy)]
pub enum Candidates<'a> {
    None,
    /// Nothing: the program counts the branches of C.
    Branches,
    /// Nothing: the program tells what calls look like, and what C touches.
    Watched,
    Mutants(&'a Mutants),
    Ports(&'a Ports),
}

/// The port as a library, whose functions are candidates.
#[derive(Debug)]
pub struct Ports {
    /// The functions in it, by their positions in the library.
    pub numbers: BTreeSet<usize>,
    pub archive: PathBuf,
    /// The crate's name in Rust, with which the names of its objects begin.
    pub crate_name: String,
    /// rustc's linker arguments.
    pub native: Vec<String>,
}
