//! Runs programs that have a driver in them: each in a folder of its own, which is removed behind it, without the
//! environment, with limits and in a sandbox. Callers add the files that a program may use.

use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::disk_full;
use crate::platform::process::{Interrupt, Job, Kind, Limits, Output, Sandbox};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Bytes of one file that a driver may write, and of all those in its working directory.
const LARGEST_FILE: u64 = 64 << 20;
const LARGEST_FOLDER: u64 = 1 << 30;

/// Bytes of all that the program of a judge maps: the arena and Rust's heap reserve a gigabyte each, and the rest is for
/// what a driver maps by itself.
const ADDRESSES: u64 = 4 << 30;

/// The limits of a program that judges in place.
pub(super) fn in_place() -> Limits {
    Limits { addresses: Some(ADDRESSES), ..sanitised() }
}

/// The limits of a program with libFuzzer, which has a limit of memory by itself.
pub(super) fn sanitised() -> Limits {
    Limits { file_size: Some(LARGEST_FILE), no_core: true, ..Limits::default() }
}

/// Removes what runs left that were killed. Nothing in `dir` runs.
///
/// # Errors
/// `Io` if something cannot be removed.
pub(super) fn clear(dir: &Path) -> Result<()> {
    let runs = runs(dir);
    if runs.exists() {
        fs::remove_dir_all(runs)?;
    }
    Ok(())
}

/// Runs a program of a driver, as `with` says.
///
/// # Errors
/// `C` if it fills its folder, `Io` if the disk is full, `Environment` if it cannot be started, and Ctrl-C.
pub(super) fn run(program: &Path, with: impl FnOnce(Job) -> Job, interrupt: &Interrupt) -> Result<Output> {
    let dir = program.parent().unwrap_or(program);
    let runs = runs(dir);
    fs::create_dir_all(&runs)?;
    let failed = |error: std::io::Error| {
        Error::io(format!("failed to make a folder in `{}`: {error}", runs.display()), &error)
    };
    let own = tempfile::tempdir_in(&runs).map_err(failed)?;
    // libFuzzer has its own files in TMPDIR.
    let sandbox = Sandbox::new(Kind::Driver).read([program]).write([own.path()]);
    let job = Job::new(program).clean_env().env("TMPDIR", own.path()).sandbox(sandbox);
    let ran = with(job.room(own.path(), LARGEST_FOLDER)).run(interrupt);
    // A full disk says more than what comes of it.
    if !matches!(&ran, Err(error) if error.kind() == ErrorKind::C) {
        disk_full::is_left(dir)?;
    }
    ran
}

fn runs(dir: &Path) -> PathBuf {
    dir.join("runs")
}
