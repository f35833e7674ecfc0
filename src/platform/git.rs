//! What git says of a repository. The hook has git of its own (`evidence::hook_script`), because a failure matters there.

use crate::error::{ErrorKind, Result};
use crate::platform::process::{Interrupt, Job};
use std::path::Path;

/// What `git` prints; nothing outside of a repository, where git is not installed, and where it fails.
///
/// # Errors
/// Ctrl-C.
pub fn asked(root: &Path, args: &[&str], interrupt: &Interrupt) -> Result<Option<String>> {
    match Job::new("git").args(args).dir(root).run(interrupt) {
        Ok(output) if output.exit.success() => Ok(Some(output.stdout_text().to_string())),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        Ok(_) | Err(_) => Ok(None),
    }
}
