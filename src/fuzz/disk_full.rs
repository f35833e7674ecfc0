//! Detects builds and runs that failed because the disk is full: neither the port nor a driver is at fault, and no model
//! can repair it.

use crate::error::{Error, ErrorKind, Result};
use crate::platform::free_space::free;
use crate::platform::process::Output;
use std::path::Path;

/// The C library's text of `ENOSPC`, which compilers, linkers and cargo print.
const FULL: &str = "No space left on device";

/// No build of a crate with its harnesses succeeds with less free space (bytes). Linkers do not always report
/// it: one that maps its output is killed by a signal.
const LEAST: u64 = 16 << 20;

/// `Err` if a build that wrote into `dir` failed because the disk is full. `said` is the output of compilers
/// and cargo, where possible without their quotes from the port.
pub(super) fn check(output: &Output, said: &str, dir: &Path) -> Result<()> {
    match has_failed_for_it(output, said, dir) {
        true => Err(full(dir, "or set CARGO_TARGET_DIR to a directory on another disk")),
        false => Ok(()),
    }
}

/// The same for a build in the repository's own folder.
///
/// # Errors
/// `Io` if the disk is full.
pub fn check_own(output: &Output, said: &str, dir: &Path) -> Result<()> {
    match has_failed_for_it(output, said, dir) {
        true => Err(full(dir, AGAIN)),
        false => Ok(()),
    }
}

/// Fails if next to nothing is left for the files that programs write in `dir`: libFuzzer does not say when it cannot
/// write one, so that inputs would be lost in silence.
///
/// # Errors
/// `Io` if the disk is full.
pub fn is_left(dir: &Path) -> Result<()> {
    match is_low(dir) {
        true => Err(full(dir, AGAIN)),
        false => Ok(()),
    }
}

const AGAIN: &str = "and run it again";

fn has_failed_for_it(output: &Output, said: &str, dir: &Path) -> bool {
    !output.exit.success() && (said.contains(FULL) || is_low(dir))
}

fn is_low(dir: &Path) -> bool {
    free(dir).is_some_and(|free| free < LEAST)
}

fn full(dir: &Path, mend: &str) -> Error {
    let free = free(dir).map_or_else(String::new, |free| format!(" ({} MiB are free)", free >> 20));
    let text = format!("not enough disk space in {}{free}", dir.display());
    let help = format!("free disk space (`df -h {}` shows it), {mend}", dir.display());
    Error::new(ErrorKind::Io, text).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::process::Exit;

    fn output(exit: Exit) -> Output {
        Output { exit, stdout: vec![], stderr: vec![], report: vec![], elapsed: std::time::Duration::ZERO }
    }

    #[test]
    fn only_a_failed_build_that_says_so_is_one_without_room() {
        let dir = std::env::temp_dir();
        let full = format!("error: failed to write x: {FULL} (os error 28)");
        let error = check(&output(Exit::Code(101)), &full, &dir).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.help_text().unwrap().contains("CARGO_TARGET_DIR"), "{error}");
        check(&output(Exit::Code(0)), &full, &dir).unwrap();
        check(&output(Exit::Code(101)), "error: linking with `cc` failed", &dir).unwrap();
        check(&output(Exit::Code(101)), "", Path::new("/no/such/directory")).unwrap();
    }
}
