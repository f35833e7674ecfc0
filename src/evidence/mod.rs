//! Evidence: the fingerprint of a symbol, the lock that records verdicts, the grade that follows from the proofs, and the
//! check of the tree against the lock. Needs no compiler and no database.

pub mod fingerprint;
pub mod lock;
pub mod grade;
pub mod allowed;
pub mod status;
pub mod hook_script;
