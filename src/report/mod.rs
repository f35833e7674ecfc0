//! The only code that prints. Reporters show progress while the tool works; `screen` writes results; `tables`
//! formats them and prints nothing.

mod bars;
pub mod ci;
mod diagnostic;
mod json_events;
pub mod page;
mod plot;
mod printable;
mod table;
mod text;
mod screen;
mod shorten;
mod progress;
mod testgen;

pub use diagnostic::{Marked, diagnostic};
pub use json_events::{FORMAT_VERSION, Json, error_json, finding_json};
pub use plot::plot;
pub use printable::printable;
pub use progress::{Terminal, Verbosity};
pub use screen::{Screen, ask_yes_no, choose_color};
pub use shorten::cell;
pub use table::Table;
pub use testgen::one_line;
pub use text::{Values, c_fault, checks, error, finding};

use std::io::ErrorKind::BrokenPipe;

/// Ends the process quietly when the reader has closed the pipe, as `head` does. Other output errors are ignored,
/// because there is no stream left to report them.
fn settle(result: std::io::Result<()>) {
    if result.is_err_and(|error| error.kind() == BrokenPipe) {
        // The database and the tree are crash-safe, and the kernel releases the lock.
        std::process::exit(0);
    }
}
