//! Runs of the tool: when they began, and how they ended.

use super::table::Table;
use super::{Store, now};
use crate::error::Result;
use jiff::Timestamp;
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

const RUNS: Table = Table { name: "runs", ..Table::PLAIN };

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub i64);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RunOutcome {
    /// Everything requested was done.
    Done,
    /// Some symbols were left unchanged.
    Incomplete,
    Refuted,
    /// A budget was used up.
    Budget,
    /// The tool or its environment failed.
    Failed,
    /// Ctrl-C, or the process was killed.
    Interrupted,
}

impl RunOutcome {
    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A run that begins.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewRun {
    /// The command's verb and its arguments: `port --all`.
    pub command: String,
    pub workflow: Option<String>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub tool_version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub command: String,
    pub workflow: Option<String>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub tool_version: String,
    pub started: Timestamp,
    pub finished: Option<Timestamp>,
    /// `None` while it runs.
    pub outcome: Option<RunOutcome>,
}

impl Store {
    /// Stores the start of a run in this process.
    pub fn start_run(&mut self, run: &NewRun) -> Result<RunId> {
        /// The columns of a run that has just begun.
        #[derive(Serialize)]
        struct Begun<'a> {
            #[serde(flatten)]
            run: &'a NewRun,
            process: u32,
            process_start: String,
            started: Timestamp,
        }
        let process = std::process::id();
        let process_start = process_start(process).unwrap_or_default();
        let begun = Begun { run, process, process_start, started: now() };
        self.run(|connection| RUNS.insert(connection, &begun).map(RunId))
    }

    /// Stores the end of a run; the first outcome stays.
    pub fn finish_run(&mut self, run: RunId, outcome: RunOutcome) -> Result<()> {
        self.run(|connection| {
            connection.execute(
                "UPDATE runs SET finished = ?2, outcome = ?3 WHERE id = ?1 AND outcome IS NULL",
                params![run.0, now().to_string(), outcome.word()],
            )?;
            Ok(())
        })
    }

    /// The runs, newest first.
    pub fn runs(&self) -> Result<Vec<Run>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT * FROM runs ORDER BY id DESC")?;
            select.query_map([], |row| RUNS.read(row))?.collect()
        })
    }

    /// Marks the runs whose process is gone as interrupted.
    pub(super) fn mark_interrupted(&mut self) -> Result<()> {
        let unfinished: Vec<(i64, u32, String)> = self.query(|connection| {
            let sql = "SELECT id, process, process_start FROM runs WHERE outcome IS NULL";
            let row = |row: &Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            connection.prepare(sql)?.query_map([], row)?.collect()
        })?;
        for (id, pid, start) in unfinished {
            if process_start(pid).is_none_or(|now| now != start) {
                self.finish_run(RunId(id), RunOutcome::Interrupted)?;
            }
        }
        Ok(())
    }
}

/// The start time of a process, in the kernel's ticks since boot. Together with the process id it identifies
/// a process uniquely. `None` if there is no such process.
fn process_start(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // It is field 22. The name in field 2 may contain spaces and parentheses, so count from its end.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}
