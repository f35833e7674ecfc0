//! Looks for better configurations. A model proposes a change, guardrails accept or refuse it, and candidate and incumbent run on
//! the same symbols. Only a candidate that wins becomes the current configuration.

mod examples;
mod guardrails;
mod history;
mod patterns;
mod reasoner;
mod reply;
mod resources;
mod rounds;
#[cfg(test)]
mod fixture;

pub use resources::Resources;
pub use rounds::{Evolved, Request, evolve};
