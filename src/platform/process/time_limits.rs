//! How long child processes may run, where neither the configuration nor the work itself says so. All are wall time.
//! How long models, servers and the database may take stands in `llm` and `store`.

use std::time::Duration;

/// Asking a tool for its version.
pub const VERSION: Duration = Duration::from_secs(30);
/// Searching the packages of the system.
pub const PACKAGE_SEARCH: Duration = Duration::from_secs(60);

/// `cmake` configuring a library: it runs the compiler up to some hundred times.
pub const CONFIGURE: Duration = Duration::from_secs(300);
/// `make` printing its commands: makefiles may try the compiler while they are read.
pub const PRINT_COMMANDS: Duration = Duration::from_secs(60);
/// Compiling one C file of a library, without optimisation.
pub const COMPILE_C: Duration = Duration::from_secs(300);
/// Compiling a C file that we wrote.
pub const COMPILE_OWN_C: Duration = Duration::from_secs(60);
/// c2rust translating one C file.
pub const TRANSLATE: Duration = Duration::from_secs(120);
/// Cargo building or checking a crate.
pub const CARGO: Duration = Duration::from_secs(20 * 60);

/// Writing all boundary inputs.
pub const BOUNDARY_INPUTS: Duration = Duration::from_secs(60);
/// Showing, finding or shrinking one input.
pub const ONE_INPUT: Duration = Duration::from_secs(20);
/// What a fuzz process may take beyond the time that it was given: to start, to shrink and to report.
pub const BEYOND_CAMPAIGN: Duration = Duration::from_secs(60);
/// What a run on one input may take beyond the limit of a call.
pub const BEYOND_CALL: Duration = ONE_INPUT;
/// Running over a corpus once.
pub const CORPUS: Duration = Duration::from_secs(600);
/// Running each input in a process that has run nothing else.
pub const ISOLATED_REPLAY: Duration = Duration::from_secs(60);
/// Evaluating many inputs that somebody proposed.
pub const PROPOSED_INPUTS: Duration = Duration::from_secs(60);
/// Evaluating one of them, where all together did not end well.
pub const PROPOSED_INPUT: Duration = Duration::from_secs(10);
