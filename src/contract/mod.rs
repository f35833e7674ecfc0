//! Contracts: how a function may be called, and what is compared.

pub mod flat;
pub mod parameter_roles;
pub mod types;
pub mod slots;
pub mod archetype;
mod compared_values;
mod sound;
pub mod fits;
pub mod file;
pub mod preconditions;
pub mod observed_calls;
mod bounds;
mod text_reads;
pub mod pointer_facts;
pub mod struct_makers;
pub mod callback;
mod element_sizes;
pub mod length_inference;
pub mod c_words;
mod length_names;
pub mod errno;
mod external_effects;
mod returned;
pub mod state;
pub mod roles_from_calls;
mod safe_signature;
pub mod infer;
pub mod constructors;
mod borrowed;
pub mod target;
pub mod handles;
pub mod proposal;
pub mod tier;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tier_tests;
