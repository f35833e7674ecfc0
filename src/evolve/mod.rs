//! Better configurations for the generation of tests: a model proposes a change, guardrails let it through or not, candidate and
//! incumbent are run on the same symbols, and only what wins becomes current. Formulas and guardrails are in `testgen`.

mod examples;
mod history;
mod patterns;
mod reasoner;
mod reply;
mod rounds;
#[cfg(test)]
mod fixture;

pub use rounds::{Evolved, Hands, Request, evolve};
