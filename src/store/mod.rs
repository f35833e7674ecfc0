//! The database `.implfuzz/state.db`: the analysis of the C library, symbols, the last verdicts, runs, the
//! steps of ports, attempts, model calls, findings, lessons, generated tests.
//!
//! The only module with SQL. Callers see typed rows. A row refers to its symbol by key, and the symbol must
//! already be saved ([`Store::save_symbols`]).

pub mod lesson;
pub mod stats;
mod analysis;
mod calls;
mod ends;
mod findings;
mod measures;
mod memory;
mod migrate;
mod runs;
mod steps;
mod symbols;
mod table;
mod testgen;
mod totals;
mod verdicts;

pub use analysis::{AnalysisKind, Kept};
pub use calls::{Attempt, ModelCall, PaidCall};
pub use ends::LastEnd;
pub use findings::{CFaultNote, FindingId, FindingRow, NewFinding, Side};
pub use measures::Measure;
pub use memory::{MemoryId, MemoryRow};
pub use runs::{NewRun, Run, RunId, RunOutcome};
pub use steps::{NewStep, Phase, StepId, StepRow};
pub use symbols::SymbolRow;
pub use testgen::{BestConfig, ConfigRow, EvolutionRow, GLOBAL};
pub use totals::{Totals, median};
pub use verdicts::LastVerdict;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::free_space;
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a writer waits for another writer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open database. Each thread needs its own; several may be open at once, and writes wait for each other.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the database, creates it if it is missing, and migrates it to this version. Marks runs whose
    /// process is gone as interrupted.
    ///
    /// Errors (`Store`): not a database or damaged, written by a newer version, not writable.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(dir) = path.parent() {
            fs_err::create_dir_all(dir)?;
        }
        let connection = Connection::open(path).map_err(|error| explain(path, &error))?;
        let mut store = Self { connection, path: path.to_owned() };
        store.run(|connection| {
            connection.busy_timeout(PATIENCE)?;
            write_ahead(connection)?;
            // With a write-ahead log, a power cut can lose at most the last commits, and corrupts nothing.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "foreign_keys", true)
        })?;
        migrate::migrate(&mut store)?;
        store.mark_interrupted()?;
        Ok(store)
    }

    /// Runs SQL and explains its errors.
    fn run<T>(&mut self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&mut self.connection).map_err(|error| explain(&self.path, &error))
    }

    /// Like [`Store::run`], for reading.
    fn query<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| explain(&self.path, &error))
    }
}

/// Turns on the write-ahead log. `SQLite` does not wait if another connection is doing the same, so this
/// function does.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tries < 500 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

/// The present time in whole milliseconds, so that reading returns the value that was written.
pub(crate) fn now() -> Timestamp {
    let millis = Timestamp::now().as_millisecond();
    Timestamp::from_millisecond(millis).expect("a moment stays in range without its microseconds")
}

/// What SQLite itself writes at a time, bytes, with room for the files beside the database.
const LEAST: u64 = 1 << 20;

/// Whether the disk of the database is full. SQLite tells a full disk as another failure where it cannot enlarge a file
/// that it has mapped.
fn is_full(database: &Path) -> bool {
    database.parent().and_then(free_space::free).is_some_and(|free| free < LEAST)
}

fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    let file = path.display();
    let new = |text: String| Error::new(ErrorKind::Store, text);
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => new(format!(
            "the database {file} is damaged: {error}"
        ))
        .help(format!("mv {file} {file}.damaged; rm -f {file}-wal {file}-shm; cargo implfuzz verify --all")),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            new(format!("another process keeps the database {file} locked: {error}"))
                .help("wait until it ends")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            new(format!("the database {file} cannot be opened for writing: {error}"))
                .help(format!("chmod u+w {file}"))
        }
        code if code == Some(ErrorCode::DiskFull) || is_full(path) => {
            new(format!("the disk is full: {file} cannot be written"))
                .help(format!("free disk space (`df -h {file}` shows it), and run it again"))
        }
        _ => new(format!("the database {file} failed: {error}")),
    }
}

#[cfg(test)]
mod tests;
