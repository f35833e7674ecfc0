//! What every harness shares. Written by cargo-implfuzz; the harnesses in `harness/` are generated on top of it.

pub mod apart;
pub mod callback;
pub mod chance;
pub mod codec;
pub mod current;
pub mod deadline;
pub mod digest;
pub mod driver;
pub mod exhaustive;
pub mod guard;
pub mod ledger;
pub mod lent;
pub mod lives;
pub mod makers;
pub mod memory;
pub mod mutants;
pub mod points;
pub mod port_mutants;
pub mod record;
pub mod replay;
pub mod report;
pub mod sequence;
pub mod state;
pub mod watch;
pub mod story;
pub mod world;
