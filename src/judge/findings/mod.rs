//! Findings: what was found is kept, listed by kind, and run again.

mod keep;
mod list;
mod replay;

pub use keep::known_breaks;
pub use list::{Kept, State, find, list};
pub use replay::{Again, replay};
