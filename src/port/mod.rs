//! The port of functions: questions to models, the checks of their answers, and the end. Each module uses only those that
//! stand before it in this list.

pub mod history;
mod step_trace;
pub mod supervisor;
pub mod c2rust;
pub mod prompt;
pub mod lessons;
pub mod proposals;
pub mod plan;
pub mod function;
pub mod run;
pub mod demo;
