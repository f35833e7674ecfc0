//! The answers of models in the last run of a function, from the logs. Logs are history: somebody may have deleted them.

use crate::llm::{Blocks, Label};
use crate::project::Project;
use crate::store::RunId;
use crate::symbol::SymbolName;
use std::path::Path;
use std::time::SystemTime;

/// An answer that proposes a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// Number and role, as `01-prototyper`.
    pub title: String,
    /// The Rust text.
    pub candidate: String,
}

/// The candidates of a run, in the order in which they came.
pub(super) fn of(project: &Project, run: RunId, symbol: &SymbolName) -> Vec<Attempted> {
    let folder = project.workspace.logs().join(run.0.to_string()).join(symbol.as_str());
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut replies: Vec<(SystemTime, String, Attempted)> =
        entries.flatten().filter_map(|entry| read(&entry.path())).collect();
    replies.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    replies.into_iter().map(|(_, _, attempted)| attempted).collect()
}

fn read(path: &Path) -> Option<(SystemTime, String, Attempted)> {
    let title = path.file_name()?.to_str()?.strip_suffix(".reply.md")?.to_owned();
    let written = path.metadata().ok()?.modified().ok()?;
    let text = std::fs::read_to_string(path).ok()?;
    let candidate = Blocks::parse(&text, &[Label::Implementation]).ok()?.implementation?;
    Some((written, title.clone(), Attempted { title, candidate }))
}
