//! The port of one function: what is asked of a model, what its answer goes through, and when that ends.

pub mod supervisor;
pub mod feedback;
pub mod items;
pub mod words;
pub mod context;
pub mod call_sites;
pub mod prompt;
pub mod history;
pub mod resume;
pub mod lessons;
pub mod recall;
pub mod desk;
pub mod inquiry;
pub mod analysis;
pub mod targets;
pub mod feasibility;
pub mod session;
pub mod schedule;
pub mod preview;
pub mod pool;
pub mod attempt;
pub mod run;
mod settle;
pub mod rounds;
mod crew;
