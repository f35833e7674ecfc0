//! What a run is going to do: which functions, in which order, and what it would ask first.

pub mod redo;
pub mod resume;
pub mod schedule;
pub mod first_prompt;
pub mod preview;
