//! The port of one function on a thread of its own, from the first question to its place in the tree.

pub mod result;
pub mod session;
pub mod slots;
pub mod conclude;
pub mod worker;
pub mod steps;
pub mod step_loop;
