//! A whole run over many functions.

mod rejudge_callers;
mod scheduler;
pub mod one_pass;
pub mod rounds;
