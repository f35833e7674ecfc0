//! Time limits of child processes where neither the configuration nor the task sets one. All are wall time. The time
//! limits of models, servers and the database are in `llm` and `store`.

use std::time::Duration;

/// Asking a tool for its version.
pub const VERSION: Duration = Duration::from_secs(30);
/// Searching the system's packages.
pub const PACKAGE_SEARCH: Duration = Duration::from_secs(60);

/// `cmake` configuring a library: it may run the compiler hundreds of times.
pub const CONFIGURE: Duration = Duration::from_secs(300);
/// `make` printing its commands: makefiles may run the compiler while they are read.
pub const PRINT_COMMANDS: Duration = Duration::from_secs(60);
/// Compiling one C file of a library, without optimisation.
pub const COMPILE_C: Duration = Duration::from_secs(300);
/// Compiling a C file that this tool wrote.
pub const COMPILE_OWN_C: Duration = Duration::from_secs(60);
/// c2rust translating one C file.
pub const TRANSLATE: Duration = Duration::from_secs(120);
/// Cargo building or checking a crate.
pub const CARGO: Duration = Duration::from_secs(20 * 60);

/// Writing all boundary inputs.
pub const BOUNDARY_INPUTS: Duration = Duration::from_secs(60);
/// Showing, finding or shrinking one input.
pub const ONE_INPUT: Duration = Duration::from_secs(20);
/// What a fuzz process may take beyond its campaign's time: to start, shrink and report.
pub const BEYOND_CAMPAIGN: Duration = Duration::from_secs(60);
/// What a run on one input may take beyond the time limit of a call.
pub const BEYOND_CALL: Duration = ONE_INPUT;
/// Running over a corpus once.
pub const CORPUS: Duration = Duration::from_secs(600);
/// Running each input in a fresh process.
pub const ISOLATED_REPLAY: Duration = Duration::from_secs(60);
/// Evaluating many proposed inputs together.
pub const PROPOSED_INPUTS: Duration = Duration::from_secs(60);
/// Evaluating one proposed input alone, after evaluating them together failed.
pub const PROPOSED_INPUT: Duration = Duration::from_secs(10);
