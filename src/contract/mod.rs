//! Contracts: how a function is to be called, and what is compared.

pub mod types;
pub mod archetype;
mod sound;
pub mod file;
pub mod facts;
pub mod flat;
pub mod made;
pub mod callback;
mod lengths;
mod outside;
mod returned;
pub mod state;
pub mod infer;
mod constructors;
mod lent;
mod likely;
pub mod target;
pub mod handles;
pub mod proposal;
pub mod tier;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tier_tests;
